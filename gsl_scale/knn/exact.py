"""Exact nearest neighbours by cosine, in memory: FAISS finds them, pairs are then compared anew.

FAISS sums a block at a time and breaks ties as they come. So a few more are asked for than needed;
where even the last of them is as near as rounding can tell, the query is scanned again in full.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from gsl_scale.knn.device import nearest
from gsl_scale.knn.neighbours import (
    Ids,
    Neighbours,
    Rows,
    in_batches,
    joined,
    nobody,
    pair_similarity,
    rank,
    unit_rows,
)

SPARE = 8  # answers beyond k
_SCAN_QUERIES, _SCAN_ROWS = 512, 32_768


class ExactIndex:
    """Nodes first, first + 1, ..., by their rows of length 1."""

    def __init__(self, rows: Rows, first: int = 0, device: str = "cpu") -> None:
        self._rows, self._first, self._device = rows, first, device
        # What a sum of d products of unit vectors can be off by, twice.
        self._doubt = np.float32(2 * np.finfo(np.float32).eps * rows.shape[1])

    def search(self, queries: Rows, start: int, k: int) -> Neighbours:
        """The k best of the index for nodes start, start + 1, ...; never themselves."""
        return self.neighbours(queries, np.arange(start, start + len(queries)), k)

    def neighbours(self, queries: Rows, nodes: Ids, k: int) -> Neighbours:
        """The same for any nodes."""
        asked = min(k + 1 + SPARE, len(self._rows))
        ids = nearest(queries, self._rows, asked, self._device)
        which = np.repeat(np.arange(len(queries)), asked)
        similarity = pair_similarity(queries, self._rows, which, ids.ravel())
        every = Neighbours(ids + self._first, similarity.reshape(ids.shape))
        found = every.without(nodes).best(k)
        if asked < len(self._rows):
            floor = found.similarity[:, -1] - self._doubt
            unsure = np.flatnonzero(every.similarity.min(axis=1) >= floor)
            if len(unsure):
                again = self._scan(queries[unsure], floor[unsure], k + 1)
                again = again.without(nodes[unsure]).best(k)
                found.ids[unsure], found.similarity[unsure] = again
        return found

    def _scan(self, queries: Rows, floor: npt.NDArray[np.float32], k: int) -> Neighbours:
        """The k best, from every row that is at least `floor` near; equal queries once."""
        unit, place = np.unique(queries, axis=0, return_inverse=True)
        lowest = np.full(len(unit), np.inf, np.float32)
        np.minimum.at(lowest, place.ravel(), floor)
        found = [
            self._scan_some(unit[at : at + _SCAN_QUERIES], lowest[at : at + _SCAN_QUERIES], k)
            for at in range(0, len(unit), _SCAN_QUERIES)
        ]
        ids, similarity = joined(found, axis=0)
        return Neighbours(ids[place.ravel()], similarity[place.ravel()])

    def _scan_some(self, queries: Rows, floor: npt.NDArray[np.float32], k: int) -> Neighbours:
        which, ids = np.empty(0, np.int64), np.empty(0, np.int64)
        similarity = np.empty(0, np.float32)
        for at in range(0, len(self._rows), _SCAN_ROWS):
            near = queries @ self._rows[at : at + _SCAN_ROWS].T >= floor[:, None]
            more, rows = np.nonzero(near)
            rows += at
            which, ids = np.concatenate([which, more]), np.concatenate([ids, rows])
            new = pair_similarity(queries, self._rows, more, rows)
            similarity = np.concatenate([similarity, new])
            order = np.lexsort((ids, -similarity, which))
            which, ids, similarity = which[order], ids[order], similarity[order]
            kept = rank(which) < k
            which, ids, similarity = which[kept], ids[kept], similarity[kept]
        found = nobody(len(queries), k)
        place = which, rank(which)
        found.ids[place], found.similarity[place] = ids + self._first, similarity
        return found


def all_neighbours(
    rows: npt.NDArray[Any], k: int, batch: int = 8192, device: str = "cpu"
) -> Neighbours:
    """The neighbours of every row among all rows, in order of id."""
    unit = unit_rows(rows)
    return in_batches(ExactIndex(unit, device=device).search, unit, k, batch).by_id()
