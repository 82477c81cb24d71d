"""What needs no learning: the graph there is, diffused. Does learning pay?

*GDC* (Klicpera et al., 2019), with usual settings, not tuned: every node joined to the 64 it
reaches best by a diffusion, personalised PageRank or heat. For classification; what clustering is
compared with is in `smooth.py`.
"""

import math

import numpy as np
import scipy.sparse as sp
import torch

from gsl_scale.config import Evaluate
from gsl_scale.graph.weighted import Graph, with_self_loops
from gsl_scale.store.matrix import symmetric

_RESTART, _TIME, _NEIGHBOURS = 0.15, 5.0, 64
_LEFT = 0.005  # of a diffusion's weights, what its terms may leave out
_BLOCK = 512  # nodes diffused from at a time
_CHEAP = 20_000  # nodes up to which a diffusion from every node takes minutes, not hours


def wanted(settings: Evaluate, num_nodes: int) -> bool:
    return num_nodes <= _CHEAP if settings.references is None else settings.references


def diffused(
    graph: sp.csr_matrix, neighbours: int = _NEIGHBOURS, left: float = _LEFT
) -> dict[str, Graph]:
    """GDC by PPR and by heat: sum_k theta_k T^k, of which every node keeps the heaviest edges;
    then undirected and normalised. A node's edge to itself is one of them."""
    transition = Graph.from_scipy(with_self_loops(graph)).normalised()
    terms = {"PPR": _ppr(left), "heat": _heat(left)}
    found = _top(transition, list(terms.values()), min(neighbours, graph.shape[0]))
    return {
        name: Graph.from_scipy(symmetric(matrix)).normalised()
        for name, matrix in zip(terms, found, strict=True)
    }


def _ppr(left: float) -> list[float]:
    number = math.ceil(math.log(left) / math.log(1.0 - _RESTART))
    return [_RESTART * (1.0 - _RESTART) ** k for k in range(number)]


def _heat(left: float) -> list[float]:
    terms = [math.exp(-_TIME)]
    while sum(terms) < 1.0 - left:
        terms.append(terms[-1] * _TIME / len(terms))
    return terms


@torch.no_grad()
def _top(transition: Graph, terms: list[list[float]], number: int) -> list[sp.csr_matrix]:
    """Of each sum of powers, the heaviest entries of every row. Powers are symmetric, so those of
    a block of rows are columns of T^k I, and all sums share them."""
    num_nodes = transition.pattern.shape[0]
    rows: list[list[sp.csr_matrix]] = [[] for _ in terms]
    for start in range(0, num_nodes, _BLOCK):
        size = min(_BLOCK, num_nodes - start)
        power = torch.zeros(num_nodes, size)
        power[torch.arange(start, start + size), torch.arange(size)] = 1.0
        sums = [theta[0] * power for theta in terms]
        for k in range(1, max(map(len, terms))):
            power = transition @ power
            for total, theta in zip(sums, terms, strict=True):
                if k < len(theta):
                    total.add_(power, alpha=theta[k])
        for kept, total in zip(rows, sums, strict=True):
            best = total.T.contiguous().topk(number, dim=1)
            weight, column = (part.numpy().ravel() for part in best)
            indptr = np.arange(0, size * number + 1, number)
            block = sp.csr_matrix((weight, column, indptr), shape=(size, num_nodes))
            block.eliminate_zeros()
            kept.append(block)
    return [sp.csr_matrix(sp.vstack(kept)) for kept in rows]
