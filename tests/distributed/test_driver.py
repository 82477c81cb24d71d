"""The process that began it dies, or runs out of disk; the next one goes on."""

import os
import resource
import signal
import subprocess
import sys
import threading

import pytest

from gsl_scale.errors import DiskFullError
from gsl_scale.pipeline import run_pipeline
from gsl_scale.store import Artifact
from tests.distributed.conftest import Run, settings, trained
from tests.distributed.test_ranks import pids

_RUN = "from pathlib import Path; from tests.distributed.conftest import *; trained(Path({!r}), settings({}, *{!r}))"


def begin(folder, workers, *sets, address=None) -> subprocess.Popen:
    """The same training in a process of its own."""
    environ = os.environ | ({"RAY_ADDRESS": address} if address else {})
    code = _RUN.format(str(folder), workers, sets)
    return subprocess.Popen([sys.executable, "-c", code], env=environ, stderr=subprocess.DEVNULL)


def kill_at(run, process, attempt, step):
    pids(run, attempt, step)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def test_a_killed_process_goes_on_with_the_same_bits(undisturbed, tmp_path):
    run = Run(tmp_path)
    for attempt, step in ((1, 12), (2, 27), (3, 41)):
        kill_at(run, begin(tmp_path, 0), attempt, step)
    trained(tmp_path, settings(0))
    assert [event["step"] for event in run.events("attempt")] == [0, 10, 20, 40]
    one, other = (Artifact.open(r.folder / "graph").manifest.content for r in (run, undisturbed))
    assert one == other


def test_a_killed_driver_of_workers_and_another_number_of_them(undisturbed, ray_here, tmp_path):
    run = Run(tmp_path)
    kill_at(run, begin(tmp_path, 2, address=ray_here.address), 1, 23)
    trained(tmp_path, settings(0))
    assert [event["step"] for event in run.events("attempt")] == [0, 20]
    assert run.is_like(undisturbed)


def test_fresh_starts_over(tmp_path):
    run = Run(tmp_path)
    kill_at(run, begin(tmp_path, 0), 1, 23)
    run_pipeline(settings(0), tmp_path, first="ingest", until="train")
    assert [event["step"] for event in run.events("attempt")] == [0, 0]


def test_a_disk_that_fills_up_during_a_checkpoint(tmp_path):
    """By a limit on the size of files, which only the checkpoint exceeds."""
    config = settings(0, "contrast.hidden=256", "contrast.projection=256")
    run, before = Run(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill():
        pids(run, 1, 23)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, before[1]))

    hand = threading.Thread(target=fill)
    hand.start()
    try:
        with pytest.raises(DiskFullError, match="No room left") as caught:
            trained(tmp_path, config)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        hand.join()
    assert "Nothing was lost" in caught.value.why
    trained(tmp_path, config)
    assert [event["step"] for event in run.events("attempt")][-1] in (20, 30, 40)
