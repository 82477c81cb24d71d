"""A disk that fills up during a write: by a file size limit, and by a small real file system."""

import resource
import shutil
import subprocess

import numpy as np
import pytest

from gsl_scale.config_file import make_config
from gsl_scale.errors import DiskFullError
from gsl_scale.ingest.write import write_data
from tests.faults.conftest import version_of, write_version


def write_limited(folder, limit, answers):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        write_version(folder, 2)
        answers.put("written")
    except DiskFullError as error:
        answers.put(str(error))


# Bytes at which the write breaks off: in the features, in a spill file, in an edge part.
@pytest.mark.parametrize("limit", [5_000, 40_000, 100])
def test_a_file_that_may_not_grow(processes, tmp_path, limit):
    folder = tmp_path / "store"
    write_version(folder, 1)
    answers = processes.Queue()
    writer = processes.Process(target=write_limited, args=(folder, limit, answers))
    writer.start()
    answer = answers.get(timeout=60)
    writer.join()
    assert "No room left" in answer
    assert "Free some space" in answer
    assert version_of(folder) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_a_small_file_system(tmp_path):
    mount = tmp_path / "small"
    mount.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=500k", "tmpfs", str(mount)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip(f"cannot mount a tmpfs: {made.stderr.strip()}")
    try:
        data = {"source": "tables", "features": str(tmp_path / "x.npy")}
        np.save(tmp_path / "x.npy", np.ones((1000, 100), np.float32))
        good = make_config({"data": data | {"dtype": "float16"}})
        write_data(good, mount / "store")
        before = (mount / "store/manifest.json").read_bytes()
        with pytest.raises(DiskFullError, match="No room left"):
            write_data(make_config({"data": data}), mount / "store")
        assert (mount / "store/manifest.json").read_bytes() == before
        assert [path.name for path in mount.iterdir()] == ["store"]
        assert shutil.disk_usage(mount).free > 200_000
    finally:
        subprocess.run(["umount", str(mount)], check=True)
