"""The graphs of a training in the memory of one process, every node in every batch's reach."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from gsl_scale.anchor import blend, first_anchor
from gsl_scale.config import Config
from gsl_scale.context import learner_input
from gsl_scale.contrast.views import ANCHOR, LEARNER, drop_edges, key_of
from gsl_scale.graph.features import Features
from gsl_scale.graph.sample import Block
from gsl_scale.graph.weighted import Graph, with_self_loops
from gsl_scale.knn.finder import Finder
from gsl_scale.knn.neighbours import Neighbours
from gsl_scale.postprocess import Sketch, learned_graph, reweighted
from gsl_scale.ranks import ALONE
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.edges import Edges, edge_table, write_edge_part
from gsl_scale.store.links import LinkTable, Rows
from gsl_scale.store.manifest import Table
from gsl_scale.store.matrix import edges_matrix
from gsl_scale.store.nodes import write_rows
from gsl_scale.store.parts import Parts
from gsl_scale.store.shards import ShardPlan
from gsl_scale.store.tensors import write_tensors
from gsl_scale.train.checkpoint import version_folder
from gsl_scale.train.shared_draft import SharedDraft
from gsl_scale.train.step import Model


class WholeGraphs:
    """Candidates and anchor; `config` has no 'auto' left."""

    device = torch.device("cpu")

    def __init__(
        self,
        config: Config,
        features: Features,
        given: sp.csr_matrix | None,
        nearest: Neighbours,
        work: Path | None = None,
        first: Artifact | None = None,
    ) -> None:
        """`nearest`: the kNN candidates of the features; `work`: where versions are saved; `first`:
        the anchor to begin with, if the config names its sources."""
        self.config, self.features = config, features
        self.num_nodes = features.shape[0]
        self._find = Finder(config.knn, config.run)
        self._kept_edges = given if config.knn.keep_given else None
        self.given = (
            None if given is None else Graph.from_scipy(with_self_loops(given)).normalised()
        )
        self.seen, self._fitted = learner_input(
            features, self.given, nearest, config.learner, config.train.seed
        )
        self.anchor = (
            first_anchor(given, self.num_nodes)
            if first is None
            else Graph.from_scipy(edges_matrix(first))
        )
        self._nearest = nearest
        self.versions = {"sketch": -1, "anchor": -1}
        self._work = work
        self._plan = ShardPlan.choose(self.num_nodes)
        self.candidates: Neighbours
        self.sketch: Sketch

    @property
    def dims(self) -> tuple[int, int]:
        """Columns of the features, and of what the learner sees."""
        return self.features.shape[1], self.seen.shape[1]

    def start(self, model: Model) -> None:
        """Learners start as the identity: without context they begin with the kNN graph."""
        plain = self.seen is self.features and self.config.learner.kind != "gnn"
        self._set(self._nearest if plain else self._find_candidates(model))

    def arranged(self, seeds: Tensor) -> Tensor:
        return seeds

    def batch(self, seeds: Tensor, step: int) -> "WholeBatch":
        return WholeBatch(self, seeds, step)

    def refresh(self, model: Model) -> float:
        """New candidates for the embeddings as they are now; how many of them are old ones."""
        before = self.candidates
        self._set(self._find_candidates(model))
        both = np.concatenate([before.ids, self.candidates.ids], axis=1)
        both.sort(axis=1)
        return float((both[:, 1:] == both[:, :-1]).sum() / before.ids.size)

    def blend(self, model: Model) -> None:
        """Line 16: the anchor takes in a little of the learned graph."""
        anchor = self.config.anchor
        self.anchor = blend(self.anchor, self.learned(model), anchor.tau, anchor.budget)

    @torch.no_grad()
    def embed(self, model: Model) -> Tensor:
        embeddings: Tensor = model.learner(self.seen, self.given)
        return embeddings

    @torch.no_grad()
    def learned(self, model: Model) -> Graph:
        """The learned graph as it is now, normalised and without augmentation."""
        return learned_graph(self.embed(model), self.sketch).normalised()

    @torch.no_grad()
    def written(self, model: Model) -> Graph:
        """The graph that the export stage would write, with self-loops."""
        learned, settings = learned_graph(self.embed(model), self.sketch), self.config.export
        if settings.given != "kept" and settings.share_of_new == 1.0:
            return learned
        return reweighted(learned, self._kept_edges, settings)

    @torch.no_grad()
    def represent(self, model: Model) -> Tensor:
        representations: Tensor = model.encoder(Block.whole(self.learned(model), self.features))
        return representations

    @property
    def num_anchor_edges(self) -> int:
        return self.anchor.num_edges

    def write(self, model: Model, out: Parts) -> dict[str, Table]:
        """What was learned, as tables."""
        tables = {"embeddings": self.embed(model), "representations": self.represent(model)}
        written = {
            name: write_rows(out, name, [rows.numpy()], rows.shape[1], "float32")
            for name, rows in tables.items()
        }
        written["candidates"] = edge_table(
            [
                write_edge_part(out, "candidates", shard, _candidate_edges(self.candidates, *ends))
                for shard, *ends in out.plan
            ]
        )
        return written | {"context": write_tensors(out, "context", self._fitted)}

    def save(self) -> None:
        """As versions like those of `sharded.py`, so that workers could go on with them."""
        assert self._work is not None
        for kind, graph in (("sketch", self.sketch.graph), ("anchor", self.anchor)):
            self.versions[kind] += 1
            folder = version_folder(self._work, kind, self.versions[kind])
            with SharedDraft(ALONE, folder, kind, self._plan) as draft:
                draft.links(partial(_shard_of, graph, self._plan))
                if kind == "sketch":
                    draft.edges(
                        lambda shard: _candidate_edges(self.candidates, *self._plan.bounds(shard))
                    )

    def restore(self, model: Model, versions: dict[str, int]) -> None:
        assert self._work is not None
        self.versions = dict(versions)
        sketch, anchor = (
            Artifact.open(version_folder(self._work, kind, versions[kind]))
            for kind in ("sketch", "anchor")
        )
        edges = sketch.edges().read() if "edges" in sketch else self._nearest.edges()
        shape = (self.num_nodes, -1)
        self._set(Neighbours(edges.dst.reshape(shape), edges.weight.reshape(shape)))
        counts, dst, value = LinkTable(anchor).rows(np.arange(self.num_nodes))
        indptr = np.append(0, np.cumsum(counts))
        shape = (self.num_nodes, self.num_nodes)
        self.anchor = Graph.from_scipy(sp.csr_matrix((value, dst, indptr), shape))

    def _find_candidates(self, model: Model) -> Neighbours:
        return self._find(self.embed(model).numpy())

    def _set(self, candidates: Neighbours) -> None:
        self.candidates = candidates
        self.sketch = Sketch.from_candidates(candidates.ids, self._kept_edges)


@dataclass(frozen=True)
class WholeBatch:
    graphs: WholeGraphs
    seeds: Tensor
    step: int

    @property
    def seen(self) -> Features:
        return self.graphs.seen

    @property
    def given(self) -> Graph | None:
        return self.graphs.given

    def look_up(self) -> None:
        """Everything is in memory."""

    def learned(self, embeddings: Tensor) -> Block:
        learned = learned_graph(embeddings, self.graphs.sketch).normalised()
        return self._block(learned, LEARNER)

    def anchored(self) -> Block:
        return self._block(self.graphs.anchor, ANCHOR)

    def _block(self, graph: Graph, view: int) -> Block:
        config = self.graphs.config
        key = key_of(config.train.seed, self.step, view)
        dropped = drop_edges(graph, config.contrast.drop_edges, key)
        return Block.whole(dropped, self.graphs.features, self.seeds)


def _shard_of(graph: Graph, plan: ShardPlan, shard: int) -> Rows:
    start, stop = plan.bounds(shard)
    indptr = graph.pattern.indptr[start : stop + 1].numpy()
    edges = slice(int(indptr[0]), int(indptr[-1]))
    dst, value = graph.pattern.indices[edges], graph.weights.detach()[edges]
    return Rows(np.diff(indptr), dst.numpy(), value.numpy())


def _candidate_edges(candidates: Neighbours, start: int, stop: int) -> Edges:
    """Of some nodes, in the order of a store."""
    ids, similarity = candidates
    return Neighbours(ids[start:stop], similarity[start:stop]).by_id().edges(start)
