"""The plots, in the paper's form, as SVG: panels for the page, and all of them in one file."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gsl_scale.experiment.table import shown_value
from gsl_scale.report.axes import Scale, plot_frame, shown, ticks
from gsl_scale.report.heatmap import Grid, cut
from gsl_scale.report.svg import WIDTH, add, drawing, number, text_of

Panel = tuple[str, str]  # caption and drawing
_LEFT, _RIGHT, _TOP, _FLOOR = 44.0, WIDTH - 12, 12.0, 190.0
_LEGEND, _GAP, _CAPTION = 19.0, 40.0, 26.0
_KINDS = 6  # of lines (series.css)
_AXES = {"tau": "τ", "drop": "share of edges dropped", "k": "neighbours k", "rate": "rate"}
_DAMAGE = {"delete": "Edges deleted", "add": "Edges added"}


@dataclass(frozen=True)
class Line:
    name: str
    points: list[tuple[float, float]]
    spread: list[float] = field(default_factory=list)


def panels(summary: dict[str, Any]) -> list[Panel]:
    """All drawings of an experiment."""
    if summary["experiment"] == "heatmap":
        return _weight_panels(summary["weights"])
    if summary["experiment"] == "features-mask":
        return [("Test accuracy, %: learner view (rows), anchor view (columns)", _grid(summary))]
    if summary["experiment"] == "robustness":
        return [
            (f"{caption}: test accuracy, %", _rows_plot(summary, "rate", rows, caption))
            for damage, caption in _DAMAGE.items()
            for rows in [[row for row in summary["rows"] if row["damage"] == damage]]
        ]
    column = summary["columns"][0]
    even = column == "tau"
    found = [("Test accuracy, %", _rows_plot(summary, column, summary["rows"], even=even))]
    for what, caption in (("test", "Test accuracy by step, %"), ("loss", "Loss by step (NT-Xent)")):
        lines = [
            Line(f"{_AXES[column]} = {shown_value(curve[column])}", curve[what])
            for curve in summary.get("curves", [])
            if curve[what]
        ]
        if lines:
            found.append((caption, line_plot(f"{caption}, {summary['dataset']}", lines, "step")))
    return found


def _rows_plot(
    summary: dict[str, Any],
    column: str,
    rows: list[dict[str, Any]],
    caption: str = "Test accuracy",
    even: bool = False,
) -> str:
    """A line per series over what was varied; `even` puts values at even distances."""
    places = [float(at) if even else float(row[column]) for at, row in enumerate(rows)]
    lines = [
        Line(
            series,
            [(x, row[series]["mean"]) for x, row in zip(places, rows, strict=True)],
            [row[series]["std"] for row in rows],
        )
        for series in summary["series"]
    ]
    paper = [(x, row["paper"]) for x, row in zip(places, rows, strict=True) if "paper" in row]
    if paper:
        lines.append(Line("paper", paper))
    names = [shown_value(row[column]) for row in rows] if even else None
    label = f"{caption}, {summary['dataset']}. " + " ".join(
        f"{line.name}: {', '.join(f'{y:.1f}' for _, y in line.points)}." for line in lines
    )
    return line_plot(label, lines, _AXES[column], names)


def line_plot(
    label: str, lines: Sequence[Line], x_name: str, names: Sequence[str] | None = None
) -> str:
    """Lines with whiskers and a legend; `names` are written at 0, 1, ... in place of numbers."""
    drawn = drawing(_FLOOR + 40 + _LEGEND * ((len(lines) + 1) // 2), label)
    spreads = [(y, s) for line in lines for (_, y), s in _with_spread(line)]
    low, high = min(y - s for y, s in spreads), max(y + s for y, s in spreads)
    y_ticks = ticks(low, high) if high > low else ticks(low - 1, high + 1)
    xs = [x for line in lines for x, _ in line.points]
    x = Scale(min(xs), max(xs), _LEFT + 8, _RIGHT - 8)
    y = Scale(y_ticks[0], y_ticks[-1], _FLOOR, _TOP)
    plot_frame(drawn, y_ticks, y, _LEFT)
    marks = ticks(x.low, x.high, 5)
    below = [(tick, shown(tick)) for tick in marks if x.low <= tick <= x.high]
    if names:
        below = [(float(at), name) for at, name in enumerate(names)]
    for tick, name in below:
        add(drawn, "text", name, x=x(tick), y=_FLOOR + 17, class_="tick middle")
    add(drawn, "text", x_name, x=(_LEFT + _RIGHT) / 2, y=_FLOOR + 33, class_="tick middle")
    for kind, line in enumerate(lines):
        _draw_line(drawn, line, f"s{kind % _KINDS}", x, y, names)
        _legend(drawn, line.name, f"s{kind % _KINDS}", kind)
    return text_of(drawn)


def _with_spread(line: Line) -> list[tuple[tuple[float, float], float]]:
    return list(zip(line.points, line.spread or [0.0] * len(line.points), strict=True))


def _draw_line(
    drawn: ET.Element, line: Line, kind: str, x: Scale, y: Scale, names: Sequence[str] | None
) -> None:
    path = "M" + "L".join(f"{x(a):.1f},{y(b):.1f}" for a, b in line.points)
    add(drawn, "path", d=path, class_=f"series {kind}")
    for (a, b), spread in _with_spread(line):
        if spread:
            whisker = f"M{x(a):.1f},{y(b - spread):.1f}V{y(b + spread):.1f}"
            add(drawn, "path", d=whisker, class_=f"spread {kind}")
        at = names[int(a)] if names else shown_value(a)
        tip = f"{line.name}, {at}: {b:.4g}" + (f" ± {spread:.2g}" if spread else "")
        add(drawn, "circle", "", tip, cx=x(a), cy=y(b), r=2.6, class_=f"mark {kind}")


def _legend(drawn: ET.Element, name: str, kind: str, place: int) -> None:
    left = _LEFT + (place % 2) * (_RIGHT - _LEFT) / 2
    middle = _FLOOR + 46 + (place // 2) * _LEGEND
    add(drawn, "path", d=f"M{left:.1f},{middle:.1f}h26", class_=f"series {kind}")
    add(drawn, "text", name, x=left + 32, y=middle + 4, class_="tick start")


def _grid(summary: dict[str, Any]) -> str:
    """Accuracy as a square of shades, from the lowest to the highest."""
    values = list(dict.fromkeys(row["learner"] for row in summary["rows"]))
    means = [row["learned graph"]["mean"] for row in summary["rows"]]
    low, high = min(means), max(means)
    label = f"Test accuracy by masking rates, {summary['dataset']}: {low:.1f} to {high:.1f}"
    grid = Grid.of([shown_value(value) for value in values], len(values), label)
    drawn = grid.drawing()
    for at in range(len(values)):
        grid.write_name(drawn, at, at + 0.5)
    for row in summary["rows"]:
        down, across = values.index(row["learner"]), values.index(row["anchor"])
        mean = row["learned graph"]["mean"]
        share = (mean - low) / (high - low) if high > low else 0.5
        tip = f"learner {row['learner']:g}, anchor {row['anchor']:g}: {mean:.1f}"
        grid.shade(drawn, down, across, 0.08 + 0.87 * share, tip)
        place = {
            "x": grid.left + (across + 0.5) * grid.size,
            "y": grid.top + (down + 0.5) * grid.size + 4,
        }
        strong = " on" if share > 0.5 else ""
        add(drawn, "text", f"{mean:.1f}", class_=f"cell middle{strong}", **place)
    return text_of(drawn)


def _weight_panels(weights: dict[str, Any]) -> list[Panel]:
    sizes = [len(group["nodes"]) for group in weights["groups"]]
    names = [group["name"] for group in weights["groups"]]
    found = []
    for graph, edges in weights["graphs"].items():
        grid = Grid.of(names, sum(sizes), f"Weights between {sum(sizes)} nodes, {graph}")
        drawn = grid.drawing()
        heaviest = max((weight for _, _, weight in edges), default=1.0)
        for row, column, weight in edges:
            shade = 0.12 + 0.88 * weight / heaviest
            grid.shade(drawn, row, column, shade, f"weight {weight:.3g}")
        at = 0
        for group, size in enumerate(sizes):
            grid.write_name(drawn, group, at + size / 2)
            at += size
            if at < sum(sizes):
                cut(drawn, grid, at)
        found.append((graph, text_of(drawn)))
    return found


def figure(title: str, drawn: Sequence[Panel]) -> str:
    """Panels side by side as a file of its own, in colours of its own."""
    parsed = [(caption, ET.fromstring(panel)) for caption, panel in drawn]
    sizes = [tuple(map(float, str(one.get("viewBox")).split()))[2:] for _, one in parsed]
    wide = sum(width for width, _ in sizes) + _GAP * (len(sizes) + 1)
    tall = max(height for _, height in sizes) + _CAPTION + _GAP
    outer = drawing(tall, title, wide)
    outer.set("xmlns", "http://www.w3.org/2000/svg")
    outer.set("width", number(wide))
    outer.set("height", number(tall))
    ET.SubElement(outer, "style").text = style()
    add(outer, "rect", width=wide, height=tall, fill="var(--paper)")
    left = _GAP
    for (caption, panel), (width, height) in zip(parsed, sizes, strict=True):
        add(outer, "text", caption, x=left, y=_GAP / 2 + 6, class_="name strong")
        for name, value in {
            "x": left, "y": _CAPTION + _GAP / 2, "width": width, "height": height,
        }.items():  # fmt: skip
            panel.set(name, number(value))
        outer.append(panel)
        left += width + _GAP
    return text_of(outer)


def style() -> str:
    """The colours of the page and what it says about drawings."""
    here = Path(__file__).parent
    page = (here.parent / "report" / "page.css").read_text(encoding="utf-8")
    colours = page[: page.index("* {")]
    drawings = [line for line in page.splitlines() if line.startswith(("svg .", "svg text"))]
    font = "svg { font-family: system-ui, sans-serif; }"
    own = (here / "series.css").read_text(encoding="utf-8")
    return "\n".join([colours, font, *drawings, own])
