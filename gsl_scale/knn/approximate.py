"""Approximate search by a FAISS index, its answers compared anew with the vectors themselves."""

from pathlib import Path
from typing import Any

import faiss
import numpy as np

from gsl_scale.errors import ConfigError
from gsl_scale.knn.device import placed, require_selectable
from gsl_scale.knn.exact import ExactIndex
from gsl_scale.knn.neighbours import Ids, Neighbours, Rows
from gsl_scale.knn.plan import SearchPlan, padded

_EF_PER_LOOK = 6400  # 0.01, the least, is an efSearch of 64
_ROUNDS, _ROUNDS_AGAIN = 6, 2  # of k-means: lists need to be even, not perfect


class ApproximateIndex:
    """Nodes first, first + 1, ...; `effort` trades time for recall."""

    def __init__(self, index: Any, first: int = 0) -> None:
        """`index`: a FAISS IndexRefineFlat."""
        self._index, self._first = index, first
        self._inner: Any = faiss.downcast_index(index.base_index)

    @classmethod
    def train(
        cls, sample: Rows, plan: SearchPlan, centroids: Rows | None = None
    ) -> "ApproximateIndex":
        """An empty index whose quantiser knows these rows of length 1.

        `centroids` of an earlier index are re-centred instead of being sought anew.
        """
        dim = padded(sample.shape[1])
        try:
            inner: Any = faiss.index_factory(dim, plan.index, faiss.METRIC_INNER_PRODUCT)
        except RuntimeError as error:
            raise ConfigError(
                f"knn.index: FAISS cannot make {plan.index!r}.",
                str(error).splitlines()[0],
                "Use auto, exact, ivf, hnsw, or a factory string such as IVF1024,PQ64x4fs.",
            ) from None
        sample = _even(sample)
        if isinstance(inner, faiss.IndexIVF):
            inner.quantizer.add(_centroids(sample, inner.nlist, centroids))
        index = faiss.IndexRefineFlat(inner)
        inner.this.disown()
        index.own_fields = True
        index.train(sample)
        return cls(index)

    def reserve(self, rows: int) -> None:
        """Room for so many. Without it FAISS doubles what it has when it is full, and copies."""
        flat: Any = faiss.downcast_index(self._index.refine_index)
        taken = flat.codes.size()
        flat.codes.resize(rows * flat.code_size)
        flat.codes.resize(taken)

    def add(self, rows: Rows) -> None:
        self._index.add(_even(rows))

    def write(self, path: Path) -> None:
        faiss.write_index(self._index, str(path))

    @classmethod
    def read(cls, path: Path, first: int = 0) -> "ApproximateIndex":
        return cls(faiss.read_index(str(path)), first)

    def place(self, device: str) -> None:
        """Search it there from now on. What is added later, or written, would miss the copy."""
        if device != "cpu":
            require_selectable(int(getattr(self._inner, "nprobe", 0)), device, "lists")
            self._searched = placed(self._inner, device)
            self._searched.nprobe = self._inner.nprobe
            self._index.own_fields = False  # both indexes belong to this object now
            self._index.base_index = self._searched

    @property
    def rows(self) -> Rows:
        """The vectors themselves, as they lie in the index."""
        flat: Any = faiss.downcast_index(self._index.refine_index)
        view = faiss.rev_swig_ptr(flat.get_xb(), flat.ntotal * flat.d)
        rows: Rows = view.reshape(flat.ntotal, flat.d)
        return rows

    def truth(self, queries: Rows, nodes: Ids, k: int) -> Neighbours:
        """The same nodes searched exactly."""
        return ExactIndex(self.rows, self._first).neighbours(_even(queries), nodes, k)

    def search(self, queries: Rows, start: int, k: int) -> Neighbours:
        """About the k best for nodes start, start + 1, ...; never themselves."""
        return self.neighbours(queries, np.arange(start, start + len(queries)), k)

    def of(self, nodes: Ids, k: int) -> Neighbours:
        """The same for nodes of the index itself."""
        return self.neighbours(self.rows[nodes - self._first], nodes, k)

    def neighbours(self, queries: Rows, nodes: Ids, k: int) -> Neighbours:
        """The same for any nodes; where lists that were looked into held too few, exactly."""
        queries = _even(queries)
        k = min(k, self._index.ntotal - 1)
        similarity, ids = self._index.search(queries, k + 1)
        short = np.flatnonzero(ids[:, -1] < 0)
        ids += self._first
        # Of k + 1 answers drop the node itself or, where it is not listed, the last.
        drop = ids == nodes[:, None]
        drop[~drop.any(axis=1), -1] = True
        found = Neighbours(ids[~drop].reshape(-1, k), similarity[~drop].reshape(-1, k))
        if len(short):
            again = self.truth(queries[short], nodes[short], k)
            found.ids[short], found.similarity[short] = again
        return found

    @property
    def centroids(self) -> Rows | None:
        """Of the lists, if it has lists."""
        if not isinstance(self._inner, faiss.IndexIVF):
            return None
        found: Rows = self._inner.quantizer.reconstruct_n(0, self._inner.nlist)
        return found

    @property
    def effort(self) -> dict[str, int]:
        """What may be raised: lists or nodes looked into, and answers compared anew."""
        if isinstance(self._inner, faiss.IndexIVF):
            looked = {"nprobe": int(self._inner.nprobe)}
        elif isinstance(self._inner, faiss.IndexHNSW):
            looked = {"efSearch": int(self._inner.hnsw.efSearch)}
        else:
            looked = {}
        return looked | {"k_factor": int(self._index.k_factor)}

    def set_effort(self, looked: float, factor: int) -> None:
        """`looked`: the share of all lists to look into, or what comes to as much for HNSW."""
        if isinstance(self._inner, faiss.IndexIVF):
            self._inner.nprobe = max(1, round(looked * self._inner.nlist))
        elif isinstance(self._inner, faiss.IndexHNSW):
            self._inner.hnsw.efSearch = round(_EF_PER_LOOK * looked)
        # Lists of the vectors themselves have nothing to compare anew.
        self._index.k_factor = 1 if isinstance(self._inner, faiss.IndexIVFFlat) else factor


def _centroids(sample: Rows, number: int, old: Rows | None) -> Rows:
    again = old is not None and old.shape == (number, sample.shape[1])
    means = faiss.Kmeans(
        sample.shape[1],
        number,
        niter=_ROUNDS_AGAIN if again else _ROUNDS,
        spherical=True,
        seed=1,
        min_points_per_centroid=1,
        max_points_per_centroid=1 << 20,  # the sample is already the right size
    )
    means.train(sample, init_centroids=old if again else None)
    found: Any = means.centroids
    return np.asarray(found, np.float32)


def _even(rows: Rows) -> Rows:
    """With a column of zeros more if they are odd in number."""
    if rows.shape[1] == padded(rows.shape[1]):
        return rows
    return np.pad(rows, ((0, 0), (0, 1)))
