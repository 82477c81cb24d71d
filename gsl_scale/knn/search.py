"""Exact kNN over a node table, one shard of queries at a time, into an edge table.

An edge (i, j, similarity) says that j is among the k nodes most similar to i.
"""

from pathlib import Path
from typing import Any

import numpy as np

from gsl_scale import progress
from gsl_scale.errors import InputError
from gsl_scale.knn.exact import ExactIndex
from gsl_scale.knn.neighbours import Neighbours, joined, unit_table
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


def read_candidates(knn: Artifact) -> Neighbours:
    """The neighbours of every node."""
    edges, k = knn.edges().read(), int(knn.manifest.facts["k"])
    return Neighbours(edges.dst.reshape(-1, k), edges.weight.reshape(-1, k))


def search_knn(
    data: Artifact, folder: Path, k: int, *, config: dict[str, Any], batch: int
) -> Manifest:
    """Write the candidates artifact; shards that an earlier attempt finished are kept."""
    plan = data.manifest.plan
    require_k(k, plan.num_nodes)
    features = data.nodes("features")
    parents = {"data": data.manifest.content}
    with Draft(folder, KIND, plan, config, parents, resume=True) as draft:
        unit = unit_table(features)
        index = ExactIndex(unit)
        parts: list[Part] = []
        with progress.track("knn", plan.num_nodes) as advance:
            for shard, start, stop in plan:
                part = draft.sealed("edges", shard)
                if part is None:
                    found = [
                        index.search(unit[at : min(at + batch, stop)], at, k)
                        for at in range(start, stop, batch)
                    ]
                    ids, similarity = joined(found, axis=0).by_id()
                    src = np.repeat(np.arange(start, stop), k)
                    edges = Edges(src, ids.ravel(), similarity.ravel())
                    part = write_edge_part(draft, "edges", shard, edges)
                parts.append(part)
                advance(stop - start)
        draft.add_table("edges", edge_table(parts))
        draft.facts = {"k": k, "index": "exact", "metric": "cosine"}
        return draft.publish()
