"""NT-Xent: a node's two projections should be more alike than those of different nodes (Eq. 12)."""

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
from torch import Tensor

from gsl_scale.ranks import ALONE, Ranks


def nt_xent(
    z_learner: Tensor, z_anchor: Tensor, temperature: float, ranks: Ranks = ALONE, total: int = 0
) -> Tensor:
    """Symmetric over the views; each row against all rows of the other view, itself included.

    Among several ranks, the rows are this rank's slice of the `total` of the batch. The value is
    that of the whole batch; the gradients of all ranks add up to that of the whole batch.
    """
    columns = ranks.gather(F.normalize(z_anchor, dim=1), total)
    similarity = (F.normalize(z_learner, dim=1) / temperature) @ columns.t()
    loss: Tensor = _BothWays.apply(similarity, 1.0 / temperature, ranks)  # type: ignore[no-untyped-call]
    return loss


class _BothWays(torch.autograd.Function):
    """Mean cross-entropy of rows and of columns against the diagonal, with one exponential.

    `highest` bounds the similarities; down to -highest nothing underflows for temperatures
    from 0.025 on. Two calls of torch's own cross-entropy took a third of a step.
    """

    @staticmethod
    def forward(ctx: Any, similarity: Tensor, highest: float, ranks: Ranks) -> Tensor:
        total = similarity.shape[1]
        ctx.mine = ranks.slice(total)
        power = (similarity - highest).exp_()
        rows, columns = power.sum(1, keepdim=True), ranks.sum(power.sum(0, keepdim=True))
        ctx.save_for_backward(power, rows, columns)
        each = (rows.squeeze(1).log() + columns.squeeze(0)[ctx.mine].log()) / 2 + highest
        same = similarity[:, ctx.mine].diagonal()
        return ranks.sum((each - same).sum()) / total

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        power, rows, columns = ctx.saved_tensors
        scale = grad / (2 * columns.numel())
        change = power * (scale / rows + scale / columns)
        change[:, ctx.mine].diagonal().sub_(2 * scale)
        return change, None, None
