"""Where Ray comes from: the cluster at RAY_ADDRESS, or one of our own."""

import os
import subprocess
import sys

_CPUS = """
import ray
from gsl_scale.config import Run
from gsl_scale.engine import engine
with engine(Run(workers=1, threads=1)):
    print(int(ray.cluster_resources()["CPU"]))
"""


def cpus(**environ: str) -> int:
    """Of the Ray that a process with a worker gets."""
    found = subprocess.run(
        [sys.executable, "-c", _CPUS],
        env={**{k: v for k, v in os.environ.items() if k != "RAY_ADDRESS"}, **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(found.stdout.split()[-1])


def test_another_ray_on_the_machine_is_left_alone(ray_here):
    assert cpus() == 1


def test_the_cluster_that_is_named_is_joined(ray_here):
    assert cpus(RAY_ADDRESS=ray_here.address) == 4
