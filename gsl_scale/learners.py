"""Metric learners: from features (and the given graph) to embeddings E; similar E, likely edge.

All start as the identity, so that the first learned graph is exactly the kNN graph of the
features (for the GNN learner, of the features smoothed over the given graph).
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
from sklearn.utils.extmath import randomized_svd
from torch import Tensor, nn

from gsl_scale.graph.features import Features
from gsl_scale.graph.weighted import Graph

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "none": lambda x: x,
}


class AttentiveLearner(nn.Module):
    """Each feature has its own weight (Eq. 3)."""

    def __init__(self, dim: int, num_layers: int, activation: str) -> None:
        super().__init__()
        self.layers = nn.ParameterList(torch.ones(dim) for _ in range(num_layers))
        self.activation = _ACTIVATIONS[activation]

    def forward(self, features: Features, given: Graph | None = None) -> Tensor:
        x: Tensor = features.dense * self.layers[0]
        for weight in self.layers[1:]:
            x = self.activation(x) * weight
        return x


class MlpLearner(nn.Module):
    """Features are combined (Eq. 4)."""

    def __init__(self, dim: int, num_layers: int, activation: str) -> None:
        super().__init__()
        self.layers = nn.ParameterList(torch.eye(dim) for _ in range(num_layers))
        self.activation = _ACTIVATIONS[activation]

    def forward(self, features: Features, given: Graph | None = None) -> Tensor:
        x = features.times(self.layers[0])
        for weight in self.layers[1:]:
            x = self.activation(x) @ weight
        return x


class GnnLearner(nn.Module):
    """Features are combined and smoothed over the given graph (Eq. 5); `given` is normalised."""

    def __init__(self, dim: int, num_layers: int, activation: str) -> None:
        super().__init__()
        self.layers = nn.ParameterList(torch.eye(dim) for _ in range(num_layers))
        self.activation = _ACTIVATIONS[activation]

    def forward(self, features: Features, given: Graph | None = None) -> Tensor:
        assert given is not None
        x = given @ features.times(self.layers[0])
        for weight in self.layers[1:]:
            x = given @ (self.activation(x) @ weight)
        return x


def smoothed(features: Features, graph: Graph, hops: int, restart: float) -> Features:
    """Personalised PageRank over a normalised graph, on rows of length 1.

    The GNN learner with its propagation taken out of the loop: an Attentive or MLP learner of
    smoothed features sees the graph too, at no cost per step, and embeds any node on its own.
    """
    unit = F.normalize(features.dense, dim=1)
    rows = unit
    for _ in range(hops):
        rows = (1.0 - restart) * (graph @ rows) + restart * unit
    return Features.from_dense(rows.numpy())


def narrowed(features: Features, width: int) -> Features:
    """The projection to `width` dimensions that keeps inner products best (truncated SVD).

    A d × d layer costs n d² per product; smoothed features have far fewer directions than columns.
    """
    rows = features.dense.numpy()
    _, _, directions = randomized_svd(rows, width, n_iter=4, random_state=0)
    return Features.from_dense(rows @ directions.T)


LEARNERS: dict[str, type[nn.Module]] = {
    "attentive": AttentiveLearner,
    "mlp": MlpLearner,
    "gnn": GnnLearner,
}
