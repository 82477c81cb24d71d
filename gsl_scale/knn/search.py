"""The kNN stage: a node table in, each node's k most similar others out, as an edge table.

An edge (i, j, similarity) says that j is among the k nodes most similar to i. The index lies in one
piece where it fits and in several where it does not; queries go shard by shard. Both are tasks,
in this process or on Ray, and what an earlier attempt finished is not searched again.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gsl_scale import progress
from gsl_scale.config import Knn, Run
from gsl_scale.engine import Engine, engine
from gsl_scale.errors import InputError
from gsl_scale.knn import pieces
from gsl_scale.knn.gate import Recall, RecallError
from gsl_scale.knn.neighbours import Neighbours
from gsl_scale.knn.pieces import Piece, Search, Task
from gsl_scale.knn.plan import choose, finer, padded
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import Draft
from gsl_scale.store.edges import edge_table
from gsl_scale.store.manifest import Manifest, Part, Table
from gsl_scale.store.nodes import write_columns
from gsl_scale.store.parts import Parts

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
    data: Artifact,
    folder: Path,
    knn: Knn,
    run: Run,
    *,
    config: dict[str, Any],
    table: str = "features",
) -> Manifest:
    """Write the candidates artifact; `knn.k` is a number by now."""
    shards = data.manifest.plan
    require_k(knn.k, shards.num_nodes)
    parents = {"data": data.manifest.content}
    with Draft(folder, KIND, shards, config, parents, resume=True) as draft, engine(run) as pool:
        found = find_candidates(data, table, draft.parts, knn, run, pool)
        draft.facts = found.facts
        for name, each in found.tables.items():
            draft.add_table(name, each)
        if "ids" in data:
            draft.add_table("ids", write_columns(draft, "ids", [data.columns("ids")]))
        return draft.publish()


@dataclass(frozen=True)
class Found:
    """Tables `edges` and, if there are lists, `centroids`; and what is to be said about them."""

    tables: dict[str, Table]
    facts: dict[str, Any]


def find_candidates(
    data: Artifact,
    table: str,
    out: Parts,
    knn: Knn,
    run: Run,
    pool: Engine,
    before: Artifact | None = None,
) -> Found:
    """`before`: the last search of vectors like these, to begin where it ended."""
    shape, asked = data.nodes(table).shape, knn.index
    folder = data.folder.absolute()  # workers have a current folder of their own
    old = None if before is None else before.manifest
    if old is not None and "index" in old.facts:
        knn = knn.model_copy(update={"index": old.facts["index"]})
    plan = choose(*shape, knn, run, pool.gpus)
    centroids = None
    if before is not None and "centroids" in before:
        centroids = before.folder / before.manifest.tables["centroids"].parts[0].path
    while True:
        search = Search(
            folder, table, plan, out, knn.k, run.batch, knn.recall, knn.sample, centroids
        )
        progress.say(plan.line)
        tables, gates = ({}, []) if plan.exact else _prepare(search, pool)
        if all(gate.passed for gate in gates):
            break
        worst, index = min(gates, key=lambda gate: gate.recall), finer(plan, asked)
        if index is None:
            raise RecallError.of(worst, plan.index)
        progress.say(f"knn: {worst}; searching with {index} instead")
        plan = choose(*shape, knn.model_copy(update={"index": index}), run, pool.gpus)
    tables["edges"] = edge_table(_search(search, pool))
    facts = {
        "k": knn.k,
        "metric": "cosine",
        "index": plan.index,
        "pieces": plan.pieces,
        "recall": [asdict(gate) for gate in gates],
    }
    return Found(tables, facts)


def _prepare(search: Search, pool: Engine) -> tuple[dict[str, Table], list[Recall]]:
    """Train once, build every piece, check every piece."""
    builds = [Piece(search, piece) for piece in range(search.plan.pieces)]
    tables, gates = {}, []
    with progress.track("knn: index", 1 + len(builds)) as advance:
        for _, part in pool.map(pieces.train, [search]):
            advance(1, "trained")
            if part is not None:
                columns = {"centroids": "float32", "dim": str(padded(search.plan.dim))}
                tables["centroids"] = Table(format="npy", columns=columns, parts=[part])
        for _, gate in pool.map(pieces.build, builds):
            gates.append(gate)
            advance(1, f"recall {gate.recall:.3f}")
    for gate in gates:
        progress.say(f"knn: {gate}")
    return tables, gates


def _search(search: Search, pool: Engine) -> list[Part]:
    """Every shard against every piece, piece by piece, then the best of each."""
    shards = search.parts.plan
    tasks = [
        Task(search, piece, shard)
        for piece in range(search.plan.pieces)
        for shard in range(shards.num_shards)
    ]
    found: dict[int, Part | None] = {}
    try:
        with progress.track("knn", shards.num_nodes * search.plan.pieces) as advance:
            for task, part in pool.map(pieces.answer, tasks):
                found[task.shard] = part
                start, stop = shards.bounds(task.shard)
                advance(stop - start)
    finally:
        pieces.forget()
    steps: tuple[Callable[[Task], Part | None], ...]
    steps = (pieces.merge, pieces.offer, pieces.settle)
    for step in steps:
        left = [Task(search, 0, shard) for shard, part in found.items() if part is None]
        for task, part in pool.map(step, left):
            found[task.shard] = part
    return [part for _, part in sorted(found.items()) if part is not None]
