"""What tasks do: build a piece of the index, search it for one shard of queries, merge.

A task knows only folders and numbers, so it runs in this process or on any worker that sees them.
"""

import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gsl_scale.knn.approximate import ApproximateIndex
from gsl_scale.knn.exact import ExactIndex
from gsl_scale.knn.gate import Recall, pass_gate
from gsl_scale.knn.mutual import WIDE, accept, between, offers
from gsl_scale.knn.neighbours import Neighbours, Rows, joined, unit_rows
from gsl_scale.knn.plan import SearchPlan
from gsl_scale.memory import hand_back_memory
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.edges import Edges, write_edge_part
from gsl_scale.store.manifest import Part, write_durably
from gsl_scale.store.mapped import let_go, mapped
from gsl_scale.store.nodes import NodeTable
from gsl_scale.store.parts import Parts

_ROWS_AT_ONCE = 16_384


@dataclass(frozen=True)
class Search:
    """What all tasks share."""

    folder: Path  # the artifact that is searched
    table: str
    plan: SearchPlan
    parts: Parts
    k: int
    batch: int
    recall: float
    sample: int
    centroids: Path | None = None  # of an earlier search, to be re-centred

    def rows(self) -> NodeTable:
        return Artifact.open(self.folder).nodes(self.table)

    def scratch(self, name: str) -> Path:
        folder = self.parts.scratch() / self.plan.name
        folder.mkdir(exist_ok=True)
        return folder / name

    def index_path(self, piece: int) -> Path:
        return self.scratch(f"index-{piece:05d}.faiss")

    def answers_path(self, piece: int, shard: int) -> Path:
        return self.scratch(f"answers-{piece:05d}-{shard:05d}.npz")

    def best_path(self, shard: int) -> Path:
        return self.scratch(f"best-{shard:05d}.npz")

    def offers_path(self, shard: int) -> Path:
        return self.scratch(f"offers-{shard:05d}.npy")

    @property
    def width(self) -> int:
        """Answers per query: more than k where they are also offered."""
        return self.k if self.plan.exact else min(WIDE * self.k, self.plan.num_nodes - 1)

    @property
    def trained_path(self) -> Path:
        return self.scratch("trained.faiss")


@dataclass(frozen=True)
class Piece:
    """A piece of the index to be built."""

    search: Search
    piece: int


@dataclass(frozen=True)
class Task:
    """One shard of queries against one piece of the index."""

    search: Search
    piece: int
    shard: int


def train(search: Search) -> Part | None:
    """The quantiser, trained once on a sample and shared by all pieces; where its lists lie."""
    if search.trained_path.exists():
        return search.parts.sealed("centroids", 0)
    rows, plan = search.rows(), search.plan
    chosen = np.sort(_rng().choice(plan.num_nodes, plan.training_rows, replace=False))
    old = None if search.centroids is None else np.load(search.centroids, allow_pickle=False)
    index = ApproximateIndex.train(_unit(rows.rows(chosen)), plan, old)
    centroids, part = index.centroids, None
    if centroids is not None:
        path = search.parts.path("centroids", 0, "npy")
        np.save(path, centroids)
        part = search.parts.seal("centroids", 0, path, len(centroids))
    _write_index(index, search.trained_path)
    return part


def build(task: Piece) -> Recall:
    """A piece with its nodes in it, as thorough as its recall demands."""
    search, piece = task.search, task.piece
    path = search.index_path(piece)
    record = path.with_suffix(".json")
    if record.exists():
        return Recall(**json.loads(record.read_text()))
    rows = search.rows()
    start, stop = search.plan.bounds(piece)
    # Before there is an index: nodes that lie anywhere bring their whole neighbourhood into memory.
    size = min(search.sample, search.plan.num_nodes)
    nodes = np.sort(_rng().choice(search.plan.num_nodes, size, replace=False))
    queries = _unit(rows.rows(nodes))
    index = ApproximateIndex.read(search.trained_path, start)
    index.reserve(stop - start)
    for at in range(start, stop, _ROWS_AT_ONCE):
        index.add(_unit(rows.read(at, min(at + _ROWS_AT_ONCE, stop))))
        hand_back_memory()  # codes have moved to a larger place, and left the old one
    k = min(search.k, stop - start - 1)
    # In pieces, who is missed here cannot tell: the query may lie in another piece.
    told = search.plan.pieces == 1
    gate = pass_gate(index, queries, nodes, k, search.recall, told)
    _write_index(index, path)
    del index
    hand_back_memory()
    write_durably(record, json.dumps(asdict(gate)))
    return gate


