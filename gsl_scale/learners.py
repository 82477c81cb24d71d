"""Metric learners: from features (and the given graph) to embeddings E; similar E, likely edge.

All start as the identity, so that the first learned graph is exactly the kNN graph of the
features (for the GNN learner, of the features smoothed over the given graph).
"""

import functools
from collections.abc import Callable

import torch
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
    """Features are combined (Eq. 4). Layers with nothing between them are multiplied first."""

    def __init__(self, dim: int, num_layers: int, activation: str) -> None:
        super().__init__()
        self.layers = nn.ParameterList(torch.eye(dim) for _ in range(num_layers))
        self.activation = _ACTIVATIONS[activation]
        self.linear = activation == "none"

    def forward(self, features: Features, given: Graph | None = None) -> Tensor:
        if self.linear:
            return features.times(functools.reduce(torch.matmul, self.layers))
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


LEARNERS: dict[str, type[nn.Module]] = {
    "attentive": AttentiveLearner,
    "mlp": MlpLearner,
    "gnn": GnnLearner,
}
