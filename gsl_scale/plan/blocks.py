"""How large the blocks of a batch are, expected; and what a step sends and reads.

Neighbours are taken to lie anywhere: of x nodes drawn among n, n (1 - exp(-x / n)) are distinct.
Graphs with communities overlap more, so this is on the safe side.
"""

import math
from dataclasses import dataclass

from gsl_scale.plan.size import Case

_FIRST_BUCKET, _BUCKET = 1 << 20, 25 << 20  # DDP's, in bytes
_LINK = 12  # bytes, see store/links.py


@dataclass(frozen=True)
class View:
    """Two hops around a rank's seeds in one graph."""

    hidden: float  # nodes
    inputs: float
    outer: float  # edges
    inner: float

    @property
    def edges(self) -> float:
        return self.outer + self.inner


def distinct(drawn: float, nodes: int) -> float:
    return nodes * -math.expm1(-drawn / nodes)


def view(case: Case, degree: float) -> View:
    """Of a graph with this many edges per node, self-loop included."""
    contrast, n = case.config.contrast, case.size.nodes
    left = degree * (1.0 - contrast.drop_edges)
    if case.in_memory:  # every node takes part, whoever the seeds are
        return View(n, n, left * min(contrast.batch, n), left * n)
    first, second = (left, left) if isinstance(contrast.fanout, str) else contrast.fanout
    seeds = min(contrast.batch, n) / case.workers
    outer = seeds * min(first, left)
    hidden = distinct(seeds + outer, n)
    inner = hidden * min(second, left)
    return View(hidden, distinct(hidden + inner, n), outer, inner)


@dataclass(frozen=True)
class Step:
    """What one rank does in a step."""

    learner: View
    anchor: View
    around: float  # nodes that are embedded: a third hop where all edges are followed
    seeds: float
    batch: int

    @classmethod
    def of(cls, case: Case, links: float) -> "Step":
        """`links`: edges of the learned graph, self-loops included."""
        n, contrast = case.size.nodes, case.config.contrast
        learned = view(case, links / n)
        given = min(case.size.edges / n, case.config.anchor.budget) + 1
        around = learned.inputs
        if contrast.fanout == "all" and not case.in_memory:
            around = distinct(learned.inputs * links / n, n)
        batch = min(contrast.batch, n)
        return cls(learned, view(case, given), around, batch / case.workers, batch)


def num_parameters(case: Case) -> int:
    config, d, w = case.config, case.size.features, case.columns
    h, r, p = config.contrast.hidden, config.contrast.representation, config.contrast.projection
    learner = config.learner.layers * (w if config.learner.kind == "attentive" else w * w)
    return learner + (d * h + h + h * r + r) + (r * p + p + p * p + p)


def messages(case: Case) -> list[float]:
    """Bytes of each sum over the ranks in a step, in order: projections gathered, column sums and
    loss of NT-Xent, the gradient of the projections, and the gradients of the model in buckets.
    Projections and their gradients go one way only, which a sum of half their bytes takes."""
    if case.workers == 1:
        return []
    batch = min(case.config.contrast.batch, case.size.nodes)
    projections = 4.0 * batch * case.config.contrast.projection / 2
    gradients = 4.0 * num_parameters(case)
    rest = max(0.0, gradients - _FIRST_BUCKET)
    buckets = [min(gradients, _FIRST_BUCKET)]
    buckets += [rest / -(-rest // _BUCKET)] * math.ceil(rest / _BUCKET) if rest else []
    return [projections, 4.0 * batch, 4.0, projections, *buckets]


def bytes_read(case: Case, links: float) -> float:
    """By a rank in a step, of features, of what the learner sees, and of links."""
    step = Step.of(case, links)
    if case.in_memory:
        return 0.0
    width = 2 if case.config.data.dtype == "float16" else 4
    rows = (step.learner.inputs + step.anchor.inputs) * case.size.features * width
    rows += step.around * case.columns * (4 if case.sees_more else width)
    return rows + _LINK * (step.learner.edges + step.anchor.edges)
