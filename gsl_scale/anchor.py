"""The anchor graph: the slow-moving target that the learned graph is compared with.

It starts as the given graph (refinement) or as the identity (inference) and takes in a little of
the learned graph at every update: A_a <- tau A_a + (1 - tau) S (Eq. 13). Each row keeps at most
`budget` edges, the heaviest; without a bound it would grow with every update.
"""

import numpy as np
import scipy.sparse as sp

from gsl_scale.graph.weighted import Graph, with_self_loops


def first_anchor(given: sp.csr_matrix | None, num_nodes: int) -> Graph:
    if given is None:
        return Graph.from_scipy(sp.eye(num_nodes, dtype=np.float32, format="csr"))
    return Graph.from_scipy(with_self_loops(given)).normalised()


def blend(anchor: Graph, learned: Graph, tau: float, budget: int) -> Graph:
    mixed = (anchor.to_scipy() * tau + learned.to_scipy() * (1.0 - tau)).tocsr()
    return Graph.from_scipy(heaviest(mixed, budget))


def heaviest(matrix: sp.csr_matrix, budget: int) -> sp.csr_matrix:
    """The `budget` largest entries of each row, none of which is negative; of equal ones the first
    column wins."""
    counts = np.diff(matrix.indptr)
    if counts.max(initial=0) <= budget:
        return matrix
    matrix.sort_indices()
    rows = np.repeat(np.arange(matrix.shape[0]), counts)
    full = np.flatnonzero((counts > budget)[rows])
    # Floats that are not negative are in the order of their bits, so row and weight make one key,
    # which a stable sort goes through several times faster than through three.
    bits = matrix.data[full].astype(np.float32).view(np.int32).astype(np.int64)
    order = np.argsort((rows[full] << 32) - bits, kind="stable")
    many = counts[counts > budget]
    rank = np.arange(len(full)) - np.repeat(np.cumsum(many) - many, many)
    kept = np.ones(len(rows), bool)
    kept[full[order[rank >= budget]]] = False
    indptr = np.append(0, np.cumsum(kept))[matrix.indptr]
    return sp.csr_matrix((matrix.data[kept], matrix.indices[kept], indptr), shape=matrix.shape)
