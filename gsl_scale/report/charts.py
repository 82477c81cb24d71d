"""The charts of the page, as SVG. They show what they are given and compute nothing."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass

from gsl_scale.report.axes import Scale, plot_frame, shown, ticks
from gsl_scale.report.svg import WIDTH, add, drawing, shortened, text_of

_LEFT, _RIGHT = 44.0, WIDTH - 8
_TOP, _FLOOR, _TALL = 12.0, 178.0, 214.0
_ROW, _BAR = 42.0, 14.0


@dataclass(frozen=True)
class Bar:
    """A mean and its spread; `role` picks the colour: after, before or other."""

    name: str
    value: float
    std: float | None
    role: str
    text: str


def line_chart(
    label: str,
    steps: Sequence[float],
    values: Sequence[float],
    *,
    behind: tuple[Sequence[float], Sequence[float]] = ((), ()),
    from_zero: bool = False,
    unit: str = "",
) -> str:
    """Points over steps, joined; `behind` is a second curve, fainter."""
    drawn = drawing(_TALL, label)
    everything = [*values, *behind[1]]
    y_ticks = ticks(0.0 if from_zero else min(everything), max(everything))
    x_ticks = ticks(0, max([*steps, *behind[0]]), 5)
    x = Scale(0, max([*steps, *behind[0]]), _LEFT, _RIGHT)
    y = Scale(y_ticks[0], y_ticks[-1], _FLOOR, _TOP)
    plot_frame(drawn, y_ticks, y, _LEFT)
    _steps_below(drawn, [tick for tick in x_ticks if tick <= x.high], x)
    if len(behind[0]):
        add(drawn, "path", d=_path(behind[0], behind[1], x, y), class_="line faint")
    add(drawn, "path", d=_path(steps, values, x, y), class_="line")
    for step, value in zip(steps, values, strict=True):
        tip = f"step {step:,.0f}: {value:.3g}{unit}"
        add(drawn, "circle", "", tip, cx=x(step), cy=y(value), r=3, class_="dot")
    return text_of(drawn)


def _steps_below(drawn: ET.Element, x_ticks: list[float], x: Scale) -> None:
    for tick in x_ticks:
        side = "end" if x(tick) > _RIGHT - 12 else "middle"
        add(drawn, "text", shown(tick), x=x(tick), y=_FLOOR + 17, class_=f"tick {side}")
    add(drawn, "text", "step", x=(_LEFT + _RIGHT) / 2, y=_FLOOR + 33, class_="tick middle")


def _path(steps: Sequence[float], values: Sequence[float], x: Scale, y: Scale) -> str:
    points = (f"{x(s):.1f},{y(v):.1f}" for s, v in zip(steps, values, strict=True))
    return "M" + "L".join(points)


def bar_chart(label: str, bars: Sequence[Bar], end: float, marks: Sequence[str]) -> str:
    """Lying bars from 0 to `end`, each below its name; spread as a whisker; `marks` are the
    numbers of the axis, at even distances."""
    drawn = drawing(_ROW * len(bars) + 22, label)
    x = Scale(0, end, 1, WIDTH - 1)
    bottom = _ROW * len(bars)
    for place, mark in enumerate(marks):
        at = x(end * place / (len(marks) - 1))
        side = "start" if place == 0 else "end" if place == len(marks) - 1 else "middle"
        add(drawn, "line", x1=at, x2=at, y1=bottom, y2=bottom + 5, class_="base")
        add(drawn, "text", mark, x=at, y=bottom + 18, class_=f"tick {side}")
    for row, bar in enumerate(bars):
        top = row * _ROW
        strong = " strong" if bar.role == "after" else ""
        add(drawn, "text", shortened(bar.name, 40), x=1, y=top + 14, class_=f"name{strong}")
        add(drawn, "text", bar.text, x=WIDTH - 1, y=top + 14, class_=f"value end{strong}")
        top += 20
        add(drawn, "rect", x=1, y=top, width=WIDTH - 2, height=_BAR, rx=2, class_="track")
        wide = max(0.0, x(min(bar.value, end)) - 1)
        tip = f"{bar.name}: {bar.text}"
        add(drawn, "rect", "", tip, x=1, y=top, width=wide, height=_BAR, rx=2, class_=bar.role)
        if bar.std:
            _whisker(drawn, x, bar, top + _BAR / 2)
    return text_of(drawn)


def _whisker(drawn: ET.Element, x: Scale, bar: Bar, middle: float) -> None:
    low = x(max(0.0, bar.value - (bar.std or 0)))
    high = x(min(x.high, bar.value + (bar.std or 0)))
    for place, name in enumerate(("whisker halo", "whisker")):
        reach = 4 + (1 - place)
        path = f"M{low:.1f},{middle:.1f}H{high:.1f}" + "".join(
            f"M{end:.1f},{middle - reach:.1f}v{2 * reach}" for end in (low, high)
        )
        add(drawn, "path", d=path, class_=name)


def histogram(
    label: str,
    before: Sequence[float],
    after: Sequence[float],
    borders: Sequence[str],
    names: Sequence[str],
    what: str,
) -> str:
    """Shares in per cent: after as bars, before as an outline. Bins are equally wide; `borders`
    are the numbers below, those left empty are not written; `names` say what each bin holds."""
    drawn = drawing(_TALL, label)
    y_ticks = ticks(0, max([*before, *after, 1.0]))
    x = Scale(0, len(names), _LEFT, _RIGHT)
    y = Scale(0, y_ticks[-1], _FLOOR, _TOP)
    plot_frame(drawn, y_ticks, y, _LEFT)
    for place, share in enumerate(after):
        if share:
            tip = f"{names[place]}: {share:.1f} % after"
            wide = x(place + 1) - x(place) - 1.5
            at = {"x": x(place) + 0.75, "y": y(share), "height": _FLOOR - y(share)}
            add(drawn, "rect", "", tip, width=wide, class_="after", **at)
    if any(before):
        points = "".join(
            f"L{x(i):.1f},{y(share):.1f}H{x(i + 1):.1f}" for i, share in enumerate(before)
        )
        outline = f"M{x(0):.1f},{_FLOOR}{points}V{_FLOOR}"
        add(drawn, "path", d=outline, class_="outline")
    for place, border in enumerate(borders):
        if border:
            side = "end" if place == len(names) and len(border) > 3 else "middle"
            add(drawn, "text", border, x=x(place), y=_FLOOR + 17, class_=f"tick {side}")
    add(drawn, "text", what, x=(_LEFT + _RIGHT) / 2, y=_FLOOR + 33, class_="tick middle")
    return text_of(drawn)


def share_bar(label: str, parts: Sequence[tuple[str, int, str]]) -> str:
    """One bar cut into parts: (name, how many, class)."""
    total = sum(count for _, count, _ in parts) or 1
    drawn = drawing(20, label)
    drawn.set("preserveAspectRatio", "none")
    at = 0.0
    for name, count, role in parts:
        wide = WIDTH * count / total
        tip = f"{name}: {count:,} ({count / total:.1%})"
        add(drawn, "rect", "", tip, x=at, y=0, width=max(0.0, wide - 1), height=20, class_=role)
        at += wide
    return text_of(drawn)
