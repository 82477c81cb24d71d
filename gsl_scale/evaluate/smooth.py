"""Rows averaged over a graph before K-means: SSGC (Zhu and Koniusz, 2021), of centred rows."""

import scipy.sparse as sp
import torch
from torch import Tensor

from gsl_scale.graph.unit import unit_rows
from gsl_scale.graph.weighted import Graph, with_self_loops

_HOPS, _OWN = 32, 0.05


@torch.no_grad()
def smoothed(rows: Tensor, graph: sp.csr_matrix, hops: int = _HOPS, own: float = _OWN) -> Tensor:
    """The mean over hops 1 .. K of (1 - own) T^k X + own X.

    Before and after, rows are seen from their mean and have length 1: K-means then tells directions
    apart, as the contrastive loss does, and not sizes, nor what smoothing has made common to all.
    """
    transition = Graph.from_scipy(with_self_loops(graph)).normalised()
    rows = _directions(rows)
    power, total = rows, torch.zeros_like(rows)
    for _ in range(hops):
        power = transition @ power
        total += power
    return _directions(total.mul_((1.0 - own) / hops).add_(rows, alpha=own))


def _directions(rows: Tensor) -> Tensor:
    return unit_rows(rows - rows.mean(dim=0))
