"""Exact kNN over a node table, one shard of queries at a time, into an edge table.

An edge (i, j, similarity) says that j is among the k nodes most similar to i. Rows of zeros have
similarity 0 to everyone. A node is never its own neighbour.
"""

from pathlib import Path
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt

from gsl_scale import progress
from gsl_scale.errors import InputError
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import Draft
from gsl_scale.store.edges import Edges, edge_table, write_edge_part
from gsl_scale.store.manifest import Manifest, Part

KIND = "candidates"


def require_k(k: int, num_nodes: int) -> None:
    if k >= num_nodes:
        raise InputError(
            f"knn.k is {k}, and there are only {num_nodes:,} nodes.",
            "A node has at most one neighbour fewer than there are nodes.",
            f"Set it lower: --set knn.k={max(1, min(10, num_nodes - 1))}",
        )


def search_knn(
    data: Artifact, folder: Path, k: int, *, config: dict[str, Any], batch: int
) -> Manifest:
    """Write the candidates artifact; shards that an earlier attempt finished are kept."""
    plan = data.manifest.plan
    require_k(k, plan.num_nodes)
    features = data.nodes("features")
    parents = {"data": data.manifest.content}
    with Draft(folder, KIND, plan, config, parents, resume=True) as draft:
        index = faiss.IndexFlatIP(features.shape[1])
        for _, rows in features.parts():
            index.add(_unit(rows))
        parts: list[Part] = []
        with progress.track("knn", plan.num_nodes) as advance:
            for shard, start, stop in plan:
                part = draft.sealed("edges", shard)
                if part is None:
                    found = [
                        _search(index, features.read(at, min(at + batch, stop)), at, k)
                        for at in range(start, stop, batch)
                    ]
                    edges = Edges(*(np.concatenate(column) for column in zip(*found, strict=True)))
                    part = write_edge_part(draft, "edges", shard, edges)
                parts.append(part)
                advance(stop - start)
        draft.add_table("edges", edge_table(parts))
        draft.facts = {"k": k, "index": "exact", "metric": "cosine"}
        return draft.publish()


def _unit(rows: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    unit = np.array(rows, np.float32, order="C")
    faiss.normalize_L2(unit)  # leaves rows of zeros alone
    return unit


def _search(index: Any, rows: npt.NDArray[Any], start: int, k: int) -> Edges:
    similarity, ids = index.search(_unit(rows), k + 1)
    nodes = np.arange(start, start + len(rows))
    # Of k + 1 answers drop the node itself; among masses of duplicates it may not be listed,
    # then the last answer goes.
    drop = ids == nodes[:, None]
    drop[~drop.any(axis=1), -1] = True
    ids, similarity = ids[~drop].reshape(-1, k), similarity[~drop].reshape(-1, k)
    order = np.argsort(ids, axis=1)
    ids = np.take_along_axis(ids, order, 1)
    similarity = np.take_along_axis(similarity, order, 1)
    return Edges(np.repeat(nodes, k), ids.ravel(), similarity.ravel())
