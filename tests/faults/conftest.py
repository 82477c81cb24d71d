"""Real processes that write stores and are killed, starved of disk, or in each other's way."""

import multiprocessing
from pathlib import Path

import numpy as np
import pytest

from gsl_scale.store import Artifact, Draft, EdgeShuffle, ShardPlan
from gsl_scale.store.nodes import write_rows

NODES, SHARDS = 4000, 8


def write_version(folder: Path, version: int) -> None:
    """A store in which every number says which version it belongs to."""
    rng = np.random.default_rng(version)
    with Draft(folder, "data", ShardPlan(NODES, SHARDS), {"version": version}) as draft:
        rows = np.full((NODES, 16), version, np.float32)
        draft.add_table("features", write_rows(draft, "features", [rows], 16, "float32"))
        shuffle = EdgeShuffle(draft, mirror=True)
        src, dst = rng.integers(0, NODES, (2, 4 * NODES))
        shuffle.append(src, dst, np.full(len(src), version, np.float32))
        draft.add_table("edges", shuffle.finish())
        draft.publish()


def version_of(folder: Path) -> int:
    """The one version a whole store holds."""
    store = Artifact.open(folder)
    store.verify()
    version = store.manifest.config["version"]
    assert (store.nodes().read() == version).all()
    assert (store.edges().read().weight == version).all()
    return int(version)


@pytest.fixture(scope="session")
def processes():
    """New processes that have our imports already, and share no state with this one."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["gsl_scale.store", "gsl_scale.ingest.write", "tests.faults.conftest"]
    )
    return context
