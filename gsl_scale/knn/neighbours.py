"""Neighbours of query nodes, and the one rule for who they are.

The k nodes of the largest cosine similarity, never the node itself; among equals the lower number.
Similarities are recomputed pair by pair, in one order of summation, so that they have the same bits
however a search was cut into batches, shards or workers.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import faiss
import numpy as np
import numpy.typing as npt

from gsl_scale.store.edges import Edges

Ids = npt.NDArray[np.int64]
Rows = npt.NDArray[np.float32]

NOBODY = -1  # in place of an id, with similarity -inf, where there are fewer neighbours than asked
_GATHERED = 1 << 22  # numbers gathered at a time


class Neighbours(NamedTuple):
    """For each query row its neighbours and how similar they are."""

    ids: Ids
    similarity: npt.NDArray[np.float32]

    def best(self, k: int) -> "Neighbours":
        """The k most similar, best first; among equals the lower id."""
        by_id = np.argsort(self.ids, axis=1, kind="stable")
        similarity = np.take_along_axis(self.similarity, by_id, 1)
        order = np.argsort(-similarity, axis=1, kind="stable")[:, :k]
        ids = np.take_along_axis(np.take_along_axis(self.ids, by_id, 1), order, 1)
        return Neighbours(ids, np.take_along_axis(similarity, order, 1))

    def first(self, k: int) -> "Neighbours":
        """The k best, of neighbours that are in that order."""
        return Neighbours(self.ids[:, :k], self.similarity[:, :k])

    def without(self, nodes: Ids) -> "Neighbours":
        """Query i does not have nodes[i] as its neighbour."""
        own = self.ids == nodes[:, None]
        similarity = np.where(own, np.float32(-np.inf), self.similarity)
        return Neighbours(np.where(own, NOBODY, self.ids), similarity)

    def edges(self, first: int = 0) -> Edges:
        """Of nodes first, first + 1, ..., weighed by similarity."""
        src = np.repeat(first + np.arange(len(self.ids)), self.ids.shape[1])
        return Edges(src, self.ids.ravel(), self.similarity.ravel())

    def by_id(self) -> "Neighbours":
        """The same in order of id, as edges are stored."""
        order = np.argsort(self.ids, axis=1)
        return Neighbours(
            np.take_along_axis(self.ids, order, 1), np.take_along_axis(self.similarity, order, 1)
        )


def nobody(queries: int, k: int) -> Neighbours:
    """Room for k neighbours of each query."""
    ids = np.full((queries, k), NOBODY, np.int64)
    return Neighbours(ids, np.full((queries, k), -np.inf, np.float32))


def joined(found: list[Neighbours], axis: int) -> Neighbours:
    """Answers to other queries (axis 0), or other answers to the same queries (axis 1)."""
    return Neighbours(*(np.concatenate(column, axis) for column in zip(*found, strict=True)))


def rank(groups: Ids) -> Ids:
    """The place of each entry within its group; groups are sorted."""
    return np.arange(len(groups)) - np.searchsorted(groups, groups)


def in_batches(
    search: Callable[[Rows, int, int], Neighbours], unit: Rows, k: int, batch: int
) -> Neighbours:
    """A search for all rows, some at a time."""
    starts = range(0, len(unit), batch)
    return joined([search(unit[at : at + batch], at, k) for at in starts], axis=0)


def unit_rows(rows: npt.NDArray[Any]) -> Rows:
    """A copy with rows of length 1; rows of zeros stay, and have similarity 0 to everyone."""
    unit = np.array(rows, np.float32, order="C")
    faiss.normalize_L2(unit)
    return unit


def pair_similarity(queries: Rows, rows: Rows, which: Ids, ids: Ids) -> npt.NDArray[np.float32]:
    """Of queries[which[i]] and rows[ids[i]], for all i."""
    found = np.empty(len(which), np.float32)
    step = max(1, _GATHERED // rows.shape[1])
    for at in range(0, len(which), step):
        pairs = slice(at, at + step)
        np.einsum("pd,pd->p", queries[which[pairs]], rows[ids[pairs]], out=found[pairs])
    return found
