"""The same curve and the same graph on any number of workers, and after the loss of some."""

import contextlib
import os
import signal
import threading
import time
from pathlib import Path

import psutil
import pytest

from gsl_scale.plan.blocks import messages
from gsl_scale.plan.size import Case
from gsl_scale.store import Artifact
from gsl_scale.train.loop import DivergedError
from tests.distributed.conftest import REFRESH, Run, settings, trained


@pytest.mark.parametrize("workers", [1, 4])  # and 2, after losses, below
def test_the_same_on_any_number_of_workers(workers, undisturbed, ray_here, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a relative folder, as one would give it
    run = trained(Path("run"), settings(workers))
    assert [len(event["pids"]) for event in run.events("attempt")] == [workers]
    assert len(run.losses) == 50
    assert run.is_like(undisturbed)


def test_sampled_blocks_are_the_same_on_any_number_of_workers(ray_here, tmp_path):
    runs = [
        trained(tmp_path / str(workers), settings(workers, "contrast.fanout=[3,2]"))
        for workers in (0, 2)
    ]
    assert runs[1].is_like(runs[0])
    # What is sent is what a plan reckons with; gradients are counted apart.
    planned = messages(Case.of(settings(2, "contrast.fanout=[3,2]")))
    assert runs[1].events("round")[0]["exchanged_bytes"] == sum(planned[:4])


def test_lost_workers_and_a_lost_node(undisturbed, ray_here, tmp_path):
    """One killed, one starved of memory, and a node with two: each costs a few steps."""
    run, done = Run(tmp_path), []

    def disturb():
        try:
            os.kill(pids(run, 1, 13)[1], signal.SIGKILL)
            done.append("killed")
            starve(pids(run, 2, 23)[0])
            done.append("starved")
            rank = pids(run, 3, 33)[0]
            home, processes = node_of(ray_here, rank), psutil.Process(rank).parent().children()
            ray_here.remove_node(home, allow_graceful=False)
            for process in processes:  # go down with it, and do not wait until they notice
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            done.append("node")
        except Exception as error:
            done.append(repr(error))

    hand = threading.Thread(target=disturb)
    hand.start()
    try:
        trained(tmp_path, settings(2, "train.steps=50"))
    finally:
        hand.join()
        ray_here.add_node(num_cpus=2, object_store_memory=80 << 20)
    assert done == ["killed", "starved", "node"]
    begun = [event["step"] for event in run.events("attempt")]
    assert len(begun) == 4 and begun == sorted(begun)
    assert len(run.events("step")) - 50 <= 3 * REFRESH
    assert run.is_like(undisturbed)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "config.yaml", "data", "embeddings", "graph", "knn", "report.html", "tensorboard",
        "train.jsonl",
    ]  # fmt: skip


def test_a_worker_that_stands_still(undisturbed, ray_here, tmp_path):
    """The others wait for it as long as the config says, and all go on from the last checkpoint."""
    run, stopped = Run(tmp_path), []

    def stop():
        stopped.append(pids(run, 1, 13)[1])
        os.kill(stopped[0], signal.SIGSTOP)

    hand = threading.Thread(target=stop)
    hand.start()
    trained(tmp_path, settings(2, "run.timeout=30"))
    hand.join()
    assert [event["step"] for event in run.events("attempt")] == [0, REFRESH]
    assert run.is_like(undisturbed)
    assert not psutil.pid_exists(stopped[0])


def test_a_loss_that_is_no_number_stops_all_workers(ray_here, tmp_path):
    config = settings(2, "train.learning_rate=1e30")
    with pytest.raises(DivergedError, match=r"The loss is nan at step \d+"):
        trained(tmp_path, config)
    run = Run(tmp_path)
    assert len(run.events("attempt")) == 1
    assert not (tmp_path / "embeddings").exists()
    Artifact.open(tmp_path / "knn").verify()


def pids(run: Run, attempt: int, step: int) -> list[int]:
    """The processes of the n-th attempt, once it has come to a step."""
    limit = time.monotonic() + 300  # a busy machine is slow to start ranks
    while time.monotonic() < limit:
        attempts, steps = run.events("attempt"), run.events("step")
        if len(attempts) == attempt and steps and steps[-1]["step"] >= step:
            return attempts[-1]["pids"]
        time.sleep(0.005)
    raise TimeoutError(f"attempt {attempt} did not come to step {step}")


def starve(pid: int) -> None:
    """Not a byte more than it has."""
    process = psutil.Process(pid)
    process.rlimit(psutil.RLIMIT_AS, (process.memory_info().vms,) * 2)


def node_of(cluster, pid: int):
    """The node whose raylet is the parent of a worker."""
    parent = psutil.Process(pid).ppid()
    for node in cluster.list_all_nodes():
        if node.all_processes["raylet"][0].process.pid == parent:
            return node
    raise LookupError(pid)
