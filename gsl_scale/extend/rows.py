"""Rows of a run's nodes, on disk, with those of new nodes, in memory, behind them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gsl_scale.knn.neighbours import Ids
from gsl_scale.store.nodes import NodeTable

Rows = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class JoinedRows:
    """Like a `NodeTable` of all nodes."""

    old: NodeTable
    new: Rows

    @property
    def num_old(self) -> int:
        return self.old.shape[0]

    @property
    def shape(self) -> tuple[int, int]:
        return self.num_old + len(self.new), self.old.shape[1]

    def blocks(self) -> Iterator[Rows]:
        yield from (rows for _, rows in self.old.parts())
        yield self.new

    def read(self, start: int, stop: int) -> Rows:
        n = self.num_old
        if start >= n:
            return self.new[start - n : stop - n]
        old = self.old.read(start, min(stop, n))
        return old if stop <= n else np.concatenate([old, self.new[: stop - n]])

    def rows(self, nodes: Ids) -> Rows:
        new = nodes >= self.num_old
        out = np.empty((len(nodes), self.shape[1]), self.new.dtype)
        out[~new] = self.old.rows(nodes[~new])
        out[new] = self.new[nodes[new] - self.num_old]
        return out
