"""`load_graph(...).to_scipy()` against pyarrow and SciPy on the same files."""

import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy
import scipy.sparse as sp

from gsl_scale.bench.store import nodes_for, side_by_side, write_store
from gsl_scale.load import load_graph


def measure(num_edges: int, repeats: int) -> dict[str, Any]:
    """Three ways to the same matrix, turn and turn about. Only ours verifies checksums."""
    num_nodes = nodes_for(num_edges)
    with tempfile.TemporaryDirectory(prefix="gsl-bench-") as scratch:
        folder = Path(scratch) / "store"
        write_store(folder, num_nodes, num_edges)

        def ours() -> sp.csr_array:
            return load_graph(folder).to_scipy()

        def plain() -> sp.csr_array:
            src, dst, weight = _columns(folder)
            return sp.csr_array((weight, (src, dst)), shape=(num_nodes, num_nodes))

        def counted() -> sp.csr_array:
            """By someone who knows that the edges are sorted."""
            src, dst, weight = _columns(folder)
            indptr = np.zeros(num_nodes + 1, np.int64)
            np.cumsum(np.bincount(src, minlength=num_nodes), out=indptr[1:])
            return sp.csr_array((weight, dst, indptr), shape=(num_nodes, num_nodes))

        rows = ours().nnz
        for other in (plain(), counted()):
            assert all(
                np.array_equal(getattr(ours(), name), getattr(other, name))
                for name in ("indptr", "indices", "data")
            )
        times = side_by_side([ours, plain, counted], repeats)
        names = ("load_graph", "pyarrow + scipy", "pyarrow + scipy, rows counted")
        return {
            "edges": rows,
            "nodes": num_nodes,
            "repeats": repeats,
            "pyarrow": pa.__version__,
            "scipy": scipy.__version__,
            "seconds": {
                name: {"median": statistics.median(taken), "least": min(taken), "most": max(taken)}
                for name, taken in zip(names, times, strict=True)
            },
            "ratio": {
                name: statistics.median(a / b for a, b in zip(times[0], taken, strict=True))
                for name, taken in zip(names[1:], times[1:], strict=True)
            },
        }


def _columns(folder: Path) -> Any:
    table = pq.read_table(folder / "edges")
    return (table[name].to_numpy() for name in ("src", "dst", "weight"))
