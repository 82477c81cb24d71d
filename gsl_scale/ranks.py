"""The processes of one training: what they exchange, and how they share work out.

All of them run the same code. `map` is that of an engine: every rank does its share of the tasks
and every rank sees all results. An error of one is raised in all, so that nobody waits for ever.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from gsl_scale.engine import Engine, InProcess, gpus_here

Task = TypeVar("Task")
Result = TypeVar("Result")


class Ranks(Engine, Protocol):
    rank: int
    size: int
    exchanged: int  # bytes of the sums so far; of gathered rows half, as each goes one way only

    def lead(self, function: Callable[[], Result]) -> Result:
        """What the first rank makes, for all."""
        ...

    def sum(self, value: Tensor) -> "Arriving":
        """Begin to add up what all ranks have."""
        ...

    def gather(self, mine: Tensor, total: int) -> "Arriving":
        """Begin to fetch the rows of all ranks; each has its slice of `total`."""
        ...

    def share(self, rows: Tensor) -> "Arriving":
        """Begin to fetch this rank's slice of the sum over all ranks: how gradients of gathered
        rows go back."""
        ...

    def slice(self, total: int) -> slice:
        """This rank's share of `total` things in order."""
        ...


Arriving = Callable[[], Tensor]  # waits until the rows are there


class Alone(InProcess):
    """One process, which has nobody to talk to."""

    rank, size, exchanged = 0, 1, 0

    def lead(self, function: Callable[[], Result]) -> Result:
        return function()

    def sum(self, value: Tensor) -> Arriving:
        return lambda: value

    def gather(self, mine: Tensor, total: int) -> Arriving:
        return lambda: mine

    def share(self, rows: Tensor) -> Arriving:
        return lambda: rows

    def slice(self, total: int) -> slice:
        return slice(0, total)


ALONE = Alone()


class Together:
    """The ranks of torch.distributed, whose collectives end with an error after a time limit."""

    def __init__(self) -> None:
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.exchanged = 0

    @property
    def gpus(self) -> int:
        return gpus_here()

    def map(
        self, function: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Iterator[tuple[Task, Result]]:
        mine: list[Any] = []
        failed: Exception | None = None
        try:
            mine = [function(task) for task in tasks[self.rank :: self.size]]
        except Exception as error:
            failed = error
        everyone: list[Any] = [None] * self.size
        dist.all_gather_object(everyone, failed or mine)
        _raise_any(everyone)
        for number, task in enumerate(tasks):
            yield task, everyone[number % self.size][number // self.size]

    def lead(self, function: Callable[[], Result]) -> Result:
        told: list[Any] = [None]
        if self.rank == 0:
            try:
                told[0] = function()
            except Exception as error:
                told[0] = error
        dist.broadcast_object_list(told)
        _raise_any(told)
        made: Result = told[0]
        return made

    def sum(self, value: Tensor) -> Arriving:
        total = value.clone()
        under_way: Any = dist.all_reduce(total, async_op=True)
        self.exchanged += total.numel() * total.element_size()

        def arrived() -> Tensor:
            under_way.wait()
            return total

        return arrived

    def gather(self, mine: Tensor, total: int) -> Arriving:
        counts = self._counts(total)
        most = max(counts)
        spare = mine.new_empty(most - len(mine), *mine.shape[1:])
        told = torch.cat([mine, spare]) if len(spare) else mine.contiguous()
        whole = mine.new_empty(self.size * most, *mine.shape[1:])
        under_way = dist.all_gather_single(whole, told, async_op=True)
        self.exchanged += total * whole[:1].nbytes // 2

        def arrived() -> Tensor:
            under_way.wait()
            if min(counts) == most:
                return whole
            rows = whole.unflatten(0, (self.size, most))
            return torch.cat([rows[rank, :count] for rank, count in enumerate(counts)])

        return arrived

    def share(self, rows: Tensor) -> Arriving:
        counts = self._counts(len(rows))
        mine = counts[self.rank]
        told = rows.new_empty(self.size * mine, *rows.shape[1:])
        under_way: Any = dist.all_to_all_single(
            told, rows, [mine] * self.size, counts, async_op=True
        )
        self.exchanged += rows.nbytes // 2

        def arrived() -> Tensor:
            under_way.wait()
            summed: Tensor = told.unflatten(0, (self.size, mine)).sum(0)
            return summed

        return arrived

    def slice(self, total: int) -> slice:
        return slice(self.rank * total // self.size, (self.rank + 1) * total // self.size)

    def _counts(self, total: int) -> list[int]:
        """How long each rank's slice is; they differ by one at the most."""
        ends = [rank * total // self.size for rank in range(self.size + 1)]
        return [end - start for start, end in pairwise(ends)]


def _raise_any(found: list[Any]) -> None:
    for rank, one in enumerate(found):
        if isinstance(one, Exception):
            if getattr(one, "rank", 0) is None:
                one.rank = rank  # type: ignore[attr-defined]
            raise one
