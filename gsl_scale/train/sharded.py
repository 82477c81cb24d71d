"""The graphs of a training on disk, walked and renewed by any number of ranks.

Ranks own no nodes: a shard is worked on by whichever rank has its turn, everything passes through
files, and every version of a graph is an artifact that appears whole. So nothing depends on how
many ranks there are. Between renewals a rank reads only the rows around its seeds.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from gsl_scale.config import Config
from gsl_scale.graph.features import scale_of
from gsl_scale.graph.sample import Hop
from gsl_scale.graph.weighted import Graph
from gsl_scale.knn.search import find_candidates
from gsl_scale.memory import hand_back_memory
from gsl_scale.ranks import Ranks
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.edges import EdgeTable, edge_table, write_edge_part
from gsl_scale.store.links import LinkTable
from gsl_scale.store.manifest import Part, Table
from gsl_scale.store.nodes import NodeTable, rows_table, write_rows_part
from gsl_scale.store.parts import Parts
from gsl_scale.store.tensors import read_tensors, write_tensors
from gsl_scale.train import shards
from gsl_scale.train.checkpoint import version_folder
from gsl_scale.train.places import kept_places
from gsl_scale.train.sampled import SampledBatch
from gsl_scale.train.shards import Ids, ScaledRows, Vector
from gsl_scale.train.shared_draft import SharedDraft
from gsl_scale.train.step import Model


class ShardedGraphs:
    """Candidates and anchor, version by version, in `work`; `config` has no 'auto' left."""

    def __init__(
        self, config: Config, data: Artifact, seen: Artifact | None, nearest: Artifact,
        work: Path, ranks: Ranks, first: Artifact | None = None,
    ) -> None:  # fmt: skip
        """`seen`: what the learner sees if not the features; `nearest`: their candidates; `first`:
        the anchor to begin with, if the config names its sources."""
        self.config, self.work, self.ranks = config, work, ranks
        self.plan = data.manifest.plan
        self.num_nodes = self.plan.num_nodes
        self.device = shards.device_of(config.run)
        scale = float(ranks.lead(lambda: scale_of(data)))
        self.features = ScaledRows(data.nodes(), scale, self.device)
        self.seen = self.features
        if seen is not None:
            self.seen = ScaledRows(seen.nodes("seen"), device=self.device)
        self._fitted = {} if seen is None else read_tensors(seen, "context")
        self._given = data.edges() if "edges" in data else None
        self._nearest, self._first = nearest, first
        self.versions = {"sketch": -1, "anchor": -1}
        self.sketch: LinkTable
        self.anchor: LinkTable
        self.degree: Vector
        self._candidates: EdgeTable

    @property
    def dims(self) -> tuple[int, int]:
        return self.features.table.shape[1], self.seen.table.shape[1]

    def start(self, model: Model) -> None:
        self._first_anchor()
        plain = self.seen is self.features
        self._new_sketch(model, self._nearest if plain else None)
        self._find_places()

    def arranged(self, seeds: Tensor) -> Tensor:
        if self.ranks.size == 1:
            return seeds
        return seeds[torch.from_numpy(np.argsort(self._places[seeds.numpy()], kind="stable"))]

    def batch(self, seeds: Tensor, step: int) -> "SampledBatch":
        return SampledBatch(self, seeds.numpy(), step)

    def refresh(self, model: Model) -> float:
        """New candidates for the embeddings as they are now; how many of them are old ones."""
        before = self._candidates
        self._new_sketch(model)

        def same(shard: int) -> int:
            start, stop = self.plan.bounds(shard)
            old, new = before.read(start, stop), self._candidates.read(start, stop)
            old_keys, new_keys = (edges.src * self.num_nodes + edges.dst for edges in (old, new))
            return int(np.isin(new_keys, old_keys, assume_unique=True).sum())

        counts = [count for _, count in self.ranks.map(same, range(self.plan.num_shards))]
        return sum(counts) / len(before)

    def blend(self, model: Model) -> None:
        """Line 16: every shard of the anchor takes in a little of the learned graph."""
        hand_back_memory()
        learned = self.learned(model)
        settings, old = self.config.anchor, self.anchor
        with self._draft("anchor") as draft:
            draft.links(
                lambda shard: shards.blended(
                    old, self.sketch, learned, settings.tau, settings.budget, self.plan, shard
                )
            )
        self._open("anchor")

    def embed(self, model: Model) -> NodeTable:
        folder = self.work / "embeddings"
        with SharedDraft(self.ranks, folder, "embeddings", self.plan) as draft:
            draft.rows("embeddings", self.dims[1], self._embedder(model))
        return Artifact.open(folder).nodes("embeddings")

    def learned(self, model: Model) -> Callable[[Ids], tuple[Hop, Graph]]:
        """Rows of the learned graph as it is now, normalised and without augmentation."""
        embeddings = self.embed(model)
        degree = self._degrees(embeddings)
        return lambda nodes: shards.normalised(self.sketch, embeddings, degree, nodes)

    def _degrees(self, embeddings: NodeTable) -> Vector:
        """The global degree vector; each rank sums up shards and hears of the others'."""

        def of(shard: int) -> Vector:
            rows = shards.computed(
                self.plan,
                shard,
                lambda nodes: shards.degrees(self.sketch, embeddings, nodes),
                self.sketch,
            )
            return np.concatenate(list(rows)).ravel()

        found = [degree for _, degree in self.ranks.map(of, range(self.plan.num_shards))]
        return np.concatenate(found)

    def represent(self, model: Model) -> NodeTable:
        """The encoder's representations of all nodes, layer by layer."""
        hand_back_memory()
        learned, encoder = self.learned(model), model.encoder
        hidden, width = encoder.weight_in.shape[1], encoder.weight_out.shape[1]

        def aggregated(table: NodeTable) -> Callable[[Ids], Tensor]:
            def rows_of(nodes: Ids) -> Tensor:
                around, graph = learned(nodes)
                summed = graph @ torch.from_numpy(table.rows(around.nodes))
                return summed.to(self.device)

            return rows_of

        def first(nodes: Ids) -> Tensor:
            return self.features.of(nodes).times(encoder.weight_in)

        inner = aggregated(self._layer("layer-1", hidden, first))

        def second(nodes: Ids) -> Tensor:
            return torch.relu(inner(nodes) + encoder.bias_in) @ encoder.weight_out

        outer = aggregated(self._layer("layer-2", width, second))
        return self._layer("representations", width, lambda nodes: outer(nodes) + encoder.bias_out)

    def _layer(self, name: str, dim: int, rows_of: Callable[[Ids], Tensor]) -> NodeTable:
        with SharedDraft(self.ranks, self.work / name, name, self.plan) as draft:
            draft.rows(name, dim, rows_of, self.sketch)
        return Artifact.open(self.work / name).nodes(name)

    @property
    def num_anchor_edges(self) -> int:
        return self.anchor.num_links

    def write(self, model: Model, out: Parts) -> dict[str, Table]:
        """What was learned, as tables: every shard copied to where the stage wants it."""
        found = {"representations": self.represent(model), "embeddings": self.embed(model)}
        tables = {}
        for name, rows in found.items():
            dim = rows.shape[1]

            def copy(shard: int, name: str = name, rows: NodeTable = rows, dim: int = dim) -> Part:
                blocks = iter([rows.read(*self.plan.bounds(shard))])
                return write_rows_part(out, name, shard, blocks, dim, "float32")

            parts = [part for _, part in self.ranks.map(copy, range(self.plan.num_shards))]
            tables[name] = rows_table(name, parts, dim, "float32")
        tables["candidates"] = self._write_candidates(out)
        tables["context"] = self.ranks.lead(lambda: write_tensors(out, "context", self._fitted))
        return tables

    def _write_candidates(self, out: Parts) -> Table:
        """Those of the last refresh, which are of the embeddings as they are."""

        def copy(shard: int) -> Part:
            found = self._candidates.read(*self.plan.bounds(shard))
            return write_edge_part(out, "candidates", shard, found)

        return edge_table([part for _, part in self.ranks.map(copy, range(self.plan.num_shards))])

    def save(self) -> None:
        """Every version is on disk from the start."""

    def restore(self, model: Model, versions: dict[str, int]) -> None:
        """Go on with these versions, and the model that the sketch was made with."""
        self.versions = dict(versions)
        for kind in versions:
            self._open(kind)
        self._keep_degrees(self.embed(model))
        self._find_places()

    def _find_places(self) -> None:
        """Once: a training that goes on shares seeds out, and so rounds sums, as it did before."""
        if self.ranks.size > 1:
            path = self.work / "places.npy"
            self._places = self.ranks.lead(lambda: kept_places(path, self.seen.table, self.sketch))

    def _embedder(self, model: Model) -> Callable[[Ids], Tensor]:
        return lambda nodes: model.learner(self.seen.between(int(nodes[0]), int(nodes[-1]) + 1))

    def _first_anchor(self) -> None:
        given, first = self._given, self._first
        with self._draft("anchor") as draft:
            if first is not None:
                draft.links(lambda shard: shards.stored(first.edges(), self.plan, shard))
            elif given is None:
                draft.links(lambda shard: shards.identity(self.plan, shard))
            else:
                degree = np.concatenate(draft.shards(self._given_degree))
                draft.links(lambda shard: shards.given_anchor(given, degree, self.plan, shard))
        self._open("anchor")

    def _given_degree(self, shard: int) -> Vector:
        assert self._given is not None
        start, stop = self.plan.bounds(shard)
        edges = self._given.read(start, stop)
        total = np.bincount(edges.src - start, edges.weight, minlength=stop - start)
        return (1.0 + total).astype(np.float32)

    def _new_sketch(self, model: Model, nearest: Artifact | None = None) -> None:
        """Embed, search unless the candidates are known, mirror, unite, weigh."""
        embeddings = self.embed(model)
        hand_back_memory()  # there will be an index to hold
        config, kept = self.config, self._given if self.config.knn.keep_given else None
        last = self._folder("sketch")
        before = Artifact.open(last) if last.exists() else None
        with self._draft("sketch") as draft:
            if nearest is None:
                source = Artifact.open(self.work / "embeddings")
                search = find_candidates(
                    source, "embeddings", draft.parts, config.knn, config.run, self.ranks, before
                )
                for name, table in search.tables.items():
                    draft.add(name, table)
                draft.facts(search.facts)
                found = EdgeTable(draft.parts.folder, search.tables["edges"], self.num_nodes)
            else:
                found = nearest.edges()
            hand_back_memory()
            scratch = self.ranks.lead(draft.parts.scratch)
            draft.shards(lambda shard: shards.mirror(found, self.plan, shard, scratch))
            draft.links(lambda shard: shards.union(found, kept, self.plan, shard, scratch))
        self._open("sketch")
        hand_back_memory()
        self._keep_degrees(embeddings)
        hand_back_memory()  # steps need far less than a renewal of everything

    def _keep_degrees(self, embeddings: NodeTable) -> None:
        """For batches that do not follow all edges."""
        if self.config.contrast.fanout != "all":
            self.degree = self._degrees(embeddings)

    def _draft(self, kind: str) -> SharedDraft:
        """Of the next version."""
        self.versions[kind] += 1
        return SharedDraft(self.ranks, self._folder(kind), kind, self.plan)

    def _folder(self, kind: str) -> Path:
        return version_folder(self.work, kind, self.versions[kind])

    def _open(self, kind: str) -> None:
        """Use the version that was just published or restored."""
        artifact = Artifact.open(self._folder(kind))
        setattr(self, kind, LinkTable(artifact))
        if kind == "sketch":
            self._candidates = (artifact if "edges" in artifact else self._nearest).edges()
