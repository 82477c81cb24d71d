"""What the learner sees of new nodes, what it makes of it, and what the encoder makes of that.

Each kind of context comes to a new node as it came to the old ones: smoothed or encoded over the
given graph with the new nodes in it, or over the features' own neighbours; encoder, topics and
projections are those fitted to the run. A place on the manifold is where a node's neighbours lie.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from gsl_scale.config import Learner
from gsl_scale.context import Fitted, beside, of_words, onto, own_graph, smoothed
from gsl_scale.contrast.encoder import Encoder
from gsl_scale.encoded import encoded
from gsl_scale.errors import InputError
from gsl_scale.extend.rows import JoinedRows
from gsl_scale.graph.features import Features
from gsl_scale.graph.sample import Block
from gsl_scale.graph.weighted import Graph, with_self_loops
from gsl_scale.knn.neighbours import Ids, Neighbours
from gsl_scale.knn.search import read_candidates
from gsl_scale.learners import LEARNERS
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.edges import Edges, EdgeTable
from gsl_scale.store.matrix import edges_matrix


@dataclass(frozen=True)
class Trained:
    """What a run has learned."""

    learner: Learner  # the settings
    fitted: Fitted
    model: dict[str, Tensor]
    scale: float

    def part(self, name: str) -> dict[str, Tensor]:
        """The tensors of the learner, the encoder or the projector."""
        start = f"{name}."
        return {
            key.removeprefix(start): value
            for key, value in self.model.items()
            if key.startswith(start)
        }

    def scaled(self, rows: Any) -> Tensor:
        return torch.from_numpy(rows.astype(np.float32) * np.float32(self.scale))


@torch.no_grad()
def embed(trained: Trained, data: Artifact, knn: Artifact, first: int) -> tuple[Tensor, Fitted]:
    """Embeddings of nodes first, first + 1, ..., and what is fitted to all nodes now; `data` and
    `knn` have them all."""
    settings = trained.learner
    if settings.kind == "gnn":
        rows = trained.scaled(data.nodes().read())
        learner = _learner(trained, rows.shape[1])
        given = _given(data, read_candidates(knn), first)
        embeddings: Tensor = learner(Features.from_dense(rows.numpy()), given)
        return embeddings[first:].clone(), trained.fitted
    seen, fitted = _seen(trained, data, knn, first)
    embeddings = _learner(trained, seen.shape[1])(Features.from_dense(seen.numpy()))
    return embeddings, fitted


def require_edges(settings: Learner, edges: object) -> None:
    if settings.kind == "gnn" and edges is None:
        raise InputError(
            "The learner of the run is gnn, and new nodes come without edges.",
            "This learner embeds a node by the nodes it is joined to.",
            "Give their edges with --edges, or train an attentive or mlp learner.",
        )


def _learner(trained: Trained, dim: int) -> Any:
    settings = trained.learner
    learner = LEARNERS[settings.kind](dim, settings.layers, settings.activation)
    learner.load_state_dict(trained.part("learner"))
    return learner.eval()


def _seen(trained: Trained, data: Artifact, knn: Artifact, first: int) -> tuple[Tensor, Fitted]:
    settings, fitted = trained.learner, trained.fitted
    new = trained.scaled(data.nodes().read(first))
    rows = new
    if settings.context in ("topics", "words"):
        context = of_words(new, fitted, settings)
        rows = beside(new, context, settings.own)
    elif settings.context != "none":
        every, nearest = trained.scaled(data.nodes().read()), read_candidates(knn)
        if settings.context == "manifold":
            graph = own_graph(every, nearest)
            context = _placed(graph, fitted["manifold"], settings.hops)
            fitted = fitted | {"manifold": torch.vstack([fitted["manifold"], context])}
        else:
            graph = _given(data, nearest, first) if "edges" in data else own_graph(every, nearest)
            context = _around(settings, fitted, every, graph)[first:]
        rows = beside(new, context, settings.own)
    return (onto(rows, fitted["narrow"]) if "narrow" in fitted else rows), fitted


def _around(settings: Learner, fitted: Fitted, rows: Tensor, graph: Graph) -> Tensor:
    if settings.context == "encoded":
        return encoded(Features.from_dense(rows.numpy()), graph, fitted)
    return smoothed(rows, graph, settings.hops, settings.restart)


def _given(data: Artifact, nearest: Neighbours, first: int) -> Graph:
    """The given graph, normalised. New nodes without an edge are joined to the nearest third of
    their candidates, or they would have no surroundings."""
    matrix = edges_matrix(data)
    alone = first + np.flatnonzero(np.diff(matrix.indptr[first:]) == 0)
    some = Neighbours(nearest.ids[alone], nearest.similarity[alone])
    ids, similarity = some.best(max(1, nearest.ids.shape[1] // 3))
    ends = (np.repeat(alone, ids.shape[1]), ids.ravel())
    extra = sp.csr_matrix((np.maximum(similarity, 0).ravel(), ends), matrix.shape)
    matrix = (matrix + extra.maximum(extra.T)).tocsr()
    return Graph.from_scipy(with_self_loops(matrix)).normalised()


def _placed(graph: Graph, old: Tensor, rounds: int) -> Tensor:
    """Each new node at the mean of its neighbours, which may be new themselves."""
    first = len(old)
    matrix = graph.to_scipy()[first:]
    places = np.zeros((graph.pattern.shape[0], old.shape[1]), np.float32)
    places[:first] = old.numpy()
    for _ in range(rounds):
        places[first:] = matrix @ places
    return torch.from_numpy(places[first:].copy())


@torch.no_grad()
def represent(trained: Trained, features: JoinedRows, graph: EdgeTable, new: Edges) -> Tensor:
    """The encoder's representations of the new nodes; only what lies within two hops is read.

    `graph`: the edges of the run; `new`: those that touch new nodes.
    """
    first, (total, _) = features.num_old, features.shape
    seeds = np.arange(first, total)
    hidden = np.union1d(seeds, new.dst[new.src >= first])
    wanted = np.zeros(total, bool)
    wanted[hidden] = True
    degree = 1.0 + np.bincount(new.src, new.weight, total)
    kept = [[column[wanted[new.src]] for column in new]]
    for part, edges in graph.parts():
        count = part.stop - part.start
        degree[part.start : part.stop] += np.bincount(edges.src - part.start, edges.weight, count)
        kept.append([column[wanted[edges.src]] for column in edges])
    src, dst, weight = (np.concatenate(columns) for columns in zip(*kept, strict=True))
    around = np.union1d(hidden, dst)
    root = np.sqrt(degree)

    def rows_of(nodes: Ids, columns: Ids) -> Graph:
        mine = np.isin(src, nodes)
        ends = np.append(src[mine], nodes), np.append(dst[mine], nodes)  # with self-loops
        value = np.append(weight[mine], np.ones(len(nodes))) / (root[ends[0]] * root[ends[1]])
        at = np.searchsorted(nodes, ends[0]), np.searchsorted(columns, ends[1])
        return Graph.from_scipy(sp.csr_matrix((value, at), (len(nodes), len(columns))))

    tensors = trained.part("encoder")
    (dim, width), (_, out) = tensors["weight_in"].shape, tensors["weight_out"].shape
    encoder = Encoder(dim, width, out)
    encoder.load_state_dict(tensors)
    shown = Features.from_dense(trained.scaled(features.rows(around)).numpy())
    block = Block(rows_of(seeds, hidden), rows_of(hidden, around), shown, None)
    found: Tensor = encoder(block)
    return found
