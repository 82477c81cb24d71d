"""The figures of a comparison. Edges are undirected: an edge is there if either direction is, and
weighs what the heavier of the two does."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gsl_scale.diff.labels import NodeLabels, labels_from_file, labels_from_runs
from gsl_scale.diff.match import Match, match_nodes
from gsl_scale.diff.read import Side, read_side
from gsl_scale.evaluate.figures import histogram, quantiles

Ids = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Pairs:
    """Edges in the common numbering: low < high, sorted, each once."""

    low: Ids
    high: Ids
    weight: npt.NDArray[np.float32]
    num_nodes: int

    @classmethod
    def of(cls, side: Side, numbers: Ids, num_nodes: int) -> "Pairs":
        src, dst = numbers[side.edges.src], numbers[side.edges.dst]
        key = np.minimum(src, dst) * num_nodes + np.maximum(src, dst)
        order = np.argsort(key, kind="stable")
        key, weight = key[order], side.edges.weight[order]
        first = np.flatnonzero(np.diff(key, prepend=-1))
        if len(first):
            weight = np.maximum.reduceat(weight, first)
        low, high = np.divmod(key[first], max(num_nodes, 1))
        return cls(low, high, weight, num_nodes)

    def __len__(self) -> int:
        return len(self.low)

    @property
    def key(self) -> Ids:
        return self.low * self.num_nodes + self.high

    def where(self, keep: npt.NDArray[np.bool_]) -> "Pairs":
        return Pairs(self.low[keep], self.high[keep], self.weight[keep], self.num_nodes)

    def degree(self) -> Counts:
        return np.bincount(self.low, minlength=self.num_nodes) + np.bincount(
            self.high, minlength=self.num_nodes
        )


def diff(
    old: str,
    new: str,
    *,
    labels: str | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
    num_listed: int = 10,
) -> dict[str, Any]:
    """Compare two graphs; the report as plain values, ready for JSON."""
    sides = read_side(old), read_side(new)
    match = match_nodes(*sides)
    before, after = (
        Pairs.of(side, numbers, match.num_nodes)
        for side, numbers in zip(sides, (match.old, match.new), strict=True)
    )
    if labels is not None:
        known: NodeLabels | None = labels_from_file(labels, match, *sides, id_column, label_column)
    else:
        known = labels_from_runs(match, *sides)
    return {
        "old": _size(sides[0], before),
        "new": _size(sides[1], after),
        **_compare(before, after, match, known, num_listed),
        "notes": [note for side in sides for note in side.notes] + _doubts(match),
    }


def _size(side: Side, pairs: Pairs) -> dict[str, Any]:
    return {"path": side.path, "nodes": side.num_nodes, "edges": len(pairs)}


def _doubts(match: Match) -> list[str]:
    if 2 * match.both >= match.num_nodes:
        return []
    return [
        f"Only {match.both:,} of {match.num_nodes:,} nodes are in both: are these the same ids?"
    ]


def _compare(
    before: Pairs, after: Pairs, match: Match, labels: NodeLabels | None, num_listed: int
) -> dict[str, Any]:
    stays = np.isin(before.key, after.key, assume_unique=True)
    stayed = np.isin(after.key, before.key, assume_unique=True)
    fates = {
        "kept": after.where(stayed),
        "dropped": before.where(~stays),
        "added": after.where(~stayed),
    }
    in_both = match.in_both()
    degree = {"old": before.degree(), "new": after.degree(), "kept": fates["kept"].degree()}
    union = degree["old"] + degree["new"] - degree["kept"]
    jaccard = degree["kept"] / np.maximum(union, 1)
    compared = in_both & (union > 0)
    total = sum(map(len, fates.values()))
    found = _Nodes(match, degree, jaccard)
    report: dict[str, Any] = {
        "match": {
            "how": match.how,
            "both": match.both,
            "only_old": len(match.old) - match.both,
            "only_new": len(match.new) - match.both,
        },
        "jaccard": len(fates["kept"]) / total if total else 1.0,
        "edges": {
            **{name: len(pairs) for name, pairs in fates.items()},
            "dropped_with_node": _touching(fates["dropped"], ~in_both),
            "added_with_node": _touching(fates["added"], ~in_both),
        },
        "weight": _weights(before.where(stays), fates["kept"], before, after),
        "degree": _degrees(degree["old"], degree["new"], in_both),
        "node_jaccard": {
            **quantiles(jaccard[compared]),
            "histogram": _counts(jaccard[compared], 0.0, 1.0),
        },
        "nodes": {
            "changed_most": found.listed(np.lexsort((-union, jaccard)), compared, num_listed),
            "changed_least": found.listed(np.lexsort((-union, -jaccard)), compared, num_listed),
        },
        "homophily": None,
    }
    if labels is not None:
        graphs = {"old": before, "new": after, **fates}
        report["homophily"] = _homophily(graphs, labels)
        shares = [_node_homophily(graph, labels.label) for graph in (before, after)]
        change = shares[1] - shares[0]
        for name, sign in (("homophily_lost", 1.0), ("homophily_gained", -1.0)):
            order = np.lexsort((-union, sign * change))
            moved = in_both & (sign * change < 0)  # NaN, where there is nothing to compare, is not
            report["nodes"][name] = found.listed(order, moved, num_listed, shares)
    return report


@dataclass(frozen=True)
class _Nodes:
    match: Match
    degree: dict[str, Counts]
    jaccard: npt.NDArray[np.float64]

    def listed(
        self,
        order: Ids,
        wanted: npt.NDArray[np.bool_],
        most: int,
        homophily: list[npt.NDArray[np.float64]] | None = None,
    ) -> list[dict[str, Any]]:
        """The first few wanted nodes, with what happened to each."""
        rows = []
        for node in order[wanted[order]][:most].tolist():
            row: dict[str, Any] = {"id": self.match.ids[node].as_py()}
            row |= {f"{name}_edges": int(count[node]) for name, count in self.degree.items()}
            row["jaccard"] = float(self.jaccard[node])
            if homophily is not None:
                row["old_homophily"] = float(homophily[0][node])
                row["new_homophily"] = float(homophily[1][node])
            rows.append(row)
        return rows


def _touching(pairs: Pairs, nodes: npt.NDArray[np.bool_]) -> int:
    return int((nodes[pairs.low] | nodes[pairs.high]).sum())


def _weights(kept_before: Pairs, kept_after: Pairs, before: Pairs, after: Pairs) -> dict[str, Any]:
    change = kept_after.weight.astype(np.float64) - kept_before.weight
    return {
        "old": quantiles(before.weight),
        "new": quantiles(after.weight),
        "kept": {
            "heavier": int((change > 0).sum()),
            "lighter": int((change < 0).sum()),
            "same": int((change == 0).sum()),
            "mean_change": float(change.mean()) if len(change) else 0.0,
        },
    }


def _degrees(old: Counts, new: Counts, in_both: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """Of nodes that are in both graphs."""
    old, new = old[in_both], new[in_both]
    shift = new - old
    # A few hubs would squeeze everyone else into one bar; they count into the last one.
    highest = max(1.0, *(float(np.quantile(d, 0.99)) for d in (old, new) if len(d)))
    return {
        "old": quantiles(old),
        "new": quantiles(new),
        "shift": quantiles(shift),
        "more": int((shift > 0).sum()),
        "fewer": int((shift < 0).sum()),
        "same": int((shift == 0).sum()),
        "isolated_now": int(((new == 0) & (old > 0)).sum()),
        "isolated_before": int(((old == 0) & (new > 0)).sum()),
        "isolated_in_both": int(((old == 0) & (new == 0)).sum()),
        "histogram": {
            "old": _counts(old, 0.0, highest),
            "new": _counts(new, 0.0, highest),
            "shift": histogram(shift),
        },
    }


def _counts(values: npt.NDArray[Any], low: float, high: float, bins: int = 20) -> dict[str, Any]:
    """How many values lie between these bounds; what is above counts into the last bin."""
    counts, borders = np.histogram(np.minimum(values, high), bins, (low, high))
    return {"counts": counts.tolist(), "borders": borders.tolist()}


def _homophily(graphs: dict[str, Pairs], labels: NodeLabels) -> dict[str, Any]:
    """The share of edges between nodes of one class, where both ends are labelled."""
    label = labels.label
    known = label[label >= 0]
    share = np.bincount(known) / max(len(known), 1)
    report: dict[str, Any] = {
        "labels": labels.source,
        "labelled": len(known),
        "classes": labels.num_classes,
        "chance": float(np.square(share).sum()),
    }
    for name, pairs in graphs.items():
        both = (label[pairs.low] >= 0) & (label[pairs.high] >= 0)
        same = both & (label[pairs.low] == label[pairs.high])
        weight = float(pairs.weight[both].sum(dtype=np.float64))
        report[name] = {
            "edges": int(both.sum()),
            "share": float(same.sum() / both.sum()) if both.any() else None,
            "weighted": float(pairs.weight[same].sum(dtype=np.float64)) / weight
            if weight
            else None,
        }
    return report


def _node_homophily(pairs: Pairs, label: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The share of a node's labelled neighbours that are of its class; NaN where there is none."""
    both = pairs.where((label[pairs.low] >= 0) & (label[pairs.high] >= 0))
    same = both.where(label[both.low] == label[both.high])
    with np.errstate(invalid="ignore"):
        shares: npt.NDArray[np.float64] = same.degree() / both.degree()
    return shares
