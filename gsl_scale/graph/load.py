"""Tables of an artifact as matrices in memory."""

import numpy as np
import scipy.sparse as sp

from gsl_scale.store.matrix import edges_matrix

__all__ = ["edges_matrix", "symmetric"]


def symmetric(matrix: sp.csr_matrix) -> sp.csr_matrix:
    """(W + W^T) / 2: how a graph of one-sided edges, such as candidates, becomes undirected."""
    both: sp.csr_matrix = ((matrix + matrix.T) * np.float32(0.5)).tocsr()
    return both
