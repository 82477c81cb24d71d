"""The recall gate: no approximate search is believed before a sample of it was checked."""

from dataclasses import dataclass

from gsl_scale.errors import GslError
from gsl_scale.knn.approximate import ApproximateIndex
from gsl_scale.knn.neighbours import Ids, Neighbours, Rows

_LOOKED = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)  # beyond, exact search is no dearer
_FACTORS = (4, 8, 16)
_ROUNDING = 1e-6


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


def pass_gate(index: ApproximateIndex, queries: Rows, nodes: Ids, k: int, target: float) -> Recall:
    """Raise the effort until the sample's recall meets the target, or the bound is reached."""
    truth = index.truth(queries, nodes, k)
    factor, before = 0, 0.0
    for looked in _LOOKED:
        while True:
            index.set_effort(looked, _FACTORS[factor])
            recall = _recall(index.neighbours(queries, nodes, k), truth)
            if recall >= target:
                return Recall(recall, target, len(nodes), index.effort, True)
            # Looking further does not help when codes are too coarse to name the right ones.
            if recall - before > 0.3 * (target - before) or factor + 1 == len(_FACTORS):
                break
            factor += 1
        before = recall
    return Recall(recall, target, len(nodes), index.effort, False)


def _recall(found: Neighbours, truth: Neighbours) -> float:
    """The mean share of answers that are as near as the k nearest; among equals any will do."""
    farthest = truth.similarity.min(axis=1, keepdims=True) - _ROUNDING
    return float((found.similarity >= farthest).mean())
