"""Blocks: the two hops around a batch of seeds, and nothing else of a graph.

    inner: hidden nodes × input nodes      the encoder's first layer aggregates over it
    outer: seeds × hidden nodes            and its second over this

Which edges are followed is drawn from counters. An edge is dropped with the chance `share`, by
(key, src, dst). Of a node with so many edges that more than `fanout` would be left, exactly as many
are taken, at even distances from a start drawn by (key, src), and no others are read. Kept edges
are scaled up by their chance. A node's edges are the same whoever draws them, and with whom.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from gsl_scale.graph.features import Features
from gsl_scale.graph.pattern import Ids, Pattern
from gsl_scale.graph.random import uniform
from gsl_scale.graph.weighted import Graph


class Links(Protocol):
    """A graph whose rows can be read one by one."""

    num_nodes: int

    def degrees(self, nodes: Ids) -> Ids: ...

    def pick(self, nodes: Ids, counts: Ids, within: Ids) -> tuple[Ids, npt.NDArray[np.float32]]: ...


@dataclass(frozen=True)
class Block:
    """Two hops, weighted, over the features of the input nodes."""

    outer: Graph
    inner: Graph
    features: Features
    hidden: Tensor | None  # the nodes of the hidden rows; None: all of them, in order

    @classmethod
    def whole(cls, graph: Graph, features: Features, seeds: Tensor | None = None) -> "Block":
        """All nodes as hidden and input nodes."""
        return cls(graph if seeds is None else graph.at(seeds), graph, features, None)


@dataclass(frozen=True)
class Hop:
    """Edges from some nodes (rows) to `nodes` (columns, the rows among them), both in order."""

    nodes: Ids
    at: Tensor  # which of the nodes the rows are
    pattern: Pattern
    value: Tensor  # of each edge, as stored
    chance: Tensor  # of each edge to have been kept
    is_loop: Tensor

    def to(self, device: torch.device) -> "Hop":
        parts = (self.value, self.chance, self.is_loop)
        at, pattern = self.at.to(device), self.pattern.to(device)
        return Hop(self.nodes, at, pattern, *(part.to(device) for part in parts))


def hop(
    links: Links, rows: Ids, share: float = 0.0, fanout: int | None = None, key: int = 0
) -> Hop:
    """From these nodes (sorted) along the edges that are kept."""
    degrees = links.degrees(rows)
    many = np.zeros(len(rows), bool)
    if fanout is not None:
        many = degrees * (1.0 - share) > fanout
    counts = np.where(many, fanout or 0, degrees)
    row = np.repeat(np.arange(len(rows)), counts)
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    start = uniform(torch.from_numpy(rows), key).numpy().astype(np.float64)
    spread = ((place + start[row]) * (degrees / np.maximum(counts, 1))[row]).astype(np.int64)
    dst, value = links.pick(rows, counts, np.where(many[row], spread, place))
    src = rows[row]
    chance = np.where(many, counts / np.maximum(degrees, 1), 1.0 - share).astype(np.float32)[row]
    if share:
        numbers = torch.from_numpy(src * links.num_nodes + dst)
        kept = many[row] | (uniform(numbers, key).numpy() >= np.float32(share))
        src, dst, value, chance = src[kept], dst[kept], value[kept], chance[kept]
    nodes = _distinct(np.concatenate([rows, dst]))
    indptr = np.append(np.searchsorted(src, rows), len(src))
    return Hop(
        nodes,
        torch.from_numpy(np.searchsorted(nodes, rows)),
        Pattern.from_csr(indptr, np.searchsorted(nodes, dst), len(nodes)),
        torch.from_numpy(value),
        torch.from_numpy(chance),
        torch.from_numpy(src == dst),
    )


def _distinct(ids: Ids) -> Ids:
    """In order; np.unique takes longer, by a hash table."""
    ids.sort()
    return ids[np.diff(ids, prepend=-1) > 0]
