"""The shard plan: which range of nodes lies in which part. Independent of workers."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gsl_scale.config import AUTO
from gsl_scale.errors import InputError

NODES_PER_SHARD = 131_072


@dataclass(frozen=True)
class ShardPlan:
    """`num_shards` ranges of equal size (give or take one) over nodes 0 .. num_nodes-1."""

    num_nodes: int
    num_shards: int

    def __post_init__(self) -> None:
        if not 1 <= self.num_shards <= max(self.num_nodes, 1):
            raise InputError(
                f"{self.num_nodes} nodes cannot be split into {self.num_shards} shards.",
                "Every shard holds at least one node.",
                f"Set run.shards to auto, or to a number from 1 to {self.num_nodes}.",
            )

    @classmethod
    def choose(cls, num_nodes: int, shards: int = AUTO) -> "ShardPlan":
        if shards == AUTO:
            shards = max(1, -(-num_nodes // NODES_PER_SHARD))
        return cls(num_nodes, shards)

    def start(self, shard: int) -> int:
        return shard * self.num_nodes // self.num_shards

    def bounds(self, shard: int) -> tuple[int, int]:
        return self.start(shard), self.start(shard + 1)

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        """(shard, start, stop) in node order."""
        for shard in range(self.num_shards):
            yield (shard, *self.bounds(shard))

    def owner(self, nodes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The shard of each node."""
        starts = np.array([self.start(shard) for shard in range(self.num_shards)])
        return np.searchsorted(starts, nodes, side="right") - 1
