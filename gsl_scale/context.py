"""What a learner sees of a node: its features and, beside them, what surrounds it.

Kinds of surroundings: `smooth`, features smoothed over the given graph; `encoded`, what an encoder
makes of it there (`encoded.py`); `manifold`, where the node lies on its own kNN graph; `topics`,
which features go together; `words`, rare features with their topics. All come before the learner,
so they cost nothing per step.
"""

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
from torch import Tensor

from gsl_scale.config import Learner
from gsl_scale.encoded import encoded, fit_encoder
from gsl_scale.graph.features import Features
from gsl_scale.graph.weighted import Graph
from gsl_scale.knn.neighbours import Neighbours
from gsl_scale.memory import columns_at_once
from gsl_scale.postprocess import Sketch, learned_graph

_RESTART = 0.1  # of the diffusion that weighs a manifold's directions
AROUND = ("smooth", "encoded")  # over the given graph, if there is one
_ROUNDS = 20  # of subspace iteration, two steps each


# What was fitted to the nodes of a run, by name: with it others can be seen the same way.
Fitted = dict[str, Tensor]


def learner_input(
    features: Features,
    given: Graph | None,
    nearest: Neighbours | None,
    settings: Learner,
    seed: int = 0,
) -> tuple[Features, Fitted]:
    """The features alone, or [own * X, context] with rows of X and of the context of length 1.
    `nearest`: of the features; may be None where a given graph is all that is looked at. `seed`: of
    an encoder's beginning and its views."""
    rows, fitted = features.dense, Fitted()
    if settings.kind == "gnn":  # smooths by itself, at every step
        return features, fitted
    if settings.context != "none":
        context, fitted = _context(features, given, nearest, settings, seed)
        rows = beside(rows, context, settings.own)
    if settings.kind == "mlp" and 0 < settings.width < rows.shape[1]:
        fitted["narrow"] = directions(rows, settings.width)
        rows = onto(rows, fitted["narrow"])
    return features if rows is features.dense else Features.from_dense(rows.numpy()), fitted


def _context(
    features: Features,
    given: Graph | None,
    nearest: Neighbours | None,
    settings: Learner,
    seed: int,
) -> tuple[Tensor, Fitted]:
    rows = features.dense
    if settings.context in ("topics", "words"):
        fitted = fit_topics(rows, settings.directions)
        return of_words(rows, fitted, settings), fitted
    if settings.context in AROUND and given is not None:
        graph = given
    else:
        assert nearest is not None
        graph = own_graph(rows, nearest)
    if settings.context == "smooth":
        return smoothed(rows, graph, settings.hops, settings.restart), {}
    if settings.context == "encoded":
        fitted = fit_encoder(features, graph, seed)
        return encoded(features, graph, fitted), fitted
    found = manifold(graph, settings.directions)
    return found, {"manifold": found}


def beside(rows: Tensor, context: Tensor, own: float) -> Tensor:
    around = F.normalize(context, dim=1)
    return torch.hstack([own * F.normalize(rows, dim=1), around]) if own else around


def own_graph(rows: Tensor, nearest: Neighbours) -> Graph:
    """Of the features' own neighbours, the nearest third of the candidates; normalised."""
    few = nearest.best(max(1, nearest.ids.shape[1] // 3)).ids
    return learned_graph(rows, Sketch.from_candidates(few)).normalised()


def smoothed(rows: Tensor, graph: Graph, hops: int, restart: float) -> Tensor:
    """Personalised PageRank over a normalised graph, on rows of length 1.

    The GNN learner with its propagation taken out of the loop: an Attentive or MLP learner of
    smoothed features sees the graph too, and embeds any node on its own.
    """
    unit = F.normalize(rows, dim=1)
    whole = torch.empty_like(unit)
    columns = columns_at_once(len(rows))
    for some, out in zip(unit.split(columns, 1), whole.split(columns, 1), strict=True):
        own = some.contiguous()
        found = own
        for _ in range(hops):
            found = (1.0 - restart) * (graph @ found) + restart * own
        out.copy_(found)
    return whole


def manifold(graph: Graph, number: int) -> Tensor:
    """The smoothest directions of a normalised graph, each with its weight in a diffusion.

    Two nodes are close if walks from them meet, however far apart their features are. Subspace
    iteration, and a solve instead of eigenvectors: those of equal eigenvalues (a graph in pieces
    has many) are anyone's choice, and the last bit of a sum would make it.
    """
    matrix = graph.to_scipy().astype(np.float64)
    number = min(number, matrix.shape[0])
    space = np.random.default_rng(0).standard_normal((matrix.shape[0], number))
    for _ in range(_ROUNDS):
        space, _ = np.linalg.qr(matrix @ (matrix @ space))
    within = space.T @ (matrix @ space)
    reach = np.linalg.solve(np.eye(number) - (1.0 - _RESTART) * within, np.eye(number))
    # Rounded, so that one thread and two give the same bits.
    return torch.from_numpy(np.round(_RESTART * space @ reach, 9).astype(np.float32))


def fit_topics(rows: Tensor, number: int) -> Fitted:
    """How rare each feature is (inverse document frequency), and the directions of topics."""
    present = (rows != 0).sum(0)
    fitted = {"rarity": torch.log((1.0 + len(rows)) / (1.0 + present))}
    return fitted | {"topics": directions(_rare(rows, fitted), min(number, *rows.shape))}


def of_words(rows: Tensor, fitted: Fitted, settings: Learner) -> Tensor:
    """The context of rows whose columns are words: `topics` or `words`."""
    if settings.context == "topics":
        return topics(rows, fitted)
    return words(rows, fitted, settings.weight_of_topics)


def topics(rows: Tensor, fitted: Fitted) -> Tensor:
    """Latent semantic analysis: rare features count more, then the strongest directions."""
    return onto(_rare(rows, fitted), fitted["topics"])


def words(rows: Tensor, fitted: Fitted, weight: float) -> Tensor:
    """Rare words count more, and beside them the topics they make count `weight`."""
    found = F.normalize(topics(rows, fitted), dim=1)
    return torch.hstack([_rare(rows, fitted), weight * found])


def _rare(rows: Tensor, fitted: Fitted) -> Tensor:
    """Rows of length 1 in which a feature counts by its rarity."""
    return F.normalize(rows * fitted["rarity"], dim=1)


def directions(rows: Tensor, width: int) -> Tensor:
    """The `width` directions onto which rows keep their inner products best (truncated SVD).

    A d × d layer costs n d² per product; smoothed features have far fewer directions than columns.
    """
    from sklearn.utils.extmath import randomized_svd  # seconds to import, and workers need it not

    _, _, found = randomized_svd(rows.numpy(), width, n_iter=4, random_state=0)
    return torch.from_numpy(np.ascontiguousarray(found))


def onto(rows: Tensor, directions: Tensor) -> Tensor:
    """Projected."""
    return torch.from_numpy(np.ascontiguousarray(rows.numpy() @ directions.numpy().T))
