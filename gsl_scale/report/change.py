"""What became of the graph: before and after, compared shard by shard, so that memory holds one.

Before is the given graph or, where none was given, the kNN graph of the features.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gsl_scale.report.groups import Groups
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import Draft
from gsl_scale.store.edges import Csr, Edges, EdgeShuffle, EdgeTable

Ids = npt.NDArray[np.int64]
BINS = 20  # of weights


@dataclass
class Side:
    """One of the two graphs; every edge is counted from both of its ends."""

    degree: Ids
    largest_weight: float  # 0: there is no edge
    one_weight: bool  # whether all edges weigh the same
    weights: Ids  # how many edges, by weight, in bins from 0 to the largest weight or 1
    between: npt.NDArray[np.float64] | None  # weight between groups; last: all smaller ones
    alike: float = 0.0  # weight between nodes of one group
    grouped: float = 0.0  # weight between nodes whose groups are known

    @property
    def edges(self) -> int:
        return int(self.degree.sum()) // 2

    @property
    def isolated(self) -> int:
        return int((self.degree == 0).sum())

    @property
    def weight_end(self) -> float:
        return max(1.0, self.largest_weight)

    @property
    def same_group(self) -> float | None:
        """Share of the weight that lies within groups."""
        return self.alike / self.grouped if self.grouped else None


@dataclass
class Change:
    before: Side
    after: Side
    kept: Ids  # of each node's edges, those in both graphs
    kept_weight: float = 0.0  # of these, in the graph after, in all
    added_weight: float = 0.0

    @property
    def fates(self) -> dict[str, float]:
        """How many edges were kept, added and dropped, and their mean weight after."""
        kept = int(self.kept.sum()) // 2
        added = self.after.edges - kept
        return {
            "kept": kept,
            "added": added,
            "dropped": self.before.edges - kept,
            "kept_weight": self.kept_weight / max(1, 2 * kept),
            "added_weight": self.added_weight / max(1, 2 * added),
        }

    @property
    def changed(self) -> Ids:
        """Of each node, neighbours that came or went."""
        return self.before.degree + self.after.degree - 2 * self.kept


@contextmanager
def graph_before(run: Path, data: Artifact, knn: Artifact) -> Iterator[EdgeTable]:
    """The given edges, or candidates made undirected as for the evaluation, on disk meanwhile."""
    if "edges" in data:
        yield data.edges()
        return
    with tempfile.TemporaryDirectory(prefix=".report-", dir=run) as scratch:
        with Draft(Path(scratch) / "before", "before", data.manifest.plan) as draft:
            shuffle = EdgeShuffle(draft, mirror=True, merge="sum")
            for _, edges in knn.edges().parts():
                shuffle.append(edges.src, edges.dst, edges.weight * np.float32(0.5))
            draft.add_table("edges", shuffle.finish())
            draft.publish()
        yield Artifact.open(Path(scratch) / "before").edges()


def compare(before: EdgeTable, after: EdgeTable, groups: Groups | None) -> Change:
    """One pass over both graphs, and one before it for the range of the weights."""
    change = Change(
        _empty(before, groups), _empty(after, groups), np.zeros(after.num_nodes, np.int64)
    )
    places = None if groups is None else _places(groups)
    for part, new in after.parts():
        old = before.read(part.start, part.stop)
        for side, edges in ((change.before, old), (change.after, new)):
            _count(side, edges, part.start, part.stop, groups, places)
        both = _found(_keys(new, after.num_nodes), _keys(old, after.num_nodes))
        change.kept[part.start : part.stop] = np.bincount(
            new.src[both] - part.start, minlength=part.stop - part.start
        )
        change.kept_weight += float(new.weight[both].sum(dtype=np.float64))
        change.added_weight += float(new.weight[~both].sum(dtype=np.float64))
    return change


def rows_of(table: EdgeTable, nodes: Ids) -> Csr:
    """The edges of these nodes, which are in order."""
    degrees, dst, weight = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, "f4")]
    for part in table.table.parts:
        mine = nodes[slice(*np.searchsorted(nodes, [part.start, part.stop]))]
        if not len(mine):
            continue
        edges = table.read(part.start, part.stop)
        low, high = np.searchsorted(edges.src, mine), np.searchsorted(edges.src, mine + 1)
        chosen = np.repeat(low - np.cumsum(high - low) + (high - low), high - low)
        chosen += np.arange(len(chosen))
        degrees.append(high - low)
        dst.append(edges.dst[chosen])
        weight.append(edges.weight[chosen])
    indptr = np.append(0, np.cumsum(np.concatenate(degrees)))
    return Csr(indptr, np.concatenate(dst), np.concatenate(weight))


def _empty(table: EdgeTable, groups: Groups | None) -> Side:
    low, high = np.inf, 0.0
    for _, edges in table.parts():
        if len(edges.weight):
            low, high = min(low, float(edges.weight.min())), max(high, float(edges.weight.max()))
    size = 0 if groups is None else len(groups.largest) + 1
    return Side(
        np.zeros(table.num_nodes, np.int64),
        high,
        low == high,
        np.zeros(BINS, np.int64),
        np.zeros((size, size)) if size else None,
    )


def _count(
    side: Side, edges: Edges, start: int, stop: int, groups: Groups | None, places: Ids | None
) -> None:
    side.degree[start:stop] = np.bincount(edges.src - start, minlength=stop - start)
    side.weights += np.histogram(edges.weight, BINS, (0.0, side.weight_end))[0]
    if groups is None or places is None or side.between is None:
        return
    ends = groups.of[edges.src], groups.of[edges.dst]
    known = (ends[0] >= 0) & (ends[1] >= 0)
    weight = edges.weight[known].astype(np.float64)
    source, target = ends[0][known], ends[1][known]
    side.grouped += float(weight.sum())
    side.alike += float(weight[source == target].sum())
    size = len(side.between)
    cells = places[source] * size + places[target]
    side.between += np.bincount(cells, weight, size * size).reshape(size, size)


def _places(groups: Groups) -> Ids:
    """Of each group, its row among those shown; the last is for all others."""
    places = np.full(len(groups.names), len(groups.largest), np.int64)
    places[groups.largest] = np.arange(len(groups.largest))
    return places


def _keys(edges: Edges, num_nodes: int) -> Ids:
    return edges.src * num_nodes + edges.dst


def _found(keys: Ids, among: Ids) -> npt.NDArray[np.bool_]:
    """Which of the sorted keys are among other sorted ones."""
    if not len(among):
        return np.zeros(len(keys), bool)
    nearest = among[np.minimum(np.searchsorted(among, keys), len(among) - 1)]
    return np.equal(nearest, keys)
