"""The edges that touch new nodes, by the rule of the export (`gsl_scale/export.py`)."""

from pathlib import Path

import numpy as np

from gsl_scale import progress
from gsl_scale.config import Config, Knn, Run
from gsl_scale.export import Pairs, halves
from gsl_scale.extend.neighbours import Search, similarities
from gsl_scale.extend.rows import JoinedRows
from gsl_scale.knn.neighbours import Ids
from gsl_scale.knn.search import search_knn
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import Draft
from gsl_scale.store.edges import Edges, EdgeTable
from gsl_scale.store.nodes import write_rows
from gsl_scale.store.shards import ShardPlan


def new_edges(
    embeddings: JoinedRows, graph: EdgeTable, given: EdgeTable | None, config: Config,
    scratch: Path,
) -> Edges:  # fmt: skip
    """Both directions, in order. `graph`: the edges of the run; `given`: those of all nodes."""
    knn, run = config.knn, config.run
    search = Search(embeddings, knn.k, run.batch)
    n, (total, _) = embeddings.num_old, embeddings.shape
    if search.affordable:
        src, dst = _near(search, graph)
    else:
        src, dst = _searched(embeddings, knn, run, scratch)
    pairs = Pairs(np.unique(src * total + dst), total)
    if given is not None:
        one, other, _ = given.read(n, total)
        both = np.concatenate([one * total + other, other * total + one])
        pairs = pairs.with_given(Pairs(np.unique(both), total))
    src, dst, half = halves(embeddings, pairs, config.export)
    keys = np.concatenate([src * total + dst, dst * total + src])
    found, place = np.unique(keys, return_inverse=True)
    weight = np.bincount(place, np.concatenate([half, half]), len(found))
    return Edges(*np.divmod(found, total), weight.astype(np.float32))


def _near(search: Search, graph: EdgeTable) -> tuple[Ids, Ids]:
    """Who has whom among its k nearest, where one of the two is new.

    All of an old node's k nearest are among its edges: whatever else those are, the k most similar
    of them are what a search of the old nodes would find.
    """
    rows, n = search.rows, search.rows.num_old
    found = search.of_new().ids
    src = [np.repeat(np.arange(n, n + len(found)), found.shape[1])]
    dst = [found.ravel()]
    index = search.new_index()
    with progress.track("attach", n) as advance:
        for start, stop in search.blocks():
            known = graph.read(start, stop)
            known = known._replace(weight=similarities(rows, known.src, known.dst))
            nearest = search.of_old(start, stop, index, known)
            new = nearest.dst >= n
            src.append(nearest.src[new])
            dst.append(nearest.dst[new])
            advance(stop - start)
    return np.concatenate(src), np.concatenate(dst)


def _searched(embeddings: JoinedRows, knn: Knn, run: Run, scratch: Path) -> tuple[Ids, Ids]:
    """The same from a search of all among all."""
    (total, dim), n = embeddings.shape, embeddings.num_old
    with Draft(scratch / "all", "embeddings", ShardPlan.choose(total, run.shards)) as draft:
        table = write_rows(draft, "embeddings", embeddings.blocks(), dim, "float32")
        draft.add_table("embeddings", table)
        draft.publish()
    every = Artifact.open(scratch / "all")
    search_knn(every, scratch / "candidates", knn, run, config={}, table="embeddings")
    src, dst = [], []
    for _, edges in Artifact.open(scratch / "candidates").edges().parts():
        new = np.maximum(edges.src, edges.dst) >= n
        src.append(edges.src[new])
        dst.append(edges.dst[new])
    return np.concatenate(src), np.concatenate(dst)
