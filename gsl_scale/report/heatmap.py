"""Adjacency as heatmaps, before and after: groups against groups, and, as in the paper's figure,
some nodes of a few groups against each other."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gsl_scale.report.change import Change, Side, rows_of
from gsl_scale.report.groups import Groups
from gsl_scale.report.svg import WIDTH, add, drawing, shortened, text_of
from gsl_scale.store.edges import EdgeTable

_NODE_GROUPS, _NODES_EACH = 3, 16
_LEFT, _TOP = 84.0, 56.0


def group_map(label: str, side: Side, names: Sequence[str]) -> str:
    """Where the edge weight of each group (row) goes, in per cent; rows sum to 100."""
    assert side.between is not None
    shown = len(names)
    between = side.between[:shown, :shown]
    total = side.between.sum(axis=1, keepdims=True)[:shown]
    share = np.divide(between, total, out=np.zeros_like(between), where=total > 0)
    cell = (WIDTH - _LEFT - 1) / shown
    drawn = drawing(_TOP + cell * shown + 1, label)
    for row, name in enumerate(names):
        middle = row * cell + cell / 2
        add(drawn, "text", shortened(name, 12), x=_LEFT - 6, y=_TOP + middle + 4, class_="tick end")
        _slanted(drawn, shortened(name, 10), _LEFT + middle)
        for column, other in enumerate(names):
            value = float(share[row, column])
            _cell(drawn, row, column, cell, value, f"{name} → {other}: {value:.1%}")
            if value >= 0.005:
                dark = " on" if value > 0.55 else ""
                at = {"x": _LEFT + column * cell + cell / 2, "y": _TOP + middle + 4}
                add(drawn, "text", f"{100 * value:.0f}", class_=f"tick middle{dark}", **at)
    return text_of(drawn)


def _slanted(drawn: ET.Element, name: str, at: float) -> None:
    turned = f"rotate(-40 {at:.1f} {_TOP - 6:.1f})"
    add(drawn, "text", name, x=at, y=_TOP - 6, transform=turned, class_="tick start")


def _cell(
    drawn: ET.Element, row: int, column: int, size: float, shade: float, tip: str, gap: float = 1.0
) -> None:
    at = {"x": _LEFT + column * size, "y": _TOP + row * size}
    side = {"width": size - gap, "height": size - gap}
    add(drawn, "rect", class_="empty", **at, **side)
    if shade > 0.001:
        add(drawn, "rect", tip=tip, class_="heat", fill_opacity=shade, **at, **side)


def pick_nodes(change: Change, groups: Groups) -> list[npt.NDArray[np.int64]]:
    """Of each of the largest groups, the nodes with most edges before: random ones would hardly
    be joined in either graph, and this choice does not favour the learned one."""
    sizes = np.bincount(groups.of[groups.of >= 0], minlength=len(groups.names))
    largest = np.argsort(-sizes, kind="stable")[:_NODE_GROUPS]
    picked = []
    for group in sorted(largest[sizes[largest] > 0]):
        members = np.flatnonzero(groups.of == group)
        order = np.argsort(-change.before.degree[members], kind="stable")[:_NODES_EACH]
        picked.append(np.sort(members[order]))
    return picked


def node_map(
    label: str, table: EdgeTable, picked: list[npt.NDArray[np.int64]], names: Sequence[str]
) -> str:
    """Weights among the picked nodes; `names` are those of their groups."""
    nodes = np.concatenate(picked)
    order = np.argsort(nodes)
    rows = rows_of(table, nodes[order])
    size = (WIDTH - _LEFT - 1) / len(nodes)
    drawn = drawing(_TOP + size * len(nodes) + 1, label)
    edge = size * len(nodes)
    add(drawn, "rect", x=_LEFT, y=_TOP, width=edge, height=edge, class_="empty")
    place = {int(node): at for at, node in enumerate(nodes)}
    heaviest = max(1e-9, float(rows.weight.max(initial=0.0)))
    for at, node in enumerate(nodes[order]):
        for edge_at in range(rows.indptr[at], rows.indptr[at + 1]):
            other = place.get(int(rows.dst[edge_at]))
            if other is not None:
                weight = float(rows.weight[edge_at])
                box = {"x": _LEFT + other * size, "y": _TOP + place[int(node)] * size}
                shade = 0.15 + 0.85 * weight / heaviest
                add(
                    drawn,
                    "rect",
                    tip=f"weight {weight:.3g}",
                    width=size - 0.5,
                    height=size - 0.5,
                    class_="heat",
                    fill_opacity=shade,
                    **box,
                )
    _borders(drawn, [len(some) for some in picked], names, size)
    return text_of(drawn)


def _borders(drawn: ET.Element, counts: list[int], names: Sequence[str], size: float) -> None:
    at = 0
    edge = size * sum(counts)
    for count, name in zip(counts, names, strict=True):
        middle = (at + count / 2) * size
        add(drawn, "text", shortened(name, 12), x=_LEFT - 6, y=_TOP + middle + 4, class_="tick end")
        _slanted(drawn, shortened(name, 10), _LEFT + middle)
        at += count
        if at < sum(counts):
            cut = at * size
            for x1, y1, x2, y2 in ((cut, 0, cut, edge), (0, cut, edge, cut)):
                ends = {"x1": _LEFT + x1, "y1": _TOP + y1, "x2": _LEFT + x2, "y2": _TOP + y2}
                add(drawn, "line", class_="cut", **ends)
