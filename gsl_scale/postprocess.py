"""From embeddings and candidates to the learned graph: weights, symmetry, self-loops.

Sparsification is the choice of candidates (Eq. 6). With it fixed, ReLU and symmetrisation (Eq. 7)
come to one factor per edge: an edge found from both of its ends counts fully, one found from one
end counts half.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor

from gsl_scale.config import Export
from gsl_scale.graph.ops import edge_dot
from gsl_scale.graph.pattern import Pattern
from gsl_scale.graph.unit import unit_rows
from gsl_scale.graph.weighted import Graph


@dataclass(frozen=True)
class Sketch:
    """Where edges may be, self-loops included, and how much each counts: 1, or 1/2 if one-sided."""

    pattern: Pattern
    share: Tensor
    is_loop: Tensor

    @property
    def graph(self) -> Graph:
        """Shares as weights."""
        return Graph(self.pattern, self.share)

    @classmethod
    def from_candidates(
        cls, candidates: npt.NDArray[np.int64], given: sp.csr_matrix | None = None
    ) -> "Sketch":
        """Union of the candidates (n, k) with their mirror image, and with given edges if any."""
        num_nodes, k = candidates.shape
        indptr = np.arange(0, num_nodes * k + 1, k)
        ones = np.ones(num_nodes * k, np.float32)
        found = sp.csr_matrix((ones, candidates.ravel(), indptr), (num_nodes, num_nodes))
        if given is not None:
            found = found + given.astype(bool).astype(np.float32)
            found.data[:] = 1.0
        found = (found - sp.diags(found.diagonal())).tocsr()
        found.eliminate_zeros()
        union = ((found + found.T) * 0.5 + sp.eye(num_nodes, dtype=np.float32)).tocsr()
        graph = Graph.from_scipy(union)
        return cls(graph.pattern, graph.weights, graph.pattern.rows == graph.pattern.indices)


def learned_graph(embeddings: Tensor, sketch: Sketch) -> Graph:
    """S before normalisation, with self-loops of weight 1; gradient flows to the embeddings."""
    unit = unit_rows(embeddings)
    similarity = edge_dot(sketch.pattern, unit, unit)
    return Graph(sketch.pattern, weights_of(similarity, sketch.share, sketch.is_loop))


def reweighted(graph: Graph, given: sp.csr_matrix | None, settings: Export) -> Graph:
    """S as it is written (`export.py`): given edges as learned or with weight 1, of new ones a
    share; self-loops as they are."""
    learned = graph.to_scipy()
    there = sp.eye(learned.shape[0], dtype=np.float32, format="csr")
    if given is not None:
        there = there + given.astype(bool).astype(np.float32)
        there.data[:] = 1.0
    old = learned.multiply(there)
    new = (learned - old) * np.float32(settings.share_of_new)
    return Graph.from_scipy(sp.csr_matrix(new + (there if settings.given == "kept" else old)))


def weights_of(similarity: Tensor, share: Tensor, is_loop: Tensor) -> Tensor:
    """Edges with a similarity below 0 weigh nothing; rounding makes none heavier than 1."""
    weights = torch.relu(similarity).clamp(max=1.0) * share
    return torch.where(is_loop, 1.0, weights)
