"""What `gsl-scale bench scaling` writes beside its JSON: tables in Markdown, and plots."""

from pathlib import Path
from typing import Any

import numpy as np

from gsl_scale.bench.plots import Line, log_plot
from gsl_scale.bench.scaling import CLASSIFIER
from gsl_scale.plan.fit import MIXED
from gsl_scale.plan.render import amount, duration, markdown

_STAGES = ("ingest", "knn", "prepare", "step", "refresh", "anchor", "export", "evaluate")
_MEMORY = {
    "memory of training": ("rank.memory", "train.memory"),
    "memory of the evaluation": ("evaluate.memory",),
}
_VARIED = {
    "strong": "workers, the same graph",
    "weak": "workers, each with as many nodes and seeds",
    "nodes": "nodes",
    "neighbours": "neighbours (k)",
    "columns": "columns (d)",
    CLASSIFIER: "hidden units of the evaluation's GCNs",
}

Points = list[dict[str, Any]]


def write_report(result: dict[str, Any], out: Path) -> list[Path]:
    """`scaling.md` and a plot for each series; where they lie."""
    paths = []
    lines = [_head(result["about"])]
    for series, what in _VARIED.items():
        points = [point for point in result["points"] if point["series"] == series]
        if not points:
            continue
        path = out / f"scaling-{series}.svg"
        path.write_text(_plot(series, what, points), encoding="utf-8")
        paths.append(path)
        lines += [f"\n## {series}: over {what}\n", f"![{series}]({path.name})\n"]
        lines.append(_table(series, points))
        if line := _exponents(points):
            lines.append(f"{line}\n")
    mixtures = [point for point in result["points"] if point["series"] == MIXED]
    if mixtures:
        lines += ["\n## mixed: all at once, which no plan is fitted to\n", _mixed(mixtures)]
    (out / "scaling.md").write_text("\n".join(lines), encoding="utf-8")
    return [out / "scaling.md", *paths]


def _head(about: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    return (
        f"# Scaling\n\n{about['machine']}; commit {about['commit']}; {about['measured']}; "
        f"{about['threads']} thread(s) per worker, {about['steps']} steps, median of "
        f"{about['repeats']} (least to most). {versions}. The config of every point is in "
        "`scaling.json`."
    )


def exponent(points: Points, quantity: str) -> float | None:
    """The power of what was varied that the quantity grows with."""
    at = [float(point["at"]) for point in points]
    values = [point["median"].get(quantity, 0.0) for point in points]
    if len(points) < 2 or min(values) <= 0:
        return None
    return float(np.polyfit(np.log(at), np.log(values), 1)[0])


def efficiency(series: str, points: Points) -> list[float]:
    """Of the steps, against the fewest workers: strong, their time should fall; weak, stay."""
    first = points[0]
    found = []
    for point in points:
        faster = first["median"]["step.seconds"] / point["median"]["step.seconds"]
        more = point["at"] / first["at"] if series == "strong" else 1.0
        found.append(faster / more)
    return found


def _table(series: str, points: Points) -> str:
    heads, costs = _costs(points)
    rows = [[f"{point['at']:,}", *row] for point, row in zip(points, costs, strict=True)]
    if series in ("strong", "weak"):
        heads += ["seeds per second", "efficiency"]
        for row, point, share in zip(rows, points, efficiency(series, points), strict=True):
            row += [f"{_speed(point, 'median'):,.0f}", f"{share:.0%}"]
    return markdown(["at", *heads], rows)


def _mixed(points: Points) -> str:
    heads, costs = _costs(points)
    rows = []
    for point, row in zip(points, costs, strict=True):
        config, size = point["config"], point["size"]
        settings = (config["knn"]["k"], config["contrast"]["batch"], config["run"]["workers"])
        numbers = (size["nodes"], size["features"], *settings)
        rows.append([*(f"{number:,}" for number in numbers), *row])
    return markdown(["nodes", "columns", "k", "seeds", "workers", *heads], rows)


def _costs(points: Points) -> tuple[list[str], list[list[str]]]:
    """Of every quantity that any of the points has: its name, and a cell of each."""
    named = {stage: (f"{stage}.seconds",) for stage in _STAGES} | _MEMORY
    wanted = {
        name: quantities
        for name, quantities in named.items()
        if any(quantity in point["median"] for quantity in quantities for point in points)
    }
    rows = [[_cell(point, quantities) for quantities in wanted.values()] for point in points]
    return list(wanted), rows


def _cell(point: dict[str, Any], quantities: tuple[str, ...]) -> str:
    """Of the first of them that was measured."""
    for quantity in quantities:
        if quantity in point["median"]:
            value, (low, high) = point["median"][quantity], point["spread"][quantity]
            if quantity.endswith(".seconds"):
                return f"{duration(value)} ({duration(low)} to {duration(high)})"
            return amount(quantity, value)
    return "–"


def _exponents(points: Points) -> str:
    told = []
    for stage in _STAGES:
        power = exponent(points, f"{stage}.seconds")
        if power is not None and points[0]["series"] not in ("strong", "weak"):
            told.append(f"{stage} {power:.2f}")
    if not told:
        return ""
    if points[0]["series"] != CLASSIFIER:
        trained = [{"at": one["at"], "median": {"train": _training(one)}} for one in points]
        told.append(f"training as a whole {exponent(trained, 'train'):.2f}")
    return f"Times grow with the power of: {', '.join(told)}."


def _training(point: dict[str, Any]) -> float:
    """Seconds of the stage: one round, with one refresh and one update of the anchor."""
    found, steps = point["median"], point["config"]["train"]["steps"]
    once = sum(found[f"{part}.seconds"] for part in ("prepare", "refresh", "anchor"))
    return float(once + steps * found["step.seconds"])


def _plot(series: str, what: str, points: Points) -> str:
    at = [float(point["at"]) for point in points]
    if series in ("strong", "weak"):
        speed = [_speed(point, "median") for point in points]
        spread = [sorted(_speeds(point)) for point in points]
        low, high = ([pair[place] for pair in spread] for place in (0, 1))
        lines = [Line("measured", at, speed, low, high)]
        ideal = [speed[0] * number / at[0] for number in at]
        lines.append(Line("ideal", at, ideal, ideal=True))
        return log_plot(f"{series} scaling", what, "seeds per second", lines)
    lines = []
    for stage in _STAGES:
        name = f"{stage}.seconds"
        if not all(name in point["median"] for point in points):
            continue
        low, high = ([point["spread"][name][end] for point in points] for end in (0, 1))
        lines.append(Line(stage, at, [point["median"][name] for point in points], low, high))
    return log_plot(f"time over {what}", what, "seconds", lines)


def _speed(point: dict[str, Any], which: str) -> float:
    return float(point["facts"]["batch"] / point[which]["step.seconds"])


def _speeds(point: dict[str, Any]) -> list[float]:
    return [point["facts"]["batch"] / one for one in point["spread"]["step.seconds"]]
