"""Blocks: the two hops around a batch of seeds, and nothing else of a graph.

    inner: hidden nodes × input nodes      the encoder's first layer aggregates over it
    outer: seeds × hidden nodes            and its second over this

Which edges are followed is drawn from (key, src, dst), as dropping edges is, and in the same draw:
an edge is kept with the chance 1 - share or, from a node with many edges, with a smaller one, so
that about `fanout` of them are kept. Kept edges are scaled up by that chance. A node's edges are
the same whoever draws them, and with whom.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from gsl_scale.graph.features import Features
from gsl_scale.graph.pattern import Ids, Pattern
from gsl_scale.graph.random import uniform
from gsl_scale.graph.weighted import Graph
from gsl_scale.store.links import Rows


class Links(Protocol):
    """A graph whose rows can be read one by one."""

    num_nodes: int

    def rows(self, nodes: Ids) -> Rows: ...


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


def hop(
    links: Links, rows: Ids, share: float = 0.0, fanout: int | None = None, key: int = 0
) -> Hop:
    """From these nodes (sorted) along the edges that are kept."""
    counts, dst, value = links.rows(rows)
    src = np.repeat(rows, counts)
    dropped = np.full(len(dst), share, np.float32)
    if fanout is not None:
        few = (1.0 - fanout / np.maximum(counts, 1)).astype(np.float32)
        dropped = np.maximum(dropped, np.repeat(few, counts))
    if share or fanout is not None:
        numbers = torch.from_numpy(src * links.num_nodes + dst)
        kept = uniform(numbers, key).numpy() >= dropped
        src, dst, value, dropped = src[kept], dst[kept], value[kept], dropped[kept]
    nodes = np.union1d(rows, dst)
    indptr = np.append(np.searchsorted(src, rows), len(src))
    return Hop(
        nodes,
        torch.from_numpy(np.searchsorted(nodes, rows)),
        Pattern.from_csr(indptr, np.searchsorted(nodes, dst), len(nodes)),
        torch.from_numpy(value),
        torch.from_numpy(1.0 - dropped),
        torch.from_numpy(src == dst),
    )
