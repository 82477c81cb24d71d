"""Degrees and weights, before and after, in bins both share."""

import numpy as np
import numpy.typing as npt

from gsl_scale.report.axes import shown
from gsl_scale.report.change import BINS, Change, Side
from gsl_scale.report.charts import histogram

Ids = npt.NDArray[np.int64]
_MOST_BINS = 20
_SKEWED = 12  # times the usual degree; from there on bins grow with the degree


def degree_chart(change: Change, name_before: str) -> str:
    degrees = change.before.degree, change.after.degree
    borders = degree_borders(*degrees)
    before, after = (_shares(np.histogram(each, borders)[0]) for each in degrees)
    names = [
        f"{low:,} neighbours" if high - low == 1 else f"{low:,} to {high - 1:,} neighbours"
        for low, high in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True)
    ]
    label = (
        f"Neighbours per node. {name_before}: {_middle(degrees[0])}. "
        f"Learned graph: {_middle(degrees[1])}."
    )
    return histogram(label, before, after, _sparse(borders.tolist()), names, "neighbours per node")


def degree_borders(*degrees: Ids) -> Ids:
    """Whole numbers. Equal steps, unless some node has many times the usual degree."""
    most = max(int(each.max(initial=0)) for each in degrees)
    usual = max(1.0, float(max(np.median(each) for each in degrees)))
    if most <= _SKEWED * usual or most < _MOST_BINS:
        step = max(1, -(-(most + 1) // _MOST_BINS))
        return np.arange(0, most + step + 1, step)[: (most // step) + 2]
    grown = [0, 1, 2, 3, 4]
    while grown[-1] <= most:
        grown.append(max(grown[-1] + 1, round(grown[-1] * 2**0.5)))
    return np.array(grown)


def weight_chart(change: Change, name_before: str) -> str:
    before = change.before
    scaled = "weight, of the largest" if before.largest_weight > 1 else "weight"
    shares = [0.0] * BINS if before.one_weight else _shares(before.weights)
    borders = [shown(i / BINS) if i % 5 == 0 else "" for i in range(BINS + 1)]
    names = [f"{scaled} {i / BINS:g} to {(i + 1) / BINS:g}" for i in range(BINS)]
    label = f"Weights of edges, {name_before} and learned graph."
    return histogram(label, shares, _shares(change.after.weights), borders, names, scaled)


def weight_note(side: Side, name: str) -> str:
    """What the chart cannot show."""
    if not side.edges:
        return f"The {name} has no edges."
    if side.one_weight:
        return f"All edges of the {name} weigh {side.largest_weight:g}; not drawn."
    if side.largest_weight > 1:
        return f"Weights of the {name} are divided by their largest, {side.largest_weight:.4g}."
    return "An edge that is among the nearest of only one of its two nodes counts half."


def _shares(counts: Ids) -> list[float]:
    total = max(1, int(counts.sum()))
    return [100 * count / total for count in counts.tolist()]


def _middle(degree: Ids) -> str:
    return f"{degree.mean():.1f} on average, {int(degree.max(initial=0)):,} at most"


def _sparse(borders: list[int]) -> list[str]:
    """At most about seven numbers below the axis."""
    every = max(1, -(-len(borders) // 7))
    return [shown(b) if place % every == 0 else "" for place, b in enumerate(borders)]
