"""Who is near to whom once nodes are added: only pairs with a new node in them are compared.

A new node is searched for among all. An old one has its k nearest already; new nodes that are
nearer than the last of them take their place. The result is that of a search of all among all.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gsl_scale.extend.rows import JoinedRows
from gsl_scale.knn.exact import ExactIndex
from gsl_scale.knn.neighbours import (
    Ids,
    Neighbours,
    Rows,
    in_batches,
    joined,
    pair_similarity,
    rank,
    unit_rows,
)
from gsl_scale.store.edges import Edges

_ROWS_AT_ONCE = 1 << 18
_PAIRS_AT_ONCE = 1 << 16
AFFORDABLE = 5e11  # products; beyond, all are searched anew as the kNN stage would


class Search(NamedTuple):
    rows: JoinedRows
    k: int
    batch: int

    @property
    def affordable(self) -> bool:
        total, dim = self.rows.shape
        return 2.0 * total * len(self.rows.new) * dim <= AFFORDABLE

    def of_new(self) -> Neighbours:
        """The k nearest of each new node, in order of id."""
        n, (total, _) = self.rows.num_old, self.rows.shape
        queries = unit_rows(self.rows.new)
        found: Neighbours | None = None
        for at in range(0, total, _ROWS_AT_ONCE):
            piece = unit_rows(self.rows.read(at, min(at + _ROWS_AT_ONCE, total)))
            index = ExactIndex(piece, at)

            def answer(some: Rows, start: int, k: int, index: ExactIndex = index) -> Neighbours:
                return index.search(some, n + start, k)

            more = in_batches(answer, queries, self.k, self.batch)
            found = more if found is None else joined([found, more], axis=1).best(self.k)
        assert found is not None
        return found.by_id()

    def of_old(self, start: int, stop: int, index: ExactIndex, known: Edges) -> Edges:
        """The k nearest of old nodes start .. stop-1, from those known, by similarity, and the
        new ones."""
        few = min(self.k, len(self.rows.new))
        ids, similarity = index.search(unit_rows(self.rows.read(start, stop)), start, few)
        src = np.concatenate([known.src, np.repeat(np.arange(start, stop), few)])
        dst = np.concatenate([known.dst, ids.ravel()])
        weight = np.concatenate([known.weight, similarity.ravel()])
        order = np.lexsort((dst, -weight, src))
        order = order[rank(src[order]) < self.k]
        order = order[np.lexsort((dst[order], src[order]))]
        return Edges(src[order], dst[order], weight[order])

    def new_index(self) -> ExactIndex:
        return ExactIndex(unit_rows(self.rows.new), self.rows.num_old)

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Old nodes, some at a time."""
        n = self.rows.num_old
        return ((at, min(at + self.batch, n)) for at in range(0, n, self.batch))


def similarities(rows: JoinedRows, src: Ids, dst: Ids) -> np.ndarray:
    """Of each pair, summed as a search sums them."""
    found = np.empty(len(src), np.float32)
    for at in range(0, len(src), _PAIRS_AT_ONCE):
        cut = slice(at, at + _PAIRS_AT_ONCE)
        ends = unit_rows(rows.rows(src[cut])), unit_rows(rows.rows(dst[cut]))
        every = np.arange(len(ends[0]))
        found[cut] = pair_similarity(*ends, every, every)
    return found
