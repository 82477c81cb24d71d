"""Rows averaged over a graph before K-means: SSGC (Zhu and Koniusz, 2021), with usual settings."""

import scipy.sparse as sp
import torch
from torch import Tensor

from gsl_scale.graph.unit import unit_rows
from gsl_scale.graph.weighted import Graph, with_self_loops

_HOPS, _OWN = 16, 0.05


@torch.no_grad()
def smoothed(rows: Tensor, graph: sp.csr_matrix, hops: int = _HOPS, own: float = _OWN) -> Tensor:
    """The mean over hops 1 .. K of (1 - own) T^k X + own X, of rows of length 1 and again of length
    1: K-means then tells directions apart, as the contrastive loss does, and not sizes."""
    transition = Graph.from_scipy(with_self_loops(graph)).normalised()
    rows = unit_rows(rows)
    power, total = rows, torch.zeros_like(rows)
    for _ in range(hops):
        power = transition @ power
        total += power
    return unit_rows(total.mul_((1.0 - own) / hops).add_(rows, alpha=own))
