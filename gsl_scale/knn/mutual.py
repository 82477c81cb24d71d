"""Who finds me tells me: an approximate search, from both ends.

A search that misses j for i often finds i for j. So answers are kept twice as wide as needed, and
each node offers itself to those among whose k nearest it would be. This finds about half of what
was missing for the price of a look at the answers.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gsl_scale.knn.neighbours import Ids, Neighbours, joined, nobody

WIDE = 2  # answers kept per neighbour wanted
_AT_ONCE = 1 << 18


class Offers(NamedTuple):
    """Node `src` to node `dst`, as near as `similarity`."""

    src: Ids
    dst: Ids
    similarity: npt.NDArray[np.float32]

    def to(self, start: int, stop: int) -> "Offers":
        """Those to a range of nodes."""
        inside = (self.dst >= start) & (self.dst < stop)
        return Offers(self.src[inside], self.dst[inside], self.similarity[inside])


def offers(found: Neighbours, start: int, farthest: npt.NDArray[np.float32]) -> Offers:
    """What nodes start, start + 1, ... have for others; `farthest`: each node's k-th similarity."""
    width = found.ids.shape[1]
    src = np.repeat(np.arange(start, start + len(found.ids)), width)
    dst, similarity = found.ids.ravel(), found.similarity.ravel()
    near = (dst >= 0) & (similarity > farthest[dst])
    return Offers(src[near], dst[near], similarity[near])


def accept(own: Neighbours, start: int, offered: Offers) -> Neighbours:
    """The k best of a node's own answers and its offers; k is how many it has."""
    k = own.ids.shape[1]
    row = offered.dst - start
    new = ~_has(own.ids, row, offered.src)
    row, ids, similarity = row[new], offered.src[new], offered.similarity[new]
    if not len(row):
        return own
    order = np.lexsort((ids, -similarity, row))
    row, ids, similarity = row[order], ids[order], similarity[order]
    changed, first, place = np.unique(row, return_index=True, return_inverse=True)
    rank = np.arange(len(row)) - first[place]
    kept = rank < k
    width = min(k, int(rank.max()) + 1)
    more = nobody(len(changed), width)
    more.ids[place[kept], rank[kept]] = ids[kept]
    more.similarity[place[kept], rank[kept]] = similarity[kept]
    before = Neighbours(own.ids[changed], own.similarity[changed])
    best = joined([before, more], axis=1).best(k)
    result = Neighbours(own.ids.copy(), own.similarity.copy())
    result.ids[changed], result.similarity[changed] = best
    return result


def _has(lists: Ids, row: Ids, ids: Ids) -> npt.NDArray[np.bool_]:
    """Whether ids[i] is in lists[row[i]]."""
    found = np.empty(len(row), bool)
    for at in range(0, len(row), _AT_ONCE):
        some = slice(at, at + _AT_ONCE)
        found[some] = (lists[row[some]] == ids[some, None]).any(axis=1)
    return found
