"""Measured points as SVG files that stand on their own: lines, spreads, two logarithmic axes."""

import itertools
import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass

from gsl_scale.report.axes import Scale, shown
from gsl_scale.report.svg import WIDTH, add, drawing, text_of

_HEIGHT, _LEFT, _RIGHT, _TOP, _FLOOR = 300.0, 56.0, WIDTH - 110, 40.0, 246.0
_COLOURS = (
    "#0068a8", "#b35300", "#00734f", "#7d3c98", "#566171", "#c2185b", "#8a6d00", "#12a5b5",
)  # fmt: skip
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#1b2430}.title{font-size:14px;font-weight:600}"
    ".tick{fill:#566171;font-size:11px}.middle{text-anchor:middle}.end{text-anchor:end}"
    ".grid{stroke:#dcdfe4}.base{stroke:#7d8896}.ideal{fill:none;stroke:#7d8896;"
    "stroke-dasharray:4 3}.paper{fill:#fff}"
)


@dataclass(frozen=True)
class Line:
    """Medians over what was varied, with the least and the most of the repeats."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    ideal: bool = False  # not measured: what would be best


def log_plot(title: str, x_label: str, y_label: str, lines: Sequence[Line]) -> str:
    """Both axes logarithmic, so that a power of n is a straight line."""
    drawn = drawing(_HEIGHT, f"{title}: {y_label} over {x_label}")
    drawn.set("xmlns", "http://www.w3.org/2000/svg")
    add(drawn, "style", _STYLE)
    add(drawn, "rect", x=0, y=0, width=WIDTH, height=_HEIGHT, class_="paper")
    add(drawn, "text", title, x=8, y=18, class_="title")
    xs = [x for line in lines for x in line.x]
    ys = [y for line in lines for y in (*line.y, *line.low, *line.high) if y > 0]
    x = _axis(min(xs), max(xs), _LEFT, _RIGHT)
    y = _axis(min(ys), max(ys), _FLOOR, _TOP)
    for tick in _ticks(y):
        at = y(math.log10(tick))
        add(drawn, "line", x1=_LEFT, x2=_RIGHT, y1=at, y2=at, class_="grid")
        add(drawn, "text", shown(tick), x=_LEFT - 5, y=at + 4, class_="tick end")
    for tick in sorted(set(xs)):
        at = x(math.log10(tick))
        add(drawn, "line", x1=at, x2=at, y1=_FLOOR, y2=_FLOOR + 4, class_="base")
        add(drawn, "text", shown(tick), x=at, y=_FLOOR + 17, class_="tick middle")
    add(drawn, "line", x1=_LEFT, x2=_RIGHT, y1=_FLOOR, y2=_FLOOR, class_="base")
    add(drawn, "text", x_label, x=(_LEFT + _RIGHT) / 2, y=_FLOOR + 36, class_="tick middle")
    add(drawn, "text", y_label, x=8, y=_TOP - 6, class_="tick")
    used: list[float] = []
    coloured = zip(lines, itertools.cycle(_COLOURS), strict=False)
    # The highest first, so that names are in the order of the lines' ends.
    for line, colour in sorted(coloured, key=lambda pair: -pair[0].y[-1]):
        _draw(drawn, line, colour, x, y, used)
    return text_of(drawn)


def _draw(
    drawn: ET.Element, line: Line, colour: str, x: Scale, y: Scale, used: list[float]
) -> None:
    places = [
        (x(math.log10(a)), y(math.log10(b))) for a, b in zip(line.x, line.y, strict=True) if b > 0
    ]
    if not places:
        return
    path = "M" + "L".join(f"{a:.1f},{b:.1f}" for a, b in places)
    if line.ideal:
        add(drawn, "path", d=path, class_="ideal")
    else:
        add(drawn, "path", d=path, fill="none", stroke=colour, stroke_width=2)
    for (a, _), low, high in zip(places, line.low, line.high, strict=False):
        if low > 0:
            ends = y(math.log10(low)), y(math.log10(high))
            add(drawn, "line", x1=a, x2=a, y1=ends[0], y2=ends[1], stroke=colour, stroke_width=1.5)
    for (a, b), value in zip(places, line.y, strict=False):
        if not line.ideal:
            add(drawn, "circle", "", f"{line.name}: {value:.3g}", cx=a, cy=b, r=3, fill=colour)
    at = places[-1][1]
    while any(abs(at - other) < 13 for other in used):  # names do not lie on each other
        at += 3
    used.append(at)
    fill = "#7d8896" if line.ideal else colour
    add(drawn, "text", line.name, x=places[-1][0] + 8, y=at + 4, fill=fill, style=f"fill:{fill}")


def _axis(low: float, high: float, at: float, to: float) -> Scale:
    """Of logarithms; never without extent."""
    if high <= low * 1.001:
        low, high = low / 2, high * 2
    return Scale(math.log10(low), math.log10(high), at, to)


def _ticks(scale: Scale) -> list[float]:
    """1, 2, 5, 10, ... within; only powers of ten where those are many."""
    steps = (1, 2, 5) if scale.high - scale.low < 2 else (1,)
    powers = range(math.floor(scale.low), math.ceil(scale.high) + 1)
    found = [m * 10.0**p for p in powers for m in steps]
    return [one for one in found if scale.low - 1e-9 <= math.log10(one) <= scale.high + 1e-9]
