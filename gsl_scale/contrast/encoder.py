"""The encoder, a GCN shared by both views, and the projector behind it."""

import torch
from torch import Tensor, nn

from gsl_scale.contrast.views import dropout
from gsl_scale.graph.sample import Block


class Encoder(nn.Module):
    """Two GCN layers: H = G relu(G X W1 + b1) W2 + b2, for a normalised graph G."""

    def __init__(self, dim_in: int, dim_hidden: int, dim_out: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.weight_in = nn.Parameter(nn.init.xavier_uniform_(torch.empty(dim_in, dim_hidden)))
        self.bias_in = nn.Parameter(torch.zeros(dim_hidden))
        self.weight_out = nn.Parameter(nn.init.xavier_uniform_(torch.empty(dim_hidden, dim_out)))
        self.bias_out = nn.Parameter(torch.zeros(dim_out))
        self.dropout = dropout

    def forward(self, block: Block, mask: Tensor | None = None, key: int | None = None) -> Tensor:
        """The seeds' representations. `mask` hides features; with a `key` (in training) hidden
        entries are dropped."""
        hidden = torch.relu(_aggregated(block, self.weight_in, mask) + self.bias_in)
        if key is not None:
            hidden = dropout(hidden, self.dropout, key, block.hidden)
        return block.outer @ (hidden @ self.weight_out) + self.bias_out


def _aggregated(block: Block, weight: Tensor, mask: Tensor | None) -> Tensor:
    """G X W, multiplied in the cheaper order."""
    few = 2 * block.inner.pattern.shape[0] < block.inner.pattern.shape[1]
    if few and block.features.sparse is None:
        summed = block.inner @ block.features.dense
        if mask is None:
            return summed @ weight
        shown = mask.nonzero().squeeze(1)
        return summed.index_select(1, shown) @ weight.index_select(0, shown)
    return block.inner @ block.features.times(weight, mask)


def projector(dim_in: int, dim_out: int) -> nn.Module:
    return nn.Sequential(nn.Linear(dim_in, dim_out), nn.ReLU(), nn.Linear(dim_out, dim_out))
