"""Node features as the method uses them: multiplied by a matrix, dense or sparse."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from gsl_scale.graph.weighted import Graph
from gsl_scale.store.artifact import Artifact

_MEAN_LENGTH = 4.0
SPARSE_BELOW = 0.25  # share of nonzeros up to which the sparse product is the faster one


@dataclass(frozen=True)
class Features:
    """X. `times(W)` is X @ W; a mask over the features is a mask over the rows of W."""

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
        """The features of an artifact, multiplied by one number so that rows have length 4 on
        average. Binary words have about that; learning rates depend on it, similarities do not."""
        rows = np.array(data.nodes().read(), np.float32)
        length = float(np.linalg.norm(rows, axis=1).mean())
        return cls.from_dense(rows * np.float32(_MEAN_LENGTH / length) if length > 0 else rows)

    @property
    def shape(self) -> tuple[int, int]:
        return self.dense.shape[0], self.dense.shape[1]

    def times(self, matrix: Tensor) -> Tensor:
        return self.dense @ matrix if self.sparse is None else self.sparse @ matrix
