"""A finished run and new nodes in, a run with all of them out: a folder like any other."""

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gsl_scale import progress
from gsl_scale.config import Config, Export, Knn, Learner, depends_on
from gsl_scale.errors import NotAStoreError, StaleArtifactError, UserError
from gsl_scale.export import BLOCKS as WRITTEN_FROM
from gsl_scale.export import KIND as GRAPH
from gsl_scale.export import export_stage
from gsl_scale.extend.arrivals import Arrivals, read_arrivals
from gsl_scale.extend.attach import new_edges
from gsl_scale.extend.embed import Trained, embed, represent, require_edges
from gsl_scale.extend.neighbours import Search
from gsl_scale.extend.rows import JoinedRows
from gsl_scale.ingest.write import KIND as DATA
from gsl_scale.knn.search import KIND as CANDIDATES
from gsl_scale.knn.search import search_knn
from gsl_scale.pipeline import EXTENDED, prepare_process
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import Draft
from gsl_scale.store.edges import Edges, EdgeShuffle, edge_table, write_edge_part
from gsl_scale.store.manifest import write_durably
from gsl_scale.store.nodes import write_columns, write_rows
from gsl_scale.store.shards import ShardPlan
from gsl_scale.store.tensors import read_tensors, write_tensors
from gsl_scale.train.stage import BLOCKS
from gsl_scale.train.stage import KIND as EMBEDDINGS


class Finished:
    """The artifacts of a finished run, and its config as it was resolved."""

    def __init__(self, folder: Path, config: Config) -> None:
        names = ("data", "knn", "embeddings", "graph")
        for name in names:
            if not (folder / name).is_dir():
                raise NotAStoreError(
                    f"{folder} has no {name}: it is not a finished run.",
                    "Only what has been learned can be extended.",
                    f"Finish it first: gsl-scale run {folder}/config.yaml --out {folder}",
                )
        self.data, self.knn, self.embeddings, self.graph = (
            Artifact.open(folder / name) for name in names
        )
        for child, parents in (("embeddings", ("data", "knn")), ("graph", ("data", "embeddings"))):
            for parent in parents:
                found = getattr(self, child).manifest.parents.get(parent)
                if found != getattr(self, parent).manifest.content:
                    raise StaleArtifactError(
                        f"{folder / child} was not made from {folder / parent} as it is now.",
                        "New nodes would be joined to something else than what was learned.",
                        f"Finish the run: gsl-scale run {folder}/config.yaml --out {folder}",
                    )
        facts = self.embeddings.manifest.facts
        if "scale" not in facts or "context" not in self.embeddings:
            raise StaleArtifactError(
                f"{folder / 'embeddings'} was written by {self.embeddings.manifest.written_by}, "
                "which did not keep what new nodes need.",
                next_step=f"Learn again: gsl-scale run {folder}/config.yaml --out {folder} --fresh",
            )
        # What 'auto' came to stays as it was: it may depend on the number of nodes.
        settled = {
            name: type(getattr(config, name)).model_validate(facts["settings"][name])
            for name in BLOCKS
        }
        written = Export.model_validate(self.graph.manifest.facts.get("export", {}))
        self.config = config.model_copy(update={**settled, "export": written})

    @property
    def trained(self) -> Trained:
        learner: Learner = self.config.learner
        fitted, model = (read_tensors(self.embeddings, name) for name in ("context", "model"))
        return Trained(learner, fitted, model, self.embeddings.manifest.facts["scale"])


def extend(
    folder: Path, out: Path, config: Config, flags: dict[str, Any], *, renew: bool = False
) -> dict[str, Any]:
    """Write the run `out`: `folder` and the new nodes that `flags` name (keys of a data block).
    `renew` makes the edges between old nodes anew, too. Returns what is to be said about it."""
    if (out / "config.yaml").exists():
        raise UserError(
            f"{out} is a run already.", "It would be lost.", "Give another folder as --out."
        )
    run = Finished(folder, config)
    config = run.config
    prepare_process(config)
    arrivals = read_arrivals(run.data, config.data, flags)
    for finding in arrivals.findings.found:
        progress.say(str(finding))
    trained, first = run.trained, run.data.manifest.num_nodes
    require_edges(trained.learner, arrivals.edges)
    plan = ShardPlan.choose(first + arrivals.count, config.run.shards)
    data = _write_data(run, arrivals, plan, out / "data")
    knn = _write_knn(run, data, out / "knn")
    embeddings, edges = _write_embeddings(run, trained, data, knn, out / "embeddings")
    if renew:
        export_stage(config, data, embeddings, out / "graph")
    else:
        _write_graph(run, data, embeddings, edges, out / "graph")
    write_durably(out / "config.yaml", config.to_yaml())  # last: now it is a run
    touching = np.maximum(edges.src, edges.dst) >= first
    return {
        "run": str(out),
        "nodes": first + arrivals.count,
        "new": arrivals.count,
        "new_edges": int(touching.sum()) // 2,
        "between_new": int((np.minimum(edges.src, edges.dst) >= first).sum()) // 2,
        "alone": int(arrivals.count - len(np.unique(edges.src[edges.src >= first]))),
        "findings": arrivals.findings.to_json(),
    }


