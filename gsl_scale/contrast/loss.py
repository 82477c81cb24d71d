"""NT-Xent: a node's two projections should be more alike than those of different nodes (Eq. 12)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gsl_scale.graph.unit import unit_rows
from gsl_scale.ranks import ALONE, Arriving, Ranks

_AT_ONCE = 128  # rows


def nt_xent(z_learner: Tensor, z_anchor: Tensor, temperature: float) -> Tensor:
    """Symmetric over the views; each row against all rows of the other view, itself included."""
    return contrasted(z_learner, Told.of(z_anchor), temperature)


@dataclass(frozen=True)
class Told:
    """Rows of a view of length 1: those of this rank, and of the whole batch, on their way."""

    mine: Tensor
    everyone: Arriving
    gradient: list[Arriving]  # of `mine`, once it is on its way

    @classmethod
    def of(cls, projections: Tensor, ranks: Ranks = ALONE, total: int = 0) -> "Told":
        """The rows are this rank's slice of the `total` of the batch."""
        gradient: list[Arriving] = []
        mine: Tensor = _Awaiting.apply(unit_rows(projections), gradient)  # type: ignore[no-untyped-call]
        return cls(mine, ranks.gather(mine.detach(), total), gradient)


class _Awaiting(torch.autograd.Function):
    """The rows as they are. Their gradient, which others send, is waited for here: autograd goes
    back first to what came last, the learner's view, and meanwhile it arrives."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, gradient: list[Arriving]) -> Tensor:
        ctx.gradient = gradient
        return rows.view_as(rows)

    @staticmethod
    def backward(ctx: Any, _: Tensor) -> tuple[Tensor, None]:
        return ctx.gradient.pop()(), None


def contrasted(
    z_learner: Tensor,
    anchor: Told,
    temperature: float,
    ranks: Ranks = ALONE,
    meanwhile: Callable[[], None] = lambda: None,
) -> Tensor:
    """NT-Xent among ranks: the value is that of the whole batch; the gradients of all ranks add up
    to that of the whole batch. `meanwhile` is done while sums of other ranks are on their way."""
    rows = unit_rows(z_learner) / temperature
    columns = anchor.everyone()
    others = (anchor.gradient, ranks, meanwhile)
    loss: Tensor = _BothWays.apply(rows, anchor.mine, columns, 1.0 / temperature, others)  # type: ignore[no-untyped-call]
    return loss


class _BothWays(torch.autograd.Function):
    """Mean cross-entropy of rows and of columns against the diagonal, with one exponential.

    `highest` bounds the similarities; down to -highest nothing underflows for temperatures
    from 0.025 on. Done some rows at a time, so that a block of similarities is finished while it is
    in the cache: as whole matrices they took several times as long, waiting for memory.
    """

    @staticmethod
    def forward(
        ctx: Any, rows: Tensor, _: Tensor, columns: Tensor, highest: float, others: Any
    ) -> Tensor:
        gradient, ranks, meanwhile = others
        total = len(columns)
        first = ranks.slice(total).start
        power = rows.new_empty(len(rows), total)
        row_sums, same = rows.new_empty(len(rows), 1), rows.new_empty(len(rows))
        column_sums = rows.new_zeros(1, total + 1)  # and one place more, to exchange them at once
        for some in _blocks(len(rows)):
            block = torch.mm(rows[some], columns.t(), out=power[some])
            same[some] = block.diagonal(first + some.start)
            block.sub_(highest).exp_()
            row_sums[some] = block.sum(1, keepdim=True)
            column_sums[:, :total] += block.sum(0, keepdim=True)
        column_sums[:, total] = row_sums.log().sum() / 2 - same.sum()
        arrived = ranks.sum(column_sums)
        meanwhile()
        column_sums = arrived()
        column_sums, by_rows = column_sums[:, :total], column_sums[0, total]
        ctx.first, ctx.gradient, ctx.ranks = first, gradient, ranks
        ctx.save_for_backward(rows, columns, power, row_sums, column_sums)
        value: Tensor = (by_rows + column_sums.log().sum() / 2) / total + highest
        return value

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        rows, columns, power, row_sums, column_sums = ctx.saved_tensors
        scale = grad / (2 * len(columns))
        by_row, by_column = scale / row_sums, scale / column_sums
        to_rows, to_columns = torch.empty_like(rows), torch.zeros_like(columns)
        for some in _blocks(len(rows)):
            change = (by_row[some] + by_column).mul_(power[some])
            change.diagonal(ctx.first + some.start).sub_(2 * scale)
            torch.mm(change, columns, out=to_rows[some])
            to_columns.addmm_(change.t(), rows[some])
        ctx.gradient.append(ctx.ranks.share(to_columns))
        waited_for = to_rows.new_zeros(1, 1).expand_as(to_rows)
        return to_rows, waited_for, None, None, None


def _blocks(num_rows: int) -> Iterator[slice]:
    for at in range(0, num_rows, _AT_ONCE):
        yield slice(at, min(at + _AT_ONCE, num_rows))
