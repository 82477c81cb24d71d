"""The encoder, a GCN shared by both views, and the projector behind it."""

import torch
from torch import Tensor, nn

from gsl_scale.contrast.views import dropout
from gsl_scale.graph.features import Features
from gsl_scale.graph.weighted import Graph


class Encoder(nn.Module):
    """Two GCN layers: H = G relu(G X W1 + b1) W2 + b2, for a normalised graph G."""

    def __init__(self, dim_in: int, dim_hidden: int, dim_out: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.weight_in = nn.Parameter(nn.init.xavier_uniform_(torch.empty(dim_in, dim_hidden)))
        self.bias_in = nn.Parameter(torch.zeros(dim_hidden))
        self.weight_out = nn.Parameter(nn.init.xavier_uniform_(torch.empty(dim_hidden, dim_out)))
        self.bias_out = nn.Parameter(torch.zeros(dim_out))
        self.dropout = dropout

    def forward(
        self,
        graph: Graph,
        features: Features,
        mask: Tensor | None = None,
        key: int | None = None,
        seeds: Tensor | None = None,
    ) -> Tensor:
        """`mask` hides features; with a `key` (in training) hidden entries are dropped; the
        representations are those of the `seeds` only, in their order, or of all nodes."""
        hidden = torch.relu(graph @ features.times(self.weight_in, mask) + self.bias_in)
        if key is not None:
            hidden = dropout(hidden, self.dropout, key)
        last = graph if seeds is None else graph.at(seeds)
        return last @ (hidden @ self.weight_out) + self.bias_out


def projector(dim_in: int, dim_out: int) -> nn.Module:
    return nn.Sequential(nn.Linear(dim_in, dim_out), nn.ReLU(), nn.Linear(dim_out, dim_out))