def answer(task: Task) -> Part | None:
    """The neighbours of a shard in one piece; as edges at once if that is all there is to do."""
    search = task.search
    done = search.parts.sealed("edges", task.shard)
    if done is not None:
        return done
    path = search.answers_path(task.piece, task.shard)
    if path.exists():
        return None
    start, stop = search.parts.plan.bounds(task.shard)
    rows, index = search.rows(), _index(search, task.piece)

    def some(at: int) -> Neighbours:
        queries = _unit(rows.read(at, min(at + search.batch, stop)))
        return index.search(queries, at, search.width)

    answers = joined([some(at) for at in range(start, stop, search.batch)], axis=0)
    if search.plan.exact and search.plan.pieces == 1:
        return _write(search, task.shard, answers)
    _save(path, **answers._asdict())
    return None


def merge(task: Task) -> Part | None:
    """The best of all pieces for a shard: edges if exact, else what offers are made of."""
    search = task.search
    done = search.parts.sealed("edges", task.shard)
    if done is not None or search.best_path(task.shard).exists():
        return done
    best: Neighbours | None = None
    for piece in range(search.plan.pieces):
        more = _load(search.answers_path(piece, task.shard))
        best = more if best is None else joined([best, more], axis=1).best(search.width)
    assert best is not None
    if search.plan.exact:
        return _write(search, task.shard, best)
    farthest = best.similarity[:, search.k - 1]
    _save(search.best_path(task.shard), farthest=farthest, **best._asdict())
    return None


def offer(task: Task) -> None:
    """What the nodes of a shard have for others (`mutual.py`)."""
    search, plan = task.search, task.search.parts.plan
    farthest = np.empty(plan.num_nodes, np.float32)
    for shard, start, stop in plan:
        with np.load(search.best_path(shard)) as file:
            farthest[start:stop] = file["farthest"]
    made = offers(_load(search.best_path(task.shard)), plan.start(task.shard), farthest)
    path = search.offers_path(task.shard)
    np.save(path.with_suffix(".tmp.npy"), made)
    path.with_suffix(".tmp.npy").rename(path)


def settle(task: Task) -> Part:
    """A shard's edges: the best of its own answers and of what others offer."""
    search, plan = task.search, task.search.parts.plan
    start, stop = plan.bounds(task.shard)
    found = _load(search.best_path(task.shard)).first(search.k)
    for shard in range(plan.num_shards):
        made = mapped(search.offers_path(shard))
        found = accept(found, start, np.array(between(made, start, stop)))
    return _write(search, task.shard, found)


def _write(search: Search, shard: int, found: Neighbours) -> Part:
    start, stop = search.parts.plan.bounds(shard)
    ids, similarity = found.by_id()
    src = np.repeat(np.arange(start, stop), search.k)
    edges = Edges(src, ids.ravel(), similarity.ravel())
    return write_edge_part(search.parts, "edges", shard, edges)


def _index(search: Search, piece: int) -> ExactIndex | ApproximateIndex:
    """The last one is kept: tasks come piece by piece."""
    if search.plan.exact:
        start, stop = search.plan.bounds(piece)
        unit = _unit_piece(search.folder, search.table, start, stop)
        return ExactIndex(unit, start, search.plan.device)
    first = search.plan.bounds(piece)[0]
    return _read_index(search.index_path(piece), first, search.plan.device)


def _unit(rows: npt.NDArray[Any]) -> Rows:
    """A copy of length 1; beside an index there is no room for the pages that were read."""
    unit = unit_rows(rows)
    let_go(0)
    return unit


@lru_cache(maxsize=1)
def _unit_piece(folder: Path, table: str, start: int, stop: int) -> Rows:
    rows = Artifact.open(folder).nodes(table)
    unit = np.empty((stop - start, rows.shape[1]), np.float32)
    for at in range(start, stop, _ROWS_AT_ONCE):
        end = min(at + _ROWS_AT_ONCE, stop)
        unit[at - start : end - start] = _unit(rows.read(at, end))
    return unit


@lru_cache(maxsize=1)
def _read_index(path: Path, first: int, device: str) -> ApproximateIndex:
    let_go(0)
    index = ApproximateIndex.read(path, first)
    index.place(device)
    return index


def forget() -> None:
    """Let go of the index that this process still holds."""
    _unit_piece.cache_clear()
    _read_index.cache_clear()
    hand_back_memory()


def _write_index(index: ApproximateIndex, path: Path) -> None:
    draft = path.with_suffix(".tmp")
    index.write(draft)
    draft.rename(path)


def _save(path: Path, **columns: Any) -> None:
    draft = path.with_suffix(".tmp.npz")
    np.savez(draft, **columns)
    draft.rename(path)


def _load(path: Path) -> Neighbours:
    with np.load(path) as file:
        return Neighbours(file["ids"], file["similarity"])


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)
