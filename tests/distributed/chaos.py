"""A training that is disturbed again and again, beside a twin that is not: `make chaos`.

Kills are drawn from a seed: who (a worker, a raylet with a worker on it, or the driver) and at
which step. A driver that ended before its work was done is started again with the same command, as
a person would. Afterwards the curve, the graph, the steps done twice and the files left behind are
checked, and `chaos.json` says what happened.
"""

import argparse
import json
import os
import signal
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import psutil
from ray.cluster_utils import Cluster

from tests.distributed.conftest import REFRESH, Run, trained
from tests.distributed.conftest import settings as small
from tests.distributed.test_driver import begin
from tests.distributed.test_ranks import node_of

STEPS = 400
SETS = (f"train.steps={STEPS}", "data.nodes=2000", "contrast.fanout=[3,2]")
VICTIMS = ("worker", "raylet", "driver")
MEMORY = {"object_store_memory": 80 << 20}
PATIENCE = 300  # seconds without a new step, after which it counts as hanging


@dataclass(frozen=True)
class Kill:
    victim: str
    rank: int
    step: int  # not before this one


@dataclass(frozen=True)
class Loss:
    """What a kill cost."""

    victim: str
    at: int  # the last step that was done
    checkpoint: int  # the last that was complete by then
    resumed: int


def draw(number: int, seed: int) -> list[Kill]:
    rng = np.random.default_rng(seed)
    steps = np.sort(rng.choice(np.arange(1, STEPS), number, replace=False))
    who, ranks = rng.integers(0, len(VICTIMS), number), rng.integers(0, 2, number)
    return [Kill(VICTIMS[w], int(r), int(s)) for w, r, s in zip(who, ranks, steps, strict=True)]


class Disturbed:
    """The run that is disturbed, its cluster and its driver."""

    def __init__(self, folder: Path) -> None:
        self.run = Run(folder)
        self.restarts = 0
        head = {"num_cpus": 1, "include_dashboard": False, **MEMORY}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        for _ in range(2):
            self.cluster.add_node(num_cpus=2, **MEMORY)
        self.driver = self._begin()

    def _begin(self) -> subprocess.Popen:
        return begin(self.run.folder, 2, *SETS, address=self.cluster.address)

    def reach(self, step: int, attempts: int) -> list[int]:
        """Wait for a step of a new attempt; its processes."""
        seen, moved = -1, time.monotonic()
        while True:
            begun, steps = self.run.events("attempt"), self.run.events("step")
            if len(begun) > attempts and steps and steps[-1]["step"] >= step:
                return begun[-1]["pids"]
            if len(begun) + len(steps) != seen:
                seen, moved = len(begun) + len(steps), time.monotonic()
            if time.monotonic() - moved > PATIENCE:
                raise TimeoutError(f"Nothing happened for {PATIENCE} s before step {step}.")
            self.keep_driving()
            time.sleep(0.01)

    def keep_driving(self) -> bool:
        """Whether the driver has finished; one that gave up is started again."""
        code = self.driver.poll()
        if code not in (None, 0):
            self.restarts += 1
            self.driver = self._begin()
        return code == 0

    def kill(self, kill: Kill, pids: list[int]) -> None:
        pid = pids[kill.rank]
        if kill.victim == "worker":
            os.kill(pid, signal.SIGKILL)
        elif kill.victim == "driver":
            self.driver.kill()
            self.driver.wait()
        else:
            node = node_of(self.cluster, pid)
            if node is self.cluster.head_node:  # the cluster itself would be gone
                os.kill(pid, signal.SIGKILL)
                return
            self.cluster.remove_node(node, allow_graceful=False)
            self.cluster.add_node(num_cpus=2, **MEMORY)

    def close(self) -> None:
        self.driver.kill()
        self.driver.wait()
        self.cluster.shutdown()


def disturb(disturbed: Disturbed, kills: list[Kill]) -> list[Loss]:
    """All kills, one after the other, then to the end."""
    losses, run = [], disturbed.run
    for number, kill in enumerate(kills):
        attempts = len(run.events("attempt")) if number else 0
        pids = disturbed.reach(kill.step, attempts)
        disturbed.kill(kill, pids)
        time.sleep(1.0)  # what was on its way is written by now
        # Killed before its first step, an attempt is where it began.
        at = run.events("attempt", "step")[-1]["step"]
        rounds = [event["step"] for event in run.events("round")]
        losses.append((kill.victim, at, max(rounds, default=0)))
        print(f"{number + 1:3d} {kill.victim} killed at step {at}", flush=True)  # noqa: T201
    while not disturbed.keep_driving():
        time.sleep(0.2)
    resumed = [event["step"] for event in run.events("attempt")][1:]
    return [Loss(*loss, step) for loss, step in zip(losses, resumed, strict=True)]


def files(folder: Path) -> set[str]:
    """All but TensorBoard's, of which every attempt has its own."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(path) for path in paths if path.parts[0] != "tensorboard"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/chaos"))
    options = parser.parse_args()
    out = options.out / f"seed-{options.seed}"
    if out.exists():
        parser.error(f"{out} exists: remove it, or choose another --out.")
    began = time.monotonic()
    twin = trained(out / "twin", small(2, *SETS))
    disturbed = Disturbed(out / "disturbed")
    run = disturbed.run
    try:
        losses = disturb(disturbed, draw(options.kills, options.seed))
        left = [pid for event in run.events("attempt") for pid in event["pids"]]
        alive = [pid for pid in left if psutil.pid_exists(pid)]
    finally:
        disturbed.close()
    twice = len(run.events("step")) - STEPS
    result = {
        "kills": len(losses),
        "of": {victim: sum(loss.victim == victim for loss in losses) for victim in VICTIMS},
        "like_the_twin": run.is_like(twin),
        "largest_difference": {
            "loss": float(np.abs(np.divide(run.losses, twin.losses) - 1).max()),
            "weight": float(abs(run.graph - twin.graph).max()),
        },
        "steps_done_twice": twice,
        "steps_between_checkpoints": REFRESH,
        "most_lost_at_once": max(loss.at - loss.resumed for loss in losses),
        "checkpoints_lost": sum(loss.resumed < loss.checkpoint for loss in losses),
        "drivers_started_again": disturbed.restarts,
        "orphan_files": sorted(files(run.folder) ^ files(twin.folder)),
        "processes_left": alive,
        "minutes": round((time.monotonic() - began) / 60, 1),
        "losses": [asdict(loss) for loss in losses],
    }
    (out / "chaos.json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps({k: v for k, v in result.items() if k != "losses"}, indent=1))  # noqa: T201
    assert result["like_the_twin"]
    assert twice == sum(loss.at - loss.resumed for loss in losses)
    assert result["most_lost_at_once"] <= REFRESH
    assert not result["checkpoints_lost"] and not result["orphan_files"] and not alive


if __name__ == "__main__":
    main()
