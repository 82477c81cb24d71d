"""Tables of an artifact as matrices in memory."""

import numpy as np
import scipy.sparse as sp

from gsl_scale.store.artifact import Artifact


def edges_matrix(artifact: Artifact) -> sp.csr_matrix:
    """The edge table as a CSR matrix."""
    csr = artifact.edges().csr()
    num_nodes = artifact.manifest.num_nodes
    return sp.csr_matrix((csr.weight, csr.dst, csr.indptr), shape=(num_nodes, num_nodes))


def symmetric(matrix: sp.csr_matrix) -> sp.csr_matrix:
    """(W + W^T) / 2: how a graph of one-sided edges, such as candidates, becomes undirected."""
    both: sp.csr_matrix = ((matrix + matrix.T) * np.float32(0.5)).tocsr()
    return both
