"""The same search on Ray: the same bits, and a killed worker costs its shards only."""

import os
import signal
import threading
import time

import numpy as np
import psutil
import pytest

from gsl_scale.config import Knn, Run
from gsl_scale.errors import GslError
from gsl_scale.knn.gate import RecallError
from gsl_scale.knn.search import search_knn
from gsl_scale.store import Artifact
from tests.knn.data import write_store

WORKERS = Run(workers=2, threads=1, batch=512)


def search(data, out, run, **knn):
    search_knn(data, out, Knn(k=10, **knn), run, config={})
    return Artifact.open(out).edges().read()


def same(one, other):
    return all((a == b).all() for a, b in zip(one, other, strict=True))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(50, 32))
    rows = centres[rng.integers(0, 50, 6000)] + 0.3 * rng.normal(size=(6000, 32))
    return write_store(tmp_path_factory.mktemp("rows"), rows.astype(np.float32), num_shards=6)


@pytest.mark.parametrize("index", ["exact", "ivf"])
@pytest.mark.parametrize("memory", [4.0, 0.2505])  # the index whole, and in two pieces
def test_the_same_bits_as_in_this_process(ray_here, data, tmp_path, index, memory):
    alone = search(data, tmp_path / "alone", Run(batch=700, memory=memory), index=index)
    shared = search(
        data, tmp_path / "shared", WORKERS.model_copy(update={"memory": memory}), index=index
    )
    assert same(alone, shared)
    assert Artifact.open(tmp_path / "shared").manifest.facts["pieces"] == (1 if memory > 1 else 2)


def test_a_killed_worker_costs_its_shards_only(ray_here, data, tmp_path):
    expected = search(data, tmp_path / "alone", Run(), index="exact")
    killed = []

    def kill_one():
        while not killed:
            busy = [p for p in psutil.Process().children(recursive=True) if _runs_a_task(p)]
            if any(tmp_path.glob(".shared.draft-*/sealed/edges-*")) and busy:
                os.kill(busy[0].pid, signal.SIGKILL)
                killed.append(time.time_ns())
            time.sleep(0.002)

    killer = threading.Thread(target=kill_one, daemon=True)
    killer.start()
    found = search(
        data, tmp_path / "shared", WORKERS.model_copy(update={"batch": 16}), index="exact"
    )
    killed.append(0)
    killer.join()
    assert len(killed) == 2, "nobody was killed"
    assert same(found, expected)
    times = [part.stat().st_mtime_ns for part in (tmp_path / "shared/edges").iterdir()]
    assert min(times) < killed[0] < max(times)  # some were kept, some came after


def _runs_a_task(process):
    try:
        return any("ray::_call" in word for word in process.cmdline())
    except psutil.Error:
        return False


def test_an_error_in_a_worker_reaches_the_user_as_it_is(ray_here, tmp_path):
    rows = np.random.default_rng(0).normal(size=(3000, 64)).astype(np.float32)
    data = write_store(tmp_path, rows)
    with pytest.raises(RecallError, match="knn.recall asks for"):
        search(data, tmp_path / "knn", WORKERS, index="IVF32,PQ2x4fs")
    (data.folder / "features/part-00000.npy").unlink()
    with pytest.raises(GslError):
        search(data, tmp_path / "gone", WORKERS, index="exact")
