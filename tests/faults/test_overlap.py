"""A retry that overlaps its predecessor: the first attempt is frozen in the middle of a write, the
second takes over and publishes, and then the first wakes up."""

import os
import signal

import numpy as np

from gsl_scale.errors import FencedError
from gsl_scale.store import Draft, EdgeShuffle, ShardPlan
from gsl_scale.store.claim import claim_path
from gsl_scale.store.nodes import write_rows
from tests.faults.conftest import NODES, SHARDS, version_of


def write(folder, version, reached, answers=None):
    """Stops before its last table, until it is woken."""
    try:
        plan = ShardPlan(NODES, SHARDS)
        with Draft(folder, "data", plan, {"version": version}, resume=True) as draft:
            rows = np.full((NODES, 16), version, np.float32)
            draft.add_table("features", write_rows(draft, "features", [rows], 16, "float32"))
            if answers is not None:
                reached.set()
                os.kill(os.getpid(), signal.SIGSTOP)
            shuffle = EdgeShuffle(draft, mirror=True)
            nodes = np.arange(NODES)
            shuffle.append(nodes, (nodes + 1) % NODES, np.full(NODES, version, np.float32))
            draft.add_table("edges", shuffle.finish())
            draft.publish()
        outcome = "published"
    except FencedError as error:
        outcome = str(error)
    if answers is not None:
        answers.put(outcome)


def test_the_one_that_wakes_up_changes_nothing(processes, tmp_path):
    folder, answers, reached = tmp_path / "store", processes.Queue(), processes.Event()
    for version in (5, 5):  # first to an empty place, then in the place of a store
        reached.clear()
        first = processes.Process(target=write, args=(folder, version, reached, answers))
        first.start()
        assert reached.wait(60)
        claim_path(folder).unlink()  # its node is cut off, and its lock with it
        write(folder, version, reached)
        before = (folder / "manifest.json").read_bytes()
        os.kill(first.pid, signal.SIGCONT)
        assert "Another attempt has taken over" in answers.get(timeout=60)
        first.join()
        assert (folder / "manifest.json").read_bytes() == before
        assert version_of(folder) == 5
        assert [path.name for path in tmp_path.iterdir()] == ["store"]
