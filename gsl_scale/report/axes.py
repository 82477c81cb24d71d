"""Scales and ticks."""

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass

from gsl_scale.report.svg import WIDTH, add


@dataclass(frozen=True)
class Scale:
    """Values low .. high onto places at .. to."""

    low: float
    high: float
    at: float
    to: float

    def __call__(self, value: float) -> float:
        span = self.high - self.low
        return self.at + (self.to - self.at) * ((value - self.low) / span if span else 0.5)


def ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers from below `low` to above `high`."""
    if high <= low:
        high = low + (abs(low) or 1.0)
    raw = (high - low) / about
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(m * magnitude for m in (1, 2, 2.5, 5, 10) if m * magnitude >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [i * step for i in range(first, last + 1)]


def shown(value: float) -> str:
    """A tick in as few digits as it needs."""
    if value and abs(value) < 0.001:
        return f"{value:.0e}"
    if abs(value) >= 1_000_000:
        return f"{value / 1e6:g} M"
    if abs(value) >= 10_000:
        return f"{value / 1e3:g} k"
    return f"{round(value, 6):g}"


def plot_frame(
    drawn: ET.Element, y_ticks: list[float], y: Scale, left: float, right: float = WIDTH - 8
) -> None:
    """Lines across with their numbers, and a base."""
    for tick in y_ticks:
        base = "base" if tick == y_ticks[0] else "grid"
        add(drawn, "line", x1=left, x2=right, y1=y(tick), y2=y(tick), class_=base)
        add(drawn, "text", shown(tick), x=left - 6, y=y(tick) + 4, class_="tick end")
