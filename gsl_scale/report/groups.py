"""Who belongs together: nodes by their labels or, without labels, by the clusters found."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gsl_scale.store.artifact import Artifact

SHOWN = 10  # the largest groups; those beyond are shown as one


@dataclass(frozen=True)
class Groups:
    what: str  # "label" or "cluster"
    of: npt.NDArray[np.int64]  # the group of each node; -1: not known
    names: list[str]

    @classmethod
    def find(cls, data: Artifact, metrics: Artifact | None) -> "Groups | None":
        """None where there are no labels and nothing was evaluated."""
        if "labels" in data:
            labels = data.columns("labels")["label"].fill_null(-1).to_numpy().astype(np.int64)
            named = [str(name) for name in data.manifest.facts.get("classes", [])]
            names = [*named, *map(str, range(len(named), int(labels.max(initial=-1)) + 1))]
            return cls("label", labels, names) if (labels >= 0).any() else None
        if metrics is not None and "clusters" in metrics:
            clusters = metrics.columns("clusters")["cluster"].to_numpy().astype(np.int64)
            return cls("cluster", clusters, [f"cluster {c + 1}" for c in range(clusters.max() + 1)])
        return None

    @property
    def largest(self) -> list[int]:
        """By size, at most `SHOWN`, in the order of their numbers."""
        sizes = np.bincount(self.of[self.of >= 0], minlength=len(self.names))
        order = np.argsort(-sizes, kind="stable")[:SHOWN]
        return sorted(int(group) for group in order if sizes[group])

    @property
    def used(self) -> int:
        """How many have a node."""
        return len(np.unique(self.of[self.of >= 0]))
