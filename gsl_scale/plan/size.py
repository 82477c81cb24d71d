"""How large a config's graph is, without ingesting it."""

from dataclasses import dataclass

import numpy as np

from gsl_scale.config import Config
from gsl_scale.config_data import AnyData, OgbData, SyntheticData
from gsl_scale.encoded import WIDTH
from gsl_scale.preset import Shape, resolve
from gsl_scale.store.artifact import Artifact

# Nodes, features, edges in both directions, as OGB publishes them.
_OGB = {
    "ogbn-arxiv": (169_343, 128, 2_315_598),
    "ogbn-products": (2_449_029, 100, 123_718_280),
    "ogbn-papers100M": (111_059_956, 128, 3_231_371_744),
}


@dataclass(frozen=True)
class Size:
    """Of a graph as it is stored: `edges` counts both directions."""

    nodes: int
    features: int
    edges: int
    negative: bool = True  # whether a feature is
    nonzero: float = 1.0  # share of the features

    @classmethod
    def of_config(cls, config: Config) -> "Size":
        """Known for OGB's and synthetic data; other input is opened and its edges are counted."""
        data = config.data
        if isinstance(data, OgbData) and data.name in _OGB:
            nodes, features, edges = _OGB[data.name]
            return cls(nodes, features, edges if data.edges else 0)
        if isinstance(data, SyntheticData):
            return cls(data.nodes, data.features, round(2 * data.nodes * data.degree))
        return _counted(data)

    @classmethod
    def of_data(cls, data: Artifact) -> "Size":
        shape = Shape.of(data)
        edges = data.manifest.tables["edges"].rows if shape.has_edges else 0
        known = (shape.num_nodes, shape.num_features, edges)
        return cls(*known, shape.has_negative, shape.nonzero)

    @property
    def shape(self) -> Shape:
        return Shape(
            self.nodes, self.features, self.edges > 0, self.negative, self.nonzero, self.edges
        )


def _counted(data: AnyData) -> Size:
    from gsl_scale.ingest import open_source

    source = open_source(data)
    edges = 0
    if source.edges is not None:
        edges = 2 * sum(len(block.src) for block in source.edges())
    rows = next(source.features())
    share = float(np.count_nonzero(rows) / max(rows.size, 1))
    return Size(source.num_nodes, source.num_features, edges, bool((rows < 0).any()), share)


@dataclass(frozen=True)
class Case:
    """A config, with no 'auto' left, on a graph of some size."""

    size: Size
    config: Config

    @classmethod
    def of(cls, config: Config, size: Size | None = None) -> "Case":
        size = size or Size.of_config(config)
        return cls(size, resolve(config, size.shape))

    @property
    def workers(self) -> int:
        """At least one: this process, if there are no others."""
        return max(1, self.config.run.workers)

    @property
    def columns(self) -> int:
        """Of what the learner sees (`context.py`)."""
        learner, d = self.config.learner, self.size.features
        wide = d
        if learner.kind != "gnn" and learner.context != "none":
            topics = learner.directions
            wide = {"smooth": d, "encoded": WIDTH, "words": d + topics}.get(learner.context, topics)
            wide += d if learner.own else 0
        narrow = learner.kind == "mlp" and 0 < learner.width < wide
        return learner.width if narrow else wide

    @property
    def sees_more(self) -> bool:
        """Whether that is computed beforehand, from all rows in one process."""
        learner = self.config.learner
        return learner.kind != "gnn" and (
            learner.context != "none" or self.columns != self.size.features
        )

    @property
    def in_memory(self) -> bool:
        return self.config.run.workers == 0 and self.config.contrast.fanout == "all"
