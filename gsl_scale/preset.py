"""The auto preset: what a config leaves open, chosen from the size and kind of the data.

No label is looked at, and nothing here knows a dataset by name.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gsl_scale.config import AUTO, Config, Learner
from gsl_scale.store.artifact import Artifact

LARGE = 100_000  # nodes from which on the evaluation GCN is the paper's larger one
_DENSE = 0.25  # share of nonzeros from which on features are not taken for words
_WORDS = 0.05  # and below which the vocabulary is large
# Nodes from which on a batch does not follow every edge, and whole graphs are renewed rarely.
_SAMPLED = 50_000
_SMALL = 10_000  # nodes below which a learner moves little
_MANY = 10  # given edges of a node, in the mean, from which on new ones are a supplement
_WIDTH = 128  # of the MLP learner, whose layers cost its square
_WIDTH_ENCODED = 256  # half of what an encoder makes


@dataclass(frozen=True)
class Shape:
    """What the preset looks at."""

    num_nodes: int
    num_features: int
    has_edges: bool
    has_negative: bool
    nonzero: float
    num_links: int = 0  # ends of edges, two of each

    @property
    def is_words(self) -> bool:
        return self.nonzero < _WORDS

    @property
    def is_dense(self) -> bool:
        return self.nonzero >= _DENSE

    @property
    def is_encoded(self) -> bool:
        """Whether there are edges for an encoder, and enough nodes for it to learn from."""
        return self.has_edges and _SMALL <= self.num_nodes < _SAMPLED

    @classmethod
    def of(cls, data: Artifact) -> "Shape":
        num_nodes, num_features = data.nodes().shape
        lowest, nonzero = 0.0, 0
        for _, rows in data.nodes().parts():
            lowest = min(lowest, float(rows.min()))
            nonzero += int(np.count_nonzero(rows))
        share = nonzero / (num_nodes * num_features)
        links = len(data.edges()) if "edges" in data else 0
        return cls(num_nodes, num_features, "edges" in data, lowest < 0, share, links)


def resolve(config: Config, shape: Shape) -> Config:
    """The same config with every 'auto' replaced by a value."""
    n = shape.num_nodes
    small = n < _SMALL
    k = config.knn.k
    if k == AUTO:
        k = max(1, min(_neighbours(shape), n // 6))
    chosen: dict[str, dict[str, Any]] = {
        "learner": _learner(config.learner, shape, small),
        "knn": {"k": k},
        "contrast": {
            "hidden": 256 if small else 128,
            "representation": 128 if small else 64,
            "projection": 128 if small else 64,
            "batch": min(n, 512 if small else 2048),
            "fanout": "all" if n < _SAMPLED else (4, 4),
        },
        "anchor": {"budget": 2 * k, "c": 10 if n < _SAMPLED else 100},
        "train": {
            "steps": _steps(shape),
            "refresh": 20 if n < _SAMPLED else 100,
        },
        "evaluate": {
            "hidden": 256 if n >= LARGE else 32,
            "layers": 3 if n >= LARGE else 2,
        },
    }
    update = {}
    for name, values in chosen.items():
        block = getattr(config, name)
        open_keys = {
            key: new for key, new in values.items() if getattr(block, key) in ("auto", AUTO, None)
        }
        update[name] = block.model_copy(update=open_keys)
    if config.export.given is None and config.knn.keep_given and shape.num_links >= _MANY * n:
        update["export"] = config.export.model_copy(update={"given": "kept"})
    return config.model_copy(update=update)


def _neighbours(shape: Shape) -> int:
    if shape.is_encoded:
        return 20
    if shape.has_edges or shape.num_nodes >= 5000:
        return 10
    if shape.is_words:
        return 15
    return 30 if shape.is_dense else 20


def _steps(shape: Shape) -> int:
    """Without given edges the anchor begins with nothing; what a learner gains it soon loses."""
    if shape.num_nodes >= _SAMPLED:
        return 600
    return 400 if shape.has_edges else 300


def _directions(shape: Shape) -> int:
    if shape.is_dense:
        return 64  # of a manifold
    return 16 if shape.is_words else 8  # topics


def _learner(learner: Learner, shape: Shape, small: bool) -> dict[str, Any]:
    """What was found to work, by kind of features (`docs/log.md`).

    Few nodes cannot tell the parameters of an MLP, so there the context does most of the work and
    the learner moves little. Of a large vocabulary, words say something that a context would wash
    out, so they are kept beside it; of a small one, a few topics say most.
    """
    words, topics = shape.is_words, None
    if shape.has_edges:
        kind, own = "mlp", 0.5 if words else 0.0
        context, rate = (
            ("encoded", 3e-4) if shape.is_encoded else ("smooth", 1e-4 if small else 1e-3)
        )
    elif words:
        kind, context, own, rate = "attentive", "words", 0.9, 1e-5
    elif not small:
        kind, context, own, rate = "mlp", "none", 0.0, 1e-3
    elif not shape.is_dense:
        kind, context, own, rate, topics = "attentive", "words", 0.0, 1e-5, 2.0
    else:
        kind, context, own, rate = "mlp", "manifold", 1.0, 1e-5
    if learner.kind != "auto":
        kind = learner.kind
    if learner.context != "auto":
        context = learner.context
    width = 0
    if kind == "mlp":
        width = _WIDTH_ENCODED if context == "encoded" else _WIDTH
    if learner.width != AUTO:
        width = learner.width
    # Directions have signs, which a ReLU between layers would cut off.
    signed = shape.has_negative or context in ("encoded", "manifold", "topics", "words")
    beside = 2 if context != "none" and own else 1
    narrow = kind == "mlp" and 0 < width < beside * shape.num_features
    return {
        "kind": kind,
        "activation": "none" if signed or narrow else "relu",
        "context": context,
        "own": own,
        "topics": topics,
        "directions": min(_directions(shape), shape.num_nodes),
        "learning_rate": rate,
        "width": width,
    }