def _write_data(run: Finished, arrivals: Arrivals, plan: ShardPlan, folder: Path) -> Artifact:
    old = run.data.manifest
    with Draft(folder, DATA, plan, depends_on(run.config, ["data"])) as draft:
        draft.inputs = [*old.inputs, *arrivals.inputs]
        features = JoinedRows(run.data.nodes(), arrivals.rows)
        dtype = str(arrivals.rows.dtype)
        rows = write_rows(draft, "features", features.blocks(), features.shape[1], dtype)
        draft.add_table("features", rows)
        if "edges" in run.data:
            shuffle = EdgeShuffle(draft, mirror=True)
            for _, edges in run.data.edges().parts():
                shuffle.append(*edges)
            for block in arrivals.edges or ():
                shuffle.append(block.src, block.dst, block.weight)
            draft.add_table("edges", shuffle.finish())
        if arrivals.labels is not None:
            draft.add_table("labels", write_columns(draft, "labels", [arrivals.labels]))
        if arrivals.ids is not None:
            ids = pa.table({"id": arrivals.ids})
            draft.add_table("ids", write_columns(draft, "ids", [ids]))
        more = {"from": old.content, "nodes": arrivals.count}
        draft.facts = {
            **old.facts,
            "findings": arrivals.findings.to_json(),
            EXTENDED: [*old.facts.get(EXTENDED, []), more],
        }
        if arrivals.labels is not None:
            draft.facts["classes"] = arrivals.classes
        draft.publish()
    return Artifact.open(folder)


def _write_knn(run: Finished, data: Artifact, folder: Path) -> Artifact:
    """The candidates of all nodes, as the kNN stage would find them."""
    config, first = run.config, run.data.manifest.num_nodes
    knn: Knn = config.knn
    wanted = depends_on(config, ["knn"])
    rows = data.nodes()
    search = Search(JoinedRows(run.data.nodes(), rows.read(first)), knn.k, config.run.batch)
    if not search.affordable:
        search_knn(data, folder, knn, config.run, config=wanted)
        return Artifact.open(folder)
    found, index, before = search.of_new(), search.new_index(), run.knn.edges()
    plan = data.manifest.plan
    with (
        Draft(folder, CANDIDATES, plan, wanted, {"data": data.manifest.content}) as draft,
        progress.track("knn", plan.num_nodes) as advance,
    ):
        parts = []
        for shard, start, stop in plan:
            edges = [
                search.of_old(at, min(at + search.batch, stop, first), index,
                              before.read(at, min(at + search.batch, stop, first)))
                for at in range(start, min(stop, first), search.batch)
            ]  # fmt: skip
            low = max(start, first)
            if low < stop:
                some = slice(low - first, stop - first)
                src = np.repeat(np.arange(low, stop), knn.k)
                mine = found.ids[some].ravel(), found.similarity[some].ravel()
                edges.append(Edges(src, *mine))
            columns = (np.concatenate(column) for column in zip(*edges, strict=True))
            parts.append(write_edge_part(draft, "edges", shard, Edges(*columns)))
            advance(stop - start)
        draft.add_table("edges", edge_table(parts))
        _copy_ids(data, draft)
        draft.facts = run.knn.manifest.facts
        draft.publish()
    return Artifact.open(folder)


def _write_embeddings(
    run: Finished, trained: Trained, data: Artifact, knn: Artifact, folder: Path
) -> tuple[Artifact, Edges]:
    """Old rows as they are, new ones behind them; and the edges that touch new nodes, which the
    representations of new nodes need."""
    config, first = run.config, run.data.manifest.num_nodes
    parents = {"data": data.manifest.content, "knn": knn.manifest.content}
    plan, blocks = data.manifest.plan, depends_on(config, BLOCKS)
    with Draft(folder, EMBEDDINGS, plan, blocks, parents) as draft:
        found, fitted = embed(trained, data, knn, first)
        embeddings = JoinedRows(run.embeddings.nodes("embeddings"), found.numpy())
        given = data.edges() if config.knn.keep_given and "edges" in data else None
        edges = new_edges(embeddings, run.graph.edges(), given, config, draft.scratch())
        features = JoinedRows(run.data.nodes(), data.nodes().read(first))
        represented = represent(trained, features, run.graph.edges(), edges).numpy()
        for name, new in (("embeddings", found.numpy()), ("representations", represented)):
            old = (rows for _, rows in run.embeddings.nodes(name).parts())
            table = write_rows(draft, name, chain(old, [new]), new.shape[1], "float32")
            draft.add_table(name, table)
        draft.add_table("model", write_tensors(draft, "model", trained.model))
        draft.add_table("context", write_tensors(draft, "context", fitted))
        draft.facts, draft.inputs = run.embeddings.manifest.facts, run.embeddings.manifest.inputs
        draft.publish()
    return Artifact.open(folder), edges


def _write_graph(
    run: Finished, data: Artifact, embeddings: Artifact, edges: Edges, folder: Path
) -> None:
    parents = {"data": data.manifest.content, "embeddings": embeddings.manifest.content}
    wanted = depends_on(run.config, WRITTEN_FROM)
    with Draft(folder, GRAPH, data.manifest.plan, wanted, parents) as draft:
        shuffle = EdgeShuffle(draft, mirror=False)
        for _, old in run.graph.edges().parts():
            shuffle.append(*old)
        shuffle.append(*edges)
        draft.add_table("edges", shuffle.finish())
        _copy_ids(data, draft)
        draft.facts = {**run.graph.manifest.facts, "edges": shuffle.counts.stored // 2}
        draft.publish()


def _copy_ids(data: Artifact, draft: Draft) -> None:
    if "ids" in data:
        draft.add_table("ids", write_columns(draft, "ids", [data.columns("ids")]))
