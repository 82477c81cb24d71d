"""More workers than there are here, **simulated**: measured times of steps and shards, and message
sizes, played through a model of a cluster. Nothing here has run on that many workers.

What it takes for granted is `ASSUMPTIONS`, which every report of it shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gsl_scale.errors import InputError
from gsl_scale.plan.blocks import bytes_read
from gsl_scale.plan.coefficients import Coefficients
from gsl_scale.plan.forecast import Cluster, bounded, compute_seconds, rounds, sending_seconds
from gsl_scale.plan.size import Case
from gsl_scale.plan.work import num_shards

ASSUMPTIONS = (
    "A worker is one like those measured (its threads, its CPU); no GPU has been measured.",
    "A step's arithmetic costs what the fitted model says for the seeds of one worker.",
    "Steps of different workers vary independently, as the steps measured here varied; everyone "
    "waits for the slowest.",
    "Sums over workers are rings: 2 (W - 1) turns of one latency each, every worker sending "
    "2 (W - 1) / W of a message; they do not overlap with arithmetic.",
    "Neighbours of a batch lie anywhere in the graph: no gain from seeds that lie close together.",
    "Rows are read from storage over the network at every step unless a node can keep all of them "
    "in half of its memory; then they are read once.",
    "At refreshes and updates of the anchor shards are dealt out in turn and cost what the fitted "
    "model says; results of all shards are told to everyone.",
    "Storage is never the bottleneck beyond the network of a node; no worker fails.",
)
_STEPS = 200  # played; their mean counts

Times = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Simulated:
    """A training on some number of workers; times in seconds."""

    workers: int
    step: float
    sending: float  # of a step
    waiting: float  # of a step, for the slowest
    reading: float  # of a step
    refresh: float | None  # None: never measured, and left out of the total
    anchor: float | None
    total: float  # of all steps, refreshes and updates
    efficiency: float = 1.0  # of the total, against the fewest workers
    step_efficiency: float = 1.0

    def to_json(self) -> dict[str, Any]:
        return vars(self)


def simulate(
    case: Case, cluster: Cluster, coefficients: Coefficients, workers: Sequence[int], seed: int = 0
) -> list[Simulated]:
    """The same graph on each number of workers, one for each GPU of a machine, or one for each
    machine; there are as many machines as that takes."""
    case = bounded(case, cluster)  # the same pieces for all
    found = [_play(_with(case, number), cluster, coefficients, seed) for number in workers]
    first = found[0]
    rows = []
    for one in found:
        more = one.workers / first.workers
        better = first.total / one.total / more
        steps = first.step / one.step / more
        rows.append(Simulated(**{**vars(one), "efficiency": better, "step_efficiency": steps}))
    return rows


def _with(case: Case, workers: int) -> Case:
    run = case.config.run.model_copy(update={"workers": workers})
    return Case(case.size, case.config.model_copy(update={"run": run}))


def _play(case: Case, cluster: Cluster, coefficients: Coefficients, seed: int) -> Simulated:
    rng, w = np.random.default_rng(seed), case.workers
    compute = compute_seconds(case, coefficients)
    if compute is None:
        raise InputError(
            "A step like those of this config was never measured.",
            next_step="Measure one: gsl-scale bench scaling, then gsl-scale plan --fit.",
        )
    jitter = np.array(coefficients.jitter or [1.0])
    own = compute * rng.choice(jitter, (_STEPS, w))
    slowest = float(own.max(axis=1).mean())
    sending = sending_seconds(case, cluster)
    reading = _reading(case, cluster, coefficients)
    step = slowest + sending + reading
    refresh, anchor = (
        _shared_out(case, cluster, coefficients, name, jitter, rng)
        for name in ("refresh.seconds", "anchor.seconds")
    )
    refreshes, blends = rounds(case)
    total = case.config.train.steps * step
    total += refreshes * (refresh or 0.0) + blends * (anchor or 0.0)
    return Simulated(w, step, sending, slowest - float(own.mean()), reading, refresh, anchor, total)


def _reading(case: Case, cluster: Cluster, coefficients: Coefficients) -> float:
    """Of a step, over the network, which the workers of a machine share."""
    links = coefficients.links(case)
    width = 2 if case.config.data.dtype == "float16" else 4
    kept = case.size.nodes * (case.size.features * width + 4 * case.columns) + 24.0 * links
    if kept < cluster.memory / 2:
        return 0.0
    return bytes_read(case, links) * max(1, cluster.gpus) / cluster.bandwidth


def _shared_out(
    case: Case, cluster: Cluster, coefficients: Coefficients, name: str, jitter: Times,
    rng: np.random.Generator,
) -> float | None:  # fmt: skip
    """Shards dealt out in turn; everyone waits for whoever has most to do, and hears of all."""
    alone = coefficients.predict(_with(case, 1)).get(name)
    if alone is None:
        return None
    once = coefficients.costs.get(name, {}).get("once", 0.0)
    shards, w = num_shards(case), case.workers
    each = (alone - once) / shards * rng.choice(jitter, shards)
    busiest = max(float(each[rank::w].sum()) for rank in range(w))
    told = 4.0 * case.size.nodes * (w - 1) / w / cluster.bandwidth  # degrees, to everyone
    return once + busiest + told + 2.0 * (w - 1) * cluster.latency
