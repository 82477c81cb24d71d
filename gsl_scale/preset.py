"""The auto preset: what a config leaves open, chosen from the size and kind of the data.

No label is looked at, and nothing here knows a dataset by name.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gsl_scale.config import AUTO, Config
from gsl_scale.graph.features import SPARSE_BELOW
from gsl_scale.store.artifact import Artifact

LARGE = 100_000  # nodes from which on the evaluation GCN is the paper's larger one
_WIDTH = 128  # of the MLP learner, whose layers cost its square


@dataclass(frozen=True)
class Shape:
    """What the preset looks at."""

    num_nodes: int
    num_features: int
    has_edges: bool
    has_negative: bool
    nonzero: float

    @classmethod
    def of(cls, data: Artifact) -> "Shape":
        num_nodes, num_features = data.nodes().shape
        lowest, nonzero = 0.0, 0
        for _, rows in data.nodes().parts():
            lowest = min(lowest, float(rows.min()))
            nonzero += int(np.count_nonzero(rows))
        share = nonzero / (num_nodes * num_features)
        return cls(num_nodes, num_features, "edges" in data, lowest < 0, share)


def resolve(config: Config, shape: Shape) -> Config:
    """The same config with every 'auto' replaced by a value."""
    n, d = shape.num_nodes, shape.num_features
    small = n < 10_000
    dense = shape.nonzero >= SPARSE_BELOW
    k = config.knn.k
    if k == AUTO:
        k = max(1, min(30 if small else 20, n // 6))
    width = config.learner.width
    if width == AUTO:  # an Attentive learner weighs the columns themselves, and costs nothing
        width = 0 if config.learner.kind in ("attentive", "gnn") else _WIDTH
    chosen: dict[str, dict[str, Any]] = {
        "learner": {
            "kind": "mlp",
            "activation": "none" if shape.has_negative or 0 < width < d else "relu",
            "width": width,
            "hops": 12 if shape.has_edges or dense else 0,
        },
        "knn": {"k": k},
        "contrast": {
            "hidden": 256 if small else 128,
            "representation": 128 if small else 64,
            "projection": 128 if small else 64,
            "batch": min(n, 512 if small else 2048),
        },
        "anchor": {"budget": 2 * k},
        "train": {"steps": 300},
        "evaluate": {
            "hidden": 256 if n >= LARGE else 32,
            "layers": 3 if n >= LARGE else 2,
        },
    }
    update = {}
    for name, values in chosen.items():
        block = getattr(config, name)
        open_keys = {
            key: new for key, new in values.items() if getattr(block, key) in ("auto", AUTO)
        }
        update[name] = block.model_copy(update=open_keys)
    return config.model_copy(update=update)
