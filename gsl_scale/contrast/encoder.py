"""The encoder, a GCN shared by both views, and the projector behind it."""

from typing import Any

import torch
from torch import Tensor, nn

from gsl_scale.contrast.views import survivors
from gsl_scale.graph.sample import Block


class Encoder(nn.Module):
    """Two GCN layers: H = G relu(G X W1 + b1) W2 + b2, for a normalised graph G."""

    def __init__(self, dim_in: int, dim_hidden: int, dim_out: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.weight_in = nn.Parameter(nn.init.xavier_uniform_(torch.empty(dim_in, dim_hidden)))
        self.bias_in = nn.Parameter(torch.zeros(dim_hidden))
        self.weight_out = nn.Parameter(nn.init.xavier_uniform_(torch.empty(dim_hidden, dim_out)))
        self.bias_out = nn.Parameter(torch.zeros(dim_out))
        self.dropout = int(dropout * 256) / 256  # as `survivors` rounds it

    def forward(self, block: Block, mask: Tensor | None = None, key: int | None = None) -> Tensor:
        """The seeds' representations. `mask` hides features; with a `key` (in training) hidden
        entries are dropped."""
        summed = _aggregated(block, self.weight_in, mask)
        alive, share = None, 1.0
        if key is not None and self.dropout > 0.0:
            nodes = block.hidden
            if nodes is None:
                nodes = torch.arange(len(summed), device=summed.device)
            alive, share = survivors(summed.shape, self.dropout, key, nodes), 1.0 - self.dropout
        hidden: Tensor = _Activated.apply(summed, self.bias_in, alive)  # type: ignore[no-untyped-call]
        return block.outer @ (hidden @ (self.weight_out / share)) + self.bias_out


class _Activated(torch.autograd.Function):
    """relu(x + bias) without what is dropped: where nothing is left no gradient goes back, for
    either reason, so one matrix is kept and gone through once."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, bias: Tensor, alive: Tensor | None) -> Tensor:
        hidden = (x + bias).relu_()
        if alive is not None:
            hidden.mul_(alive)
        ctx.save_for_backward(hidden)
        return hidden

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        (hidden,) = ctx.saved_tensors
        change = torch.ops.aten.threshold_backward(grad, hidden, 0.0)
        return change, change.sum(0), None


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
