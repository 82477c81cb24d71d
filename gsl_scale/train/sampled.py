"""A batch read from disk: the rows around its seeds, and no others."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy.typing as npt
import torch
from torch import Tensor

from gsl_scale.config import Config
from gsl_scale.contrast.views import ANCHOR, LEARNER, key_of
from gsl_scale.graph.features import Features
from gsl_scale.graph.ops import edge_dot_at
from gsl_scale.graph.sample import Block, Hop, hop
from gsl_scale.graph.unit import unit_rows
from gsl_scale.graph.weighted import Graph
from gsl_scale.store.links import LinkTable
from gsl_scale.train.shards import Ids, ScaledRows, Vector, edge_weights


class OnDisk(Protocol):
    """Where it is read from (`sharded.py`)."""

    config: Config
    features: ScaledRows
    seen: ScaledRows
    sketch: LinkTable
    anchor: LinkTable
    degree: Vector
    device: torch.device


@dataclass(frozen=True)
class SampledBatch:
    """Two hops around a rank's seeds.

    Where all edges are followed, degrees are summed up over a third hop, with gradient; otherwise
    they are those of the last refresh.
    """

    graphs: OnDisk
    seeds: Ids
    step: int

    @property
    def seen(self) -> Features:
        return self.graphs.seen.of(self._around.nodes if self._exact else self._hops[1].nodes)

    @property
    def given(self) -> None:
        return None

    @property
    def _exact(self) -> bool:
        return self.graphs.config.contrast.fanout == "all"

    def look_up(self) -> None:
        _ = self._hops, self._anchor_hops

    @cached_property
    def _hops(self) -> tuple[Hop, Hop]:
        return self._two_hops(self.graphs.sketch, LEARNER)

    @cached_property
    def _anchor_hops(self) -> tuple[Hop, Hop]:
        return self._two_hops(self.graphs.anchor, ANCHOR)

    @cached_property
    def _around(self) -> Hop:
        return hop(self.graphs.sketch, self._hops[1].nodes).to(self.graphs.device)

    def learned(self, embeddings: Tensor) -> Block:
        outer, inner = self._hops
        unit = unit_rows(embeddings)
        if self._exact:
            around = self._around
            weights, unit = edge_weights(around, unit)
            degree = Graph(around.pattern, weights) @ weights.new_ones(len(around.nodes), 1)
        else:
            degree = self._here(self.graphs.degree[inner.nodes])[:, None]
        scale = degree.rsqrt()
        graphs = []
        for edges in (inner, outer):
            weights, unit = edge_weights(edges, unit)
            both, scale = edge_dot_at(edges.pattern, scale, edges.at)
            graphs.append(Graph(edges.pattern, weights * both / edges.chance))
        features = self.graphs.features.of(inner.nodes)
        return Block(graphs[1], graphs[0], features, self._here(outer.nodes))

    def anchored(self) -> Block:
        outer, inner = self._anchor_hops
        graphs = [Graph(edges.pattern, edges.value / edges.chance) for edges in (outer, inner)]
        features = self.graphs.features.of(inner.nodes)
        return Block(graphs[0], graphs[1], features, self._here(outer.nodes))

    def _two_hops(self, links: LinkTable, view: int) -> tuple[Hop, Hop]:
        config = self.graphs.config
        key = key_of(config.train.seed, self.step, view)
        fanout = config.contrast.fanout
        first, second = (None, None) if isinstance(fanout, str) else fanout
        share = config.contrast.drop_edges
        outer = hop(links, self.seeds, share, first, key)
        inner = hop(links, outer.nodes, share, second, key)
        return outer.to(self.graphs.device), inner.to(self.graphs.device)

    def _here(self, numbers: npt.NDArray[Any]) -> Tensor:
        return torch.from_numpy(numbers).to(self.graphs.device)
