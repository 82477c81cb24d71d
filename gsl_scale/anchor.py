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
    """The `budget` largest entries of each row; of equal ones the first column wins."""
    if np.diff(matrix.indptr).max(initial=0) <= budget:
        return matrix
    matrix.sort_indices()
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((matrix.indices, -matrix.data, rows))
    rank = np.arange(len(order)) - matrix.indptr[rows]
    keep = order[rank < budget]
    kept = (matrix.data[keep], (rows[keep], matrix.indices[keep]))
    return sp.csr_matrix(kept, shape=matrix.shape)
