"""All nearest neighbours of one set of vectors, by us, the paper's way, and what else people use.

Every way is timed from vectors in memory to the last answer, building included. Approximate ways
are given settings from cheap to thorough, and the first that reaches the recall counts.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import faiss
import numpy as np
import torch

from gsl_scale.config import Knn, Run
from gsl_scale.engine import set_threads, threads_of
from gsl_scale.errors import UserError
from gsl_scale.knn.exact import all_neighbours
from gsl_scale.knn.finder import Finder
from gsl_scale.knn.neighbours import Ids, Neighbours, Rows, pair_similarity, unit_rows

_BLOCK = 1000
_CHECKED = 1000
_PEERS = ("hnswlib", "pynndescent")

Way = Callable[[Rows, int], Ids]


@dataclass(frozen=True)
class Attempt:
    way: str
    settings: str
    seconds: float
    recall: float


def clustered(num_rows: int, dim: int, clusters: int = 1000, seed: int = 0) -> Rows:
    """Vectors around centres, as embeddings of things of many kinds are."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(clusters, dim)).astype(np.float32)
    rows = centres[rng.integers(0, clusters, num_rows)]
    rows += rng.normal(size=rows.shape).astype(np.float32)
    return rows


def measure(vectors: Rows, k: int, recall: float, skip: list[str], run: Run) -> dict[str, Any]:
    """Every way but those skipped, one after the other, on the same vectors and threads."""
    for peer in _PEERS:
        if peer not in skip and find_spec(peer) is None:
            raise UserError(
                f"{peer} is not installed.",
                next_step=f"pip install 'gsl-scale[bench]', or leave it out: --skip {peer}",
            )
    threads = threads_of(run)
    set_threads(threads)
    unit = unit_rows(vectors)
    nodes = np.sort(np.random.default_rng(0).choice(len(unit), _CHECKED, replace=False))
    truth = _truth(unit, nodes, k)
    attempts = []
    for name, tries in _ways(recall, run, threads):
        if name in skip:
            continue
        for settings, way in tries:
            began = time.perf_counter()
            found = way(unit, k)
            seconds = time.perf_counter() - began
            reached = _recall(unit, nodes, found[nodes], truth)
            attempts.append(Attempt(name, settings, seconds, reached))
            if reached >= recall:
                break
    return {
        "rows": len(unit),
        "dim": unit.shape[1],
        "k": k,
        "threads": threads,
        "recall": recall,
        "attempts": [vars(attempt) for attempt in attempts],
    }


def _truth(unit: Rows, nodes: Ids, k: int) -> Neighbours:
    from gsl_scale.knn.exact import ExactIndex

    return ExactIndex(unit).neighbours(unit[nodes], nodes, k)


def _recall(unit: Rows, nodes: Ids, found: Ids, truth: Neighbours) -> float:
    """The share of answers as near as the k nearest; oneself, or nobody, is no answer."""
    which = np.repeat(np.arange(len(nodes)), found.shape[1])
    near = pair_similarity(unit[nodes], unit, which, found.ravel()).reshape(found.shape)
    good = (near >= truth.similarity.min(axis=1, keepdims=True) - 1e-6) & (found >= 0)
    return float((good & (found != nodes[:, None])).sum() / truth.ids.size)


def _ways(recall: float, run: Run, threads: int) -> Iterator[tuple[str, list[tuple[str, Way]]]]:
    yield "blocked exact (torch)", [("", _blocked)]
    yield "scikit-learn", [("brute", lambda unit, k: _sklearn(unit, k, threads))]
    yield "faiss exact", [("", lambda unit, k: _without_self(_flat(unit, k + 1), k))]
    yield "ours, exact", [("", lambda unit, k: all_neighbours(unit, k).ids)]
    for index in ("ivf", "hnsw"):
        yield f"ours, {index}", [("", _ours(index, recall, run))]
    yield (
        "hnswlib",
        [(f"M {m}, ef {ef}", _hnswlib(m, ef, threads)) for m, ef in _HNSW],
    )
    yield (
        "pynndescent",
        [(f"{n} neighbours", _pynndescent(n, threads)) for n in (1, 1.5, 2, 3)],
    )


_HNSW = ((16, 50), (16, 100), (16, 200), (32, 200), (32, 400))


def _blocked(unit: Rows, k: int) -> Ids:
    """As the paper's code does: a block of rows times all rows, and the largest of each row."""
    rows = torch.from_numpy(unit)
    found = [
        (rows[at : at + _BLOCK] @ rows.t()).topk(k + 1, dim=1).indices
        for at in range(0, len(rows), _BLOCK)
    ]
    return _without_self(torch.cat(found).numpy(), k)


def _flat(unit: Rows, k: int) -> Ids:
    found: Ids = faiss.knn(unit, unit, k, metric=faiss.METRIC_INNER_PRODUCT)[1]
    return found


def _ours(index: str, recall: float, run: Run) -> Way:
    return lambda unit, k: Finder(Knn(k=k, index=index, recall=recall), run)(unit).ids


def _sklearn(unit: Rows, k: int, threads: int) -> Ids:
    from sklearn.neighbors import NearestNeighbors

    index = NearestNeighbors(n_neighbors=k, algorithm="brute", n_jobs=threads).fit(unit)
    return np.asarray(index.kneighbors(return_distance=False), np.int64)


def _hnswlib(m: int, ef: int, threads: int) -> Way:
    def way(unit: Rows, k: int) -> Ids:
        import hnswlib

        index = hnswlib.Index(space="ip", dim=unit.shape[1])
        index.init_index(max_elements=len(unit), M=m, ef_construction=max(ef, 100))
        index.set_num_threads(threads)
        index.add_items(unit)
        index.set_ef(ef)
        return _without_self(index.knn_query(unit, k=k + 1)[0].astype(np.int64), k)

    return way


def _pynndescent(more: float, threads: int) -> Way:
    def way(unit: Rows, k: int) -> Ids:
        from pynndescent import NNDescent

        wanted = round(more * (k + 1))
        index = NNDescent(unit, metric="cosine", n_neighbors=wanted, n_jobs=threads, random_state=0)
        return _without_self(index.neighbor_graph[0].astype(np.int64), k)

    return way


def _without_self(ids: Ids, k: int) -> Ids:
    """The first k of each row that are not the row itself."""
    own = ids == np.arange(len(ids))[:, None]
    own[~own.any(axis=1), -1] = True
    kept = np.argsort(own, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(ids, kept, 1)
