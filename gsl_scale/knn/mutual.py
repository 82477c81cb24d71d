"""Who finds me tells me: an approximate search, from both ends.

A search that misses j for i often finds i for j. So answers are kept twice as wide as needed, and
each node offers itself to those among whose k nearest it would be. This finds about half of what
was missing for the price of a look at the answers.
"""

import numpy as np
import numpy.typing as npt
from scipy import sparse

from gsl_scale.knn.neighbours import Ids, Neighbours, joined, nobody, rank

WIDE = 2  # answers kept per neighbour wanted
_AT_ONCE = 1 << 18


OFFER = np.dtype([("dst", "<i8"), ("src", "<i8"), ("similarity", "<f4")])
Offers = npt.NDArray[np.void]  # of OFFER, in order of dst


def offers(found: Neighbours, start: int, farthest: npt.NDArray[np.float32]) -> Offers:
    """What nodes start, start + 1, ... have for others; `farthest`: each node's k-th similarity."""
    welcome = found.similarity > farthest[found.ids]
    ends = np.append(0, np.cumsum(welcome.sum(axis=1)))
    by_src = (found.similarity[welcome], found.ids[welcome], ends)
    # Turning rows into columns is a sort by counting, several times as fast as a comparing one.
    by_dst = sparse.csr_array(by_src, shape=(len(welcome), len(farthest))).tocsc()
    made = np.empty(by_dst.nnz, OFFER)
    made["dst"] = np.repeat(np.arange(len(farthest)), np.diff(by_dst.indptr))
    made["src"], made["similarity"] = by_dst.indices + np.int64(start), by_dst.data
    return made


def between(made: Offers, start: int, stop: int) -> Offers:
    """Those to nodes start .. stop-1."""
    first, last = np.searchsorted(made["dst"], [start, stop])
    return made[first:last]


def accept(own: Neighbours, start: int, offered: Offers) -> Neighbours:
    """The k best of a node's own answers and its offers; k is how many it has."""
    k = own.ids.shape[1]
    offered = offered[~_has(own.ids, offered["dst"] - start, offered["src"])]
    row, ids, similarity = offered["dst"] - start, offered["src"], offered["similarity"]
    if not len(row):
        return own
    order = np.lexsort((ids, -similarity, row))
    row, ids, similarity = row[order], ids[order], similarity[order]
    changed, place = np.unique(row, return_inverse=True)
    column = rank(row)
    kept = column < k
    more = nobody(len(changed), min(k, int(column.max()) + 1))
    more.ids[place[kept], column[kept]] = ids[kept]
    more.similarity[place[kept], column[kept]] = similarity[kept]
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
