"""Edge tables as matrices in memory. Needs no torch."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from gsl_scale.errors import CorruptError
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.edges import Edges, EdgeTable
from gsl_scale.store.manifest import Part


def edges_matrix(artifact: Artifact, name: str = "edges") -> sp.csr_matrix:
    """An edge table as a CSR matrix.

    Parts are decoded in threads, straight into their place: edges are stored in the order of CSR,
    so nothing has to be sorted, and rows are found by counting.
    """
    table, num_nodes = artifact.edges(name), artifact.manifest.num_nodes
    # What SciPy would choose; given anything else it copies.
    index: Any = np.int32 if max(num_nodes, len(table)) < 2**31 else np.int64
    indptr = np.zeros(num_nodes + 1, index)
    dst, weight = np.empty(len(table), index), np.empty(len(table), np.float32)

    def fill(part: Part, at: int) -> None:
        edges = _whole(table, part)
        dst[at : at + part.rows] = edges.dst
        weight[at : at + part.rows] = edges.weight
        nodes = slice(part.start + 1, part.stop + 1)
        indptr[nodes] = np.bincount(edges.src - part.start, minlength=part.stop - part.start)

    parts = table.table.parts
    starts = np.cumsum([0, *(part.rows for part in parts)])[:-1].tolist()
    with ThreadPoolExecutor(pa.cpu_count()) as pool:
        list(pool.map(fill, parts, starts))
    np.cumsum(indptr, out=indptr)
    matrix: sp.csr_matrix = sp.csr_matrix((weight, dst, indptr), shape=(num_nodes, num_nodes))
    matrix.has_canonical_format = True  # sorted, none twice: spares a look at every edge
    return matrix


def symmetric(matrix: sp.csr_matrix) -> sp.csr_matrix:
    """(W + W^T) / 2: how a graph of one-sided edges, such as candidates, becomes undirected."""
    both: sp.csr_matrix = ((matrix + matrix.T) * np.float32(0.5)).tocsr()
    return both


def _whole(table: EdgeTable, part: Part) -> Edges:
    edges = table.read(part.start, part.stop)
    if len(edges.src) != part.rows:
        raise CorruptError(
            f"{table.folder / part.path} holds {len(edges.src):,} edges of nodes {part.start} to "
            f"{part.stop - 1}, its manifest says {part.rows:,}.",
            next_step="Write the artifact again.",
        )
    return edges
