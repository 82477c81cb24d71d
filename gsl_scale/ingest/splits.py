"""Which labelled nodes a classifier may see. Used by evaluation only, never by learning."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import train_test_split

from gsl_scale.config_data import Split
from gsl_scale.errors import InputError

Names = npt.NDArray[np.str_]
Ids = npt.NDArray[np.integer[Any]]

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

    def part(nodes: Ids, number: int) -> tuple[Ids, Ids]:
        first, others = train_test_split(
            nodes, train_size=number, random_state=spec.seed, stratify=labels[nodes]
        )
        return first, others

    seen, test = part(known, wanted)
    if spec.valid < len(classes) or np.bincount(labels[seen])[classes].min() < 2:
        # Too few to validate on every class: train has them all, valid is what is left of it.
        train, _ = part(known, spec.train)
        others = np.random.default_rng(spec.seed).permutation(np.setdiff1d(known, train))
        return by_index(
            len(labels), train=train, valid=others[: spec.valid], test=others[spec.valid :]
        )
    train, valid = part(seen, spec.train)
    return by_index(len(labels), train=train, valid=valid, test=test)
