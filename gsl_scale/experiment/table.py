"""CSV, one line per cell; and the same, summed up, for a terminal."""

import csv
import io
from collections.abc import Iterable
from typing import Any

from rich.table import Table

from gsl_scale.printed import printed

Found = dict[str, Any]


def lines(dataset: str, cells: list[tuple[Found, int, dict[str, Found]]]) -> str:
    """What was varied, the seed, and accuracy by series: (shown, seed, found by series)."""
    shown, _, found = cells[0]
    heads = [
        *(name for series in found for name in (series, f"{series}, std over classifiers")),
        *(("steps", "seconds") if "learned graph" in found else ()),
    ]
    rows = []
    for shown, seed, found in cells:
        scores = [number for one in found.values() for number in (one["mean"], one["std"])]
        learned = found.get("learned graph", {})
        more = [learned[name] for name in ("steps", "seconds") if learned]
        rows.append([dataset, *shown.values(), seed, *(f"{s:.3f}" for s in scores), *more])
    return _csv([["dataset", *shown, "seed", *heads], *rows])


def curve_lines(dataset: str, watched: list[tuple[Found, int, Found]]) -> str:
    """Loss and accuracy at every refresh; step 0 is before training and has no loss."""
    rows: list[list[Any]] = [["dataset", *watched[0][0], "seed", "step", "loss", "valid", "test"]]
    for shown, seed, found in watched:
        losses = dict(found["loss"])
        for step, valid, test in found["curve"]:
            loss = f"{losses[step]:.5f}" if step in losses else ""
            rows.append([dataset, *shown.values(), seed, step, loss, f"{valid:.3f}", f"{test:.3f}"])
    return _csv(rows)


def weight_lines(dataset: str, weights: Found) -> str:
    """Every edge among the nodes of a heatmap, in each graph."""
    nodes = [(node, group["name"]) for group in weights["groups"] for node in group["nodes"]]
    rows: list[list[Any]] = [
        ["dataset", "graph", "src", "dst", "group of src", "group of dst", "weight"]
    ]
    for graph, edges in weights["graphs"].items():
        for row, column, weight in edges:
            (src, group), (dst, other) = nodes[row], nodes[column]
            rows.append([dataset, graph, src, dst, group, other, weight])
    return _csv(rows)


def _csv(rows: Iterable[list[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def shown_value(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float | int) else str(value)


def plus_minus(score: Found) -> str:
    return f"{score['mean']:.1f} ± {score['std']:.1f}"


def spread(summary: Found) -> str:
    """What ± stands for."""
    if summary["seeds"] > 1:
        return f"± is the standard deviation over {summary['seeds']} trainings."
    return "One training each; ± is the standard deviation over classifiers."


def print_summary(summary: Found) -> None:
    out = printed()
    out.print(f"{summary['title']}, {summary['dataset']}", markup=False)
    if rows := summary.get("rows"):
        paper = any("paper" in row for row in rows)
        heads = [*summary["columns"], *summary["series"], *(["paper"] if paper else [])]
        table = Table(*heads, box=None, pad_edge=False)
        for row in rows:
            cells = [shown_value(row[name]) for name in summary["columns"]]
            cells += [plus_minus(row[series]) for series in summary["series"]]
            table.add_row(*cells, *([shown_value(row.get("paper", ""))] if paper else []))
        out.print(table)
        out.print(spread(summary), markup=False)
    for file in summary["files"]:
        out.print(f"  {file}", markup=False)
