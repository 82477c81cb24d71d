"""The edge store against pyarrow's own default file of the same table."""

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gsl_scale.config_data import SyntheticData
from gsl_scale.ingest.synthetic import open_synthetic
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import Draft
from gsl_scale.store.edges import EdgeShuffle
from gsl_scale.store.shards import ShardPlan

_NODES_PER_EDGE = 169_343 / 3_400_000  # the arxiv-sized learned graph of k = 20


def measure(num_edges: int, repeats: int) -> dict[str, Any]:
    """Write one graph both ways, then read it both ways, turn and turn about."""
    num_nodes = nodes_for(num_edges)
    with tempfile.TemporaryDirectory(prefix="gsl-bench-") as scratch:
        folder, default = Path(scratch) / "store", Path(scratch) / "default.parquet"
        began = time.perf_counter()
        write_store(folder, num_nodes, num_edges)
        made = time.perf_counter() - began
        table = Artifact.open(folder).edges()
        edges = table.read()
        plain = pa.table(edges._asdict())
        pq.write_table(plain, default)

        def read_default() -> None:
            read = pq.read_table(default)
            for name in read.column_names:
                read[name].to_numpy()

        ours, theirs = side_by_side([lambda: table.read(), read_default], repeats)
        return {
            "edges": len(table),
            "nodes": num_nodes,
            "repeats": repeats,
            "pyarrow": pa.__version__,
            "files": {
                "edge store": {
                    "bytes_per_edge": table.table.bytes / len(table),
                    "read": statistics.median(ours),
                },
                "pyarrow default": {
                    "bytes_per_edge": default.stat().st_size / len(table),
                    "read": statistics.median(theirs),
                },
            },
            "shuffle_sort_write": made,
            "read_ratio": statistics.median(a / b for a, b in zip(ours, theirs, strict=True)),
        }


def nodes_for(num_edges: int) -> int:
    return max(1000, int(num_edges * _NODES_PER_EDGE))


def write_store(folder: Path, num_nodes: int, num_edges: int) -> None:
    """Random weights: the hardest to compress. Both directions of an edge are one draw."""
    data = SyntheticData(source="synthetic", nodes=num_nodes, degree=num_edges / num_nodes / 2)
    source = open_synthetic(data)
    assert source.edges is not None
    rng = np.random.default_rng(0)
    with Draft(folder, "edges", ShardPlan.choose(num_nodes)) as draft:
        shuffle = EdgeShuffle(draft, mirror=True)
        for block in source.edges():
            shuffle.append(block.src, block.dst, rng.random(len(block.src), np.float32))
        draft.add_table("edges", shuffle.finish())
        draft.publish()


def side_by_side(calls: Sequence[Callable[[], object]], repeats: int) -> list[list[float]]:
    """Seconds of each call, taken in turns."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats + 1):
        for call, taken in zip(calls, times, strict=True):
            began = time.perf_counter()
            call()
            taken.append(time.perf_counter() - began)
    return [taken[1:] for taken in times]  # the first round warms the page cache
