"""Adjacency as heatmaps, before and after: groups against groups, and, as in the paper's figure,
some nodes of a few groups against each other."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gsl_scale.report.change import Change, Side, rows_of
from gsl_scale.report.groups import Groups
from gsl_scale.report.svg import WIDTH, add, drawing, shortened, text_of
from gsl_scale.store.edges import EdgeTable

_NODE_GROUPS, _NODES_EACH = 3, 16
_LETTER, _LENGTH = 7.0, 12  # width of a letter, and how many of them a name may have


@dataclass(frozen=True)
class Grid:
    """A square of equal cells, with room for names at its left and above."""

    names: list[str]
    cells: int
    label: str

    @property
    def left(self) -> float:
        return 10 + _LETTER * max(map(len, self.names))

    @property
    def slanted(self) -> bool:
        return max(map(len, self.names)) > 3

    @property
    def top(self) -> float:
        return 12 + 0.77 * (self.left - 10) if self.slanted else 18

    @property
    def size(self) -> float:
        """Of a cell; slanted names need some room at the right, too."""
        return (WIDTH - self.left - (0.4 * self.left if self.slanted else 1)) / self.cells

    @classmethod
    def of(cls, names: Sequence[str], cells: int, label: str) -> "Grid":
        return cls([shortened(name, _LENGTH) for name in names], cells, label)

    def drawing(self) -> ET.Element:
        drawn = drawing(self.top + self.size * self.cells + 1, self.label)
        side = {"width": self.size * self.cells, "height": self.size * self.cells}
        add(drawn, "rect", x=self.left, y=self.top, class_="empty", **side)
        return drawn

    def write_name(self, drawn: ET.Element, group: int, middle: float) -> None:
        """At the left and above, at a place counted in cells."""
        name, across = self.names[group], self.left + middle * self.size
        down = self.top + middle * self.size + 4
        add(drawn, "text", name, x=self.left - 6, y=down, class_="tick end")
        if self.slanted:
            turned = f"rotate(-50 {across:.1f} {self.top - 5:.1f})"
            at = {"x": across, "y": self.top - 5}
            add(drawn, "text", name, transform=turned, class_="tick start", **at)
        else:
            add(drawn, "text", name, x=across, y=self.top - 6, class_="tick middle")

    def shade(self, drawn: ET.Element, row: int, column: int, shade: float, tip: str) -> None:
        at = {"x": self.left + column * self.size, "y": self.top + row * self.size}
        side = {"width": self.size - 0.6, "height": self.size - 0.6}
        add(drawn, "rect", "", tip, class_="heat", fill_opacity=shade, **at, **side)


def group_map(label: str, side: Side, names: Sequence[str]) -> str:
    """Where the edge weight of each group (row) goes, in per cent; rows sum to 100."""
    assert side.between is not None
    num = len(names)
    between = side.between[:num, :num]
    total = side.between.sum(axis=1, keepdims=True)[:num]
    share = np.divide(between, total, out=np.zeros_like(between), where=total > 0)
    grid = Grid.of(names, num, label)
    drawn = grid.drawing()
    for row, name in enumerate(names):
        grid.write_name(drawn, row, row + 0.5)
        for column, other in enumerate(names):
            value = float(share[row, column])
            if value < 0.005:
                continue
            grid.shade(drawn, row, column, value, f"{name} → {other}: {value:.1%}")
            at = {
                "x": grid.left + (column + 0.5) * grid.size,
                "y": grid.top + (row + 0.5) * grid.size + 4,
            }
            strong = " on" if value > 0.55 else ""
            add(drawn, "text", f"{100 * value:.0f}", class_=f"cell middle{strong}", **at)
    return text_of(drawn)


def pick_nodes(before: EdgeTable, change: Change, groups: Groups) -> list[npt.NDArray[np.int64]]:
    """Of each of the largest groups, the node with most edges before, its heaviest neighbours of
    the same group, and then those with most edges. Nodes drawn at random would hardly be joined
    in either graph, and this choice does not favour the learned one."""
    sizes = np.bincount(groups.of[groups.of >= 0], minlength=len(groups.names))
    largest = np.argsort(-sizes, kind="stable")[:_NODE_GROUPS]
    picked = []
    for group in sorted(largest[sizes[largest] > 0]):
        members = np.flatnonzero(groups.of == group)
        order = members[np.argsort(-change.before.degree[members], kind="stable")]
        around = rows_of(before, order[:1])
        near = around.dst[np.argsort(-around.weight, kind="stable")]
        near = near[groups.of[near] == group]
        chosen = list(
            dict.fromkeys([*order[:1].tolist(), *near.tolist(), *order[:_NODES_EACH].tolist()])
        )
        picked.append(np.sort(np.array(chosen[:_NODES_EACH], np.int64)))
    return picked


def node_map(
    label: str, table: EdgeTable, picked: list[npt.NDArray[np.int64]], names: Sequence[str]
) -> str:
    """Weights among the picked nodes; `names` are those of their groups."""
    nodes = np.concatenate(picked)
    place = {int(node): at for at, node in enumerate(nodes)}
    ordered = np.sort(nodes)
    rows = rows_of(table, ordered)
    heaviest = max(1e-9, float(rows.weight.max(initial=0.0)))
    grid = Grid.of(names, len(nodes), label)
    drawn = grid.drawing()
    for node, start, stop in zip(ordered.tolist(), rows.indptr, rows.indptr[1:], strict=False):
        for other, weight in zip(rows.dst[start:stop], rows.weight[start:stop], strict=True):
            if int(other) in place:
                shade = 0.15 + 0.85 * float(weight) / heaviest
                grid.shade(drawn, place[node], place[int(other)], shade, f"weight {weight:.3g}")
    at = 0
    for group, some in enumerate(picked):
        grid.write_name(drawn, group, at + len(some) / 2)
        at += len(some)
        if at < len(nodes):
            cut(drawn, grid, at)
    return text_of(drawn)


def cut(drawn: ET.Element, grid: Grid, at: int) -> None:
    """Lines between two groups."""
    across, down = grid.left + at * grid.size, grid.top + at * grid.size
    end = grid.size * grid.cells
    add(drawn, "path", class_="cut", d=f"M{across:.1f},{grid.top:.1f}v{end:.1f}")
    add(drawn, "path", class_="cut", d=f"M{grid.left:.1f},{down:.1f}h{end:.1f}")
