"""Node features as the method uses them: multiplied by a matrix, dense or sparse."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
from torch import Tensor

from gsl_scale.graph.weighted import Graph
from gsl_scale.store.artifact import Artifact

_MEAN_LENGTH = 4.0
_NARROW = 16
SPARSE_BELOW = 0.05  # share of nonzeros up to which the sparse product is the faster one


@dataclass(frozen=True)
class Features:
    """X, and `times(W)`, which is X @ W."""

    dense: Tensor
    sparse: Graph | None

    @classmethod
    def from_dense(cls, rows: np.ndarray) -> "Features":
        dense = torch.from_numpy(np.ascontiguousarray(rows, dtype=np.float32))
        share = np.count_nonzero(rows) / max(rows.size, 1)
        sparse = Graph.from_scipy(sp.csr_matrix(rows)) if share < SPARSE_BELOW else None
        return cls(dense, sparse)

    @classmethod
    def of(cls, data: Artifact) -> "Features":
        """The features of an artifact, to scale."""
        table, scale = data.nodes(), scale_of(data)
        whole = np.empty(table.shape, np.float32)
        for part, rows in table.parts():
            whole[part.start : part.stop] = rows
        whole *= scale
        return cls.from_dense(whole)

    @property
    def device(self) -> torch.device:
        return self.dense.device

    @property
    def shape(self) -> tuple[int, int]:
        return self.dense.shape[0], self.dense.shape[1]

    def times(self, matrix: Tensor, mask: Tensor | None = None) -> Tensor:
        """X @ W, with the features hidden where `mask` is 0."""
        if self.sparse is not None:
            return self.sparse @ (matrix if mask is None else matrix * mask[:, None])
        if mask is None:
            return _product(self.dense, matrix)
        shown = mask.nonzero().squeeze(1)
        return _product(self.dense.index_select(1, shown), matrix.index_select(0, shown))


def scale_of(data: Artifact) -> np.float32:
    """What features are multiplied by so that rows have length 4 on average. Binary words have
    about that; learning rates depend on it, similarities do not."""
    table = data.nodes()
    total = sum(
        float(np.linalg.norm(rows.astype(np.float32), axis=1).sum(dtype=np.float64))
        for _, rows in table.parts()
    )
    return np.float32(_MEAN_LENGTH * table.shape[0] / total) if total > 0 else np.float32(1.0)


def _product(rows: Tensor, matrix: Tensor) -> Tensor:
    """rows @ matrix. The gradient of a product of 5 to 11 columns depends, in its last bits, on the
    number of threads; columns of zeros make it wide enough not to."""
    missing = max(0, _NARROW - rows.shape[1])
    return (
        F.pad(rows, (0, missing)) @ F.pad(matrix, (0, 0, 0, missing)) if missing else rows @ matrix
    )
