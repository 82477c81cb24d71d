"""Neighbours of all rows among all rows, in memory, as training asks for them again and again."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gsl_scale.config import Knn, Run
from gsl_scale.engine import gpus_here
from gsl_scale.knn.approximate import ApproximateIndex
from gsl_scale.knn.exact import all_neighbours
from gsl_scale.knn.gate import Recall, RecallError, pass_gate
from gsl_scale.knn.mutual import WIDE, accept, offers
from gsl_scale.knn.neighbours import Neighbours, Rows, in_batches, unit_rows
from gsl_scale.knn.plan import SearchPlan, choose, finer


class Finder:
    """Between two calls embeddings move a little: the lists of the last search are re-centred."""

    def __init__(self, knn: Knn, run: Run) -> None:
        self._knn, self._run, self._asked = knn, run, knn.index
        self._centroids: Rows | None = None

    def __call__(self, rows: npt.NDArray[Any]) -> Neighbours:
        """In order of id."""
        unit = unit_rows(rows)
        while True:
            knn, run = self._knn, self._run
            plan = choose(len(unit), unit.shape[1], knn, run, gpus_here())
            if plan.exact:
                return all_neighbours(unit, knn.k, run.batch, plan.device)
            index, gate = self._index(unit, plan)
            if gate.passed:
                break
            better = finer(plan, self._asked)
            if better is None:
                raise RecallError.of(gate, plan.index)
            self._knn = knn.model_copy(update={"index": better})
        index.place(plan.device)
        wide = in_batches(index.search, unit, WIDE * knn.k, run.batch)
        best = wide.first(knn.k)
        return accept(best, 0, offers(wide, 0, best.similarity[:, -1])).by_id()

    def _index(self, unit: Rows, plan: SearchPlan) -> tuple[ApproximateIndex, Recall]:
        rng = np.random.default_rng(0)
        chosen = np.sort(rng.choice(len(unit), plan.training_rows, replace=False))
        index = ApproximateIndex.train(unit[chosen], plan, self._centroids)
        self._centroids = index.centroids
        index.add(unit)
        nodes = np.sort(rng.choice(len(unit), min(len(unit), self._knn.sample), replace=False))
        return index, pass_gate(index, unit[nodes], nodes, self._knn.k, self._knn.recall)
