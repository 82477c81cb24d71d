"""Small stores, written for real."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from gsl_scale.store import Artifact, Draft, EdgeShuffle, ShardPlan
from gsl_scale.store.nodes import write_columns, write_rows


def write_store(folder: Path, num_nodes: int = 50, num_shards: int = 3, seed: int = 0) -> Artifact:
    rng = np.random.default_rng(seed)
    rows = rng.random((num_nodes, 4), np.float32)
    with Draft(folder, "data", ShardPlan(num_nodes, num_shards), {"seed": seed}) as draft:
        draft.add_table(
            "features", write_rows(draft, "features", [rows[:7], rows[7:]], 4, "float32")
        )
        shuffle = EdgeShuffle(draft, mirror=True)
        src, dst = rng.integers(0, num_nodes, (2, num_nodes * 4))
        shuffle.append(src, dst, rng.random(len(src), np.float32))
        draft.add_table("edges", shuffle.finish())
        ids = pa.table({"id": [f"node {i}" for i in range(num_nodes)]})
        draft.add_table("ids", write_columns(draft, "ids", [ids]))
        draft.publish()
    return Artifact.open(folder)


@pytest.fixture
def store(tmp_path: Path) -> Artifact:
    return write_store(tmp_path / "store")


@pytest.fixture
def make_store() -> Callable[..., Artifact]:
    return write_store
