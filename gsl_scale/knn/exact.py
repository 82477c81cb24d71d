"""Exact nearest neighbours by cosine, in memory, by FAISS."""

from typing import Any, NamedTuple

import faiss
import numpy as np
import numpy.typing as npt


class Neighbours(NamedTuple):
    """For each query row its k neighbours, in order of id, and how similar they are."""

    ids: npt.NDArray[np.int64]
    similarity: npt.NDArray[np.float32]

    def closest(self, k: int) -> npt.NDArray[np.int64]:
        """The ids of the k most similar ones only."""
        best = np.argsort(-self.similarity, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(self.ids, best, 1)


class ExactIndex:
    """All rows, compared with all rows. Rows of zeros have similarity 0 to everyone."""

    def __init__(self, dim: int) -> None:
        self._index = faiss.IndexFlatIP(dim)

    def add(self, rows: npt.NDArray[Any]) -> None:
        self._index.add(_unit(rows))

    def search(self, rows: npt.NDArray[Any], start: int, k: int) -> Neighbours:
        """Neighbours of these rows, which are nodes start, start + 1, ...; never themselves."""
        similarity, ids = self._index.search(_unit(rows), k + 1)
        nodes = np.arange(start, start + len(rows))
        # Of k + 1 answers drop the node itself; among masses of duplicates it may not be listed,
        # then the last answer goes.
        drop = ids == nodes[:, None]
        drop[~drop.any(axis=1), -1] = True
        ids, similarity = ids[~drop].reshape(-1, k), similarity[~drop].reshape(-1, k)
        order = np.argsort(ids, axis=1)
        return Neighbours(
            np.take_along_axis(ids, order, 1), np.take_along_axis(similarity, order, 1)
        )


def all_neighbours(rows: npt.NDArray[Any], k: int, batch: int = 8192) -> Neighbours:
    """The neighbours of every row among all rows."""
    index = ExactIndex(rows.shape[1])
    index.add(rows)
    found = [index.search(rows[at : at + batch], at, k) for at in range(0, len(rows), batch)]
    return Neighbours(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _unit(rows: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    unit = np.array(rows, np.float32, order="C")
    faiss.normalize_L2(unit)  # leaves rows of zeros alone
    return unit
