"""A pattern with weights, and its normalised form with self-loops.

Self-loop rule: an edge list never holds self-loops (ingest drops them, export writes none). Whoever
encodes a graph adds one of weight 1 to every node and then normalises: D^-1/2 (W + I) D^-1/2. This
is what GCN layers of DGL and PyG do with our export, too.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from gsl_scale.graph.ops import edge_dot, pick, spmm
from gsl_scale.graph.pattern import Pattern


@dataclass(frozen=True)
class Graph:
    """One weight per edge of a pattern."""

    pattern: Pattern
    weights: Tensor

    def __matmul__(self, x: Tensor) -> Tensor:
        return spmm(self.pattern, self.weights, x)

    @property
    def num_edges(self) -> int:
        return self.pattern.num_edges

    def normalised(self) -> "Graph":
        """D^-1/2 W D^-1/2, with gradient; rows without weight stay empty."""
        ones = self.weights.new_ones(self.pattern.shape[1], 1)
        degree = self @ ones
        scale = torch.where(degree > 0, degree, 1.0).rsqrt()
        # Not scale[rows] * scale[columns]: the gradient of such an index is summed in any order,
        # and two runs of the same seed would part.
        both = edge_dot(self.pattern, scale, scale)
        return Graph(self.pattern, self.weights * both)

    def keep(self, kept: Tensor) -> "Graph":
        """Only these edges (a mask), with gradient."""
        pattern, edges = self.pattern.keep(kept)
        return Graph(pattern, pick(self.weights, edges))

    def at(self, rows: Tensor) -> "Graph":
        """Only these rows, in this order, with gradient: `graph.at(rows) @ x` is
        `(graph @ x)[rows]`."""
        pattern, edges = self.pattern.at(rows)
        return Graph(pattern, pick(self.weights, edges))

    def detach(self) -> "Graph":
        return Graph(self.pattern, self.weights.detach())

    def to_scipy(self) -> sp.csr_matrix:
        pattern = self.pattern
        parts = (self.weights.detach().cpu(), pattern.indices.cpu(), pattern.indptr.cpu())
        return sp.csr_matrix(tuple(part.numpy() for part in parts), shape=pattern.shape)

    @classmethod
    def from_scipy(cls, matrix: sp.csr_matrix) -> "Graph":
        matrix.sort_indices()
        indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
        pattern = Pattern.from_csr(indptr, indices, matrix.shape[1])
        return cls(pattern, torch.from_numpy(matrix.data.astype(np.float32)))


def with_self_loops(matrix: sp.csr_matrix) -> sp.csr_matrix:
    """W + I, whatever W has on its diagonal."""
    loops = sp.eye(matrix.shape[0], dtype=np.float32, format="csr")
    bare = matrix - sp.diags_array(matrix.diagonal(), format="csr")
    return sp.csr_matrix(bare + loops)
