"""The recall gate: no approximate search is believed before a sample of it was checked."""

import math
from dataclasses import dataclass

import numpy as np

from gsl_scale.errors import GslError
from gsl_scale.knn.approximate import ApproximateIndex
from gsl_scale.knn.mutual import WIDE
from gsl_scale.knn.neighbours import Ids, Neighbours, Rows
from gsl_scale.knn.plan import FACTORS, LOOKED

_ROUNDING = 1e-6
_ENOUGH = 4  # rounds to judge by whether the target can be reached


@dataclass(frozen=True)
class Recall:
    """What the gate saw; goes into the manifest."""

    recall: float
    target: float
    sample: int
    effort: dict[str, int]
    passed: bool

    def __str__(self) -> str:
        effort = ", ".join(f"{name} {value}" for name, value in self.effort.items())
        return f"recall {self.recall:.4f} on {self.sample:,} queries with {effort}"


class RecallError(GslError):
    """An approximate search that misses too many neighbours."""

    @classmethod
    def of(cls, gate: Recall, index: str) -> "RecallError":
        return cls(
            f"{index} reaches {gate}; knn.recall asks for {gate.target}.",
            "Its answers would miss neighbours. These vectors may have no clusters to go by.",
            "Set knn.index=exact, or knn.recall lower.",
            stage="knn",
        )


def pass_gate(
    index: ApproximateIndex, queries: Rows, nodes: Ids, k: int, target: float, told: bool = True
) -> Recall:
    """Raise the effort until the sample's recall meets the target, or the bound is reached.

    `told`: those who are missed may still tell the query that they found it (`mutual.py`).
    """
    truth = index.truth(queries, nodes, k)

    def recall_of(share: float, factor: int) -> float:
        index.set_effort(share, FACTORS[factor])
        return _recall(index, queries, nodes, truth, told)

    looked, factor = 0, 0
    recall = recall_of(LOOKED[looked], factor)
    gains: list[float] = []
    while recall < target and looked + 1 < len(LOOKED):
        further = recall_of(LOOKED[looked + 1], factor)
        # Looking further does not help when codes are too coarse to name the right ones.
        closer = recall_of(LOOKED[looked], factor + 1) if factor + 1 < len(FACTORS) else 0.0
        before, left = recall, len(LOOKED) + len(FACTORS) - 2 - looked - factor
        if closer > further:
            factor, recall = factor + 1, closer
        else:
            looked, recall = looked + 1, further
        gains.append(max(recall - before, 0.0))
        if len(gains) >= _ENOUGH and target - recall > left * max(gains[-_ENOUGH:]):
            break  # more effort helps less and less
    share = LOOKED[looked]
    if looked and recall >= target:  # half a step back may do as well
        less = math.sqrt(LOOKED[looked - 1] * share)
        enough = recall_of(less, factor)
        share, recall = (less, enough) if enough >= target else (share, recall)
    index.set_effort(share, FACTORS[factor])
    return Recall(recall, target, len(nodes), index.effort, recall >= target)


def _recall(
    index: ApproximateIndex, queries: Rows, nodes: Ids, truth: Neighbours, told: bool
) -> float:
    """The mean share of answers that are as near as the k nearest; among equals any will do."""
    k = truth.ids.shape[1]
    found = index.neighbours(queries, nodes, WIDE * k).first(k)
    good = (found.similarity >= truth.similarity[:, -1:] - _ROUNDING).sum(axis=1)
    if told:
        missed = (truth.ids[:, :, None] != found.ids[:, None, :]).all(axis=2)
        which, column = np.nonzero(missed & (good < k)[:, None])
        others, place = np.unique(truth.ids[which, column], return_inverse=True)
        theirs = index.of(others, WIDE * k).ids[place]
        telling = (theirs == nodes[which, None]).any(axis=1)
        good = np.minimum(good + np.bincount(which, telling, len(nodes)), k)
    return float(good.mean() / k)
