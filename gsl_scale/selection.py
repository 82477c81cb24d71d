"""Which edges of a graph are taken along: the heaviest of each node, or those above a weight.

An undirected graph stays undirected: an edge is kept if it is among the k heaviest of either of
its ends. Of edges that weigh the same, the one to the lower node counts as heavier.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gsl_scale.errors import UserError
from gsl_scale.store.edges import Edges, EdgeTable

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Selection:
    """Nothing set: all edges."""

    top_k: int | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.top_k is not None and self.top_k < 1:
            raise UserError(
                f"top_k is {self.top_k}, expected at least 1.",
                next_step="Say how many edges of each node to keep, or leave it out for all.",
            )
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise UserError(
                f"threshold is {self.threshold}, expected a number.",
                next_step="Say the least weight of an edge to keep, or leave it out for all.",
            )

    @property
    def everything(self) -> bool:
        return self.top_k is None and self.threshold is None


def select(table: EdgeTable, selection: Selection, *, undirected: bool) -> Iterator[Edges]:
    """The edges that are kept, one shard at a time, in their order."""
    among_heaviest = None
    if selection.top_k is not None:
        among_heaviest = _heaviest(table, selection.top_k)
    for _, edges in table.parts():
        keep = np.ones(len(edges.src), bool)
        if selection.threshold is not None:
            keep &= edges.weight >= selection.threshold
        if among_heaviest is not None:
            heavy = among_heaviest(edges)
            if undirected:
                heavy |= among_heaviest(Edges(edges.dst, edges.src, edges.weight))
            keep &= heavy
        yield edges if keep.all() else edges.where(keep)


def _heaviest(table: EdgeTable, k: int) -> Callable[[Edges], Mask]:
    """Whether edges are among the k heaviest of their source.

    One pass notes each node's k-th heaviest edge; two numbers per node then decide about any edge,
    so that no more than a shard is in memory.
    """
    last_weight = np.full(table.num_nodes, -np.inf, np.float32)
    last_dst = np.full(table.num_nodes, table.num_nodes, np.int64)
    for part, edges in table.parts():
        order = np.lexsort((edges.dst, -edges.weight, edges.src))
        degree = np.bincount(edges.src - part.start, minlength=part.stop - part.start)
        first = np.cumsum(degree) - degree
        rich = np.flatnonzero(degree >= k)
        last = order[first[rich] + k - 1]
        last_weight[part.start + rich] = edges.weight[last]
        last_dst[part.start + rich] = edges.dst[last]

    def among(edges: Edges) -> Mask:
        bound = last_weight[edges.src]
        tie = (edges.weight == bound) & (edges.dst <= last_dst[edges.src])
        heavy: Mask = (edges.weight > bound) | tie
        return heavy

    return among
