"""Costs from measured runs, by non-negative least squares on relative errors. Bytes that a process
has to hold count at least once in its memory.

Of every series of three points or more the largest is held out, because a plan is for what is
larger than anything measured; and so is the whole series of mixtures. Kinds of work that no fitted
point has keep no cost, and what needs them is not predicted.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear

from gsl_scale.config_file import make_config
from gsl_scale.errors import InputError
from gsl_scale.plan.coefficients import Coefficients
from gsl_scale.plan.forecast import rounds
from gsl_scale.plan.size import Case, Size
from gsl_scale.plan.work import Amounts, amounts, encoding, links_amounts

MIXED = "mixed"  # the series that is not fitted
_FLOORS = {"largest": 1.0, "nodes": 1.0}  # least costs; of other kinds of work 0
# Most costs: no process holds more than 40 numbers of 8 bytes for every node beside its rows. Where
# all points have as many nodes, nothing else tells them from what a process has anyway.
_CEILINGS = {"nodes": 40.0}
_LEAST = 3  # points of a series from which one may be spared
_LONG_STEPS, _LONG_NODES = 20, 200_000  # below, what was measured is a trial


@dataclass(frozen=True)
class Point:
    """A configuration that was measured, and the median of each quantity."""

    name: str
    case: Case
    measured: dict[str, float]
    held_out: bool


def read_points(body: dict[str, Any]) -> list[Point]:
    """Of a JSON that `gsl-scale bench scaling` wrote."""
    held = _held_out(body["points"])
    points = []
    for number, one in enumerate(body["points"]):
        case = Case(Size(**one["size"]), make_config(one["config"], file="measured run"))
        points.append(Point(one["name"], case, one["median"], number in held))
    return points


def _held_out(points: list[dict[str, Any]]) -> set[int]:
    held = set()
    for series in {one["series"] for one in points}:
        within = [number for number, one in enumerate(points) if one["series"] == series]
        if series == MIXED:
            held.update(within)
        elif len(within) >= _LEAST:
            held.add(max(within, key=lambda number: float(points[number]["at"])))
    return held


def load_runs(path: Path) -> dict[str, Any]:
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        read_points(body)
        if not body["points"]:
            raise ValueError("no points")
        found: dict[str, Any] = body
        return found
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} holds no measured runs ({type(error).__name__}: {error}).",
            next_step="Measure first: gsl-scale bench scaling --out DIR; then give "
            "DIR/scaling.json",
        ) from None


def fit(body: dict[str, Any]) -> tuple[Coefficients, list[dict[str, Any]]]:
    """The coefficients, and every point as it was measured and as they predict it."""
    points = read_points(body)
    used = [point for point in points if not point.held_out]
    costs = {"graph.rows": _solve("graph.rows", [(p, links_amounts(p.case)) for p in used])}
    first = _made(costs, body, points)
    worked = [(point, amounts(point.case, first.links(point.case))) for point in used]
    for quantity in worked[0][1]:
        if any(quantity in point.measured for point in used):
            costs[quantity] = _solve(quantity, worked)
    found = _made(costs, body, points)
    return found, [row for point in points for row in compared(found, point)]


def _made(
    costs: dict[str, dict[str, float]], body: dict[str, Any], points: list[Point]
) -> Coefficients:
    trained = [point.case for point in points if "step.seconds" in point.measured]
    largest = {
        "nodes": max((case.size.nodes for case in trained), default=0),
        "features": max((case.size.features for case in trained), default=0),
        "workers": max((case.workers for case in trained), default=0),
    }
    about = body["about"]
    short = about["steps"] < _LONG_STEPS or largest["nodes"] < _LONG_NODES
    return Coefficients(
        costs=costs,
        jitter=body["jitter"],
        threads=about["threads"],
        provisional=short or about["repeats"] < 3,
        about=about,
        largest=largest,
    )


def _solve(quantity: str, points: list[tuple[Point, dict[str, Amounts]]]) -> dict[str, float]:
    """Costs that are not negative; each point counts by its relative error."""
    rows, terms = [], list(points[0][1][quantity])
    for point, work in points:
        value = point.measured.get(quantity)
        if quantity == "prepare.seconds" and encoding(point.case):
            continue  # measured together with an encoder's training
        if value is not None and value > 0:
            rows.append([work[quantity][term] / value for term in terms])
    if not rows:
        return {}
    matrix = np.array(rows)
    unit = matrix.max(axis=0)  # so that seconds per number and per run are of one size
    unit[unit == 0] = 1.0
    floors = np.array([_FLOORS.get(term, 0.0) for term in terms]) * unit
    ceilings = np.array([_CEILINGS.get(term, np.inf) for term in terms]) * unit
    bounds = (floors, ceilings)
    found = lsq_linear(matrix / unit, np.ones(len(matrix)), bounds, method="bvls").x
    return {
        term: float(cost)
        for term, cost, column in zip(terms, found / unit, matrix.T, strict=True)
        if column.any()
    }


def compared(coefficients: Coefficients, point: Point) -> list[dict[str, Any]]:
    """A row per quantity: measured, predicted, and the error of the prediction."""
    predicted = _with_whole(point.case, coefficients.predict(point.case))
    return [
        {
            "point": point.name,
            "quantity": quantity,
            "measured": value,
            "predicted": predicted[quantity],
            "error": predicted[quantity] / value - 1.0,
            "held_out": point.held_out,
        }
        for quantity, value in _with_whole(point.case, point.measured).items()
        if quantity in predicted and value > 0
    ]


def _with_whole(case: Case, found: dict[str, float]) -> dict[str, float]:
    """Also what the whole run takes, without its evaluation: time, and the most memory of a
    process. Only where every stage is known."""
    refreshes, blends = rounds(case)
    times = {"step": case.config.train.steps, "refresh": refreshes, "anchor": blends}
    times |= dict.fromkeys(("ingest", "knn", "prepare", "export"), 1)
    # Of workers, memory is measured in training only.
    stages = ("ingest", "rank") if case.config.run.workers else ("ingest", "knn", "train", "export")
    whole = dict(found)
    if all(f"{part}.seconds" in found for part in times):
        whole["run.seconds"] = sum(
            number * found[f"{part}.seconds"] for part, number in times.items()
        )
    if all(f"{stage}.memory" in found for stage in stages):
        whole["run.memory"] = max(found[f"{stage}.memory"] for stage in stages)
    return whole
