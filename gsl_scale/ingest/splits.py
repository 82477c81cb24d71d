"""Which labelled nodes a classifier may see. Used by evaluation only, never by learning."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import train_test_split

from gsl_scale.config import Split
from gsl_scale.errors import InputError

Names = npt.NDArray[np.str_]

# Labelled nodes as in the paper's table of datasets (label rates 0.056, 0.018, 0.028),
# with twice as many to validate on.
PAPER = {
    "wine": (10, 20),
    "cancer": (10, 20),
    "digits": (50, 100),
}


def by_index(num_nodes: int, **members: npt.NDArray[np.integer[Any]]) -> Names:
    """A split from index arrays: by_index(n, train=..., valid=..., test=...)."""
    split = np.full(num_nodes, "", dtype="<U5")
    for name, nodes in members.items():
        split[nodes] = name
    return split


def draw(labels: npt.NDArray[np.integer[Any]], spec: Split) -> Names:
    """A stratified split of the labelled nodes; the rest of them is the test set."""
    known = np.flatnonzero(labels >= 0)
    wanted = spec.train + spec.valid
    classes, counts = np.unique(labels[known], return_counts=True)
    if wanted >= len(known) or spec.train < len(classes) or counts.min() < 2:
        raise InputError(
            f"A split of {spec.train} train and {spec.valid} valid nodes cannot be drawn from "
            f"{len(known):,} labelled nodes of {len(classes)} classes "
            f"(the smallest has {counts.min() if len(counts) else 0}).",
            "Every class needs a node to train on, and some nodes must be left to test.",
            "Change data.split, or give a split column.",
        )
    train, rest = train_test_split(
        known, train_size=spec.train, random_state=spec.seed, stratify=labels[known]
    )
    if spec.valid:
        valid, test = train_test_split(rest, train_size=spec.valid, random_state=spec.seed)
    else:
        valid, test = rest[:0], rest
    return by_index(len(labels), train=train, valid=valid, test=test)
