"""Where the edges of a graph are: a CSR pattern with its transpose, without weights.

Weights live apart, one number per edge in the pattern's order, so that one pattern serves many
weightings and nobody who borrows a graph can modify it.
"""

import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor

Ids = npt.NDArray[np.int64]

# Said once per process, about an interface that has been stable for years.
warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")


@dataclass(frozen=True, eq=False)
class Pattern:
    """Edges row -> column, sorted by row. Edge e of the transpose is edge order_t[e] of this."""

    shape: tuple[int, int]
    indptr: Tensor
    indices: Tensor
    indptr_t: Tensor
    indices_t: Tensor
    order_t: Tensor

    @classmethod
    def from_csr(cls, indptr: Ids, indices: Ids, num_columns: int) -> "Pattern":
        num_rows, num_edges = len(indptr) - 1, len(indices)
        numbered = sp.csr_matrix(
            (np.arange(num_edges, dtype=np.int64), indices, indptr), (num_rows, num_columns)
        )
        transposed = numbered.tocsc()
        return cls(
            (num_rows, num_columns),
            *(
                torch.from_numpy(np.ascontiguousarray(part, dtype=np.int64))
                for part in (
                    indptr,
                    indices,
                    transposed.indptr,
                    transposed.indices,
                    transposed.data,
                )
            ),
        )

    @classmethod
    def from_edges(cls, src: Ids, dst: Ids, shape: tuple[int, int]) -> "Pattern":
        """From edges sorted by (src, dst), without repeats."""
        indptr = np.zeros(shape[0] + 1, np.int64)
        np.cumsum(np.bincount(src, minlength=shape[0]), out=indptr[1:])
        return cls.from_csr(indptr, dst, shape[1])

    def to(self, device: torch.device | str) -> "Pattern":
        parts = (self.indptr, self.indices, self.indptr_t, self.indices_t, self.order_t)
        return Pattern(self.shape, *(part.to(device) for part in parts))

    @property
    def num_edges(self) -> int:
        return self.indices.numel()

    @cached_property
    def rows(self) -> Tensor:
        """The row of each edge."""
        return torch.repeat_interleave(self.indptr.diff(), output_size=self.num_edges)

    @cached_property
    def numbers(self) -> Tensor:
        """One number per edge, from (row, column) alone."""
        return self.rows * self.shape[1] + self.indices

    def keep(self, kept: Tensor) -> tuple["Pattern", Tensor]:
        """The pattern of these edges only (a mask), and which edges of this one they are."""
        edges, edges_t = kept.nonzero().squeeze(1), kept[self.order_t]
        place = kept.cumsum(0) - 1
        return Pattern(
            self.shape,
            _indptr(kept, self.indptr),
            self.indices[edges],
            _indptr(edges_t, self.indptr_t),
            self.indices_t[edges_t],
            place[self.order_t[edges_t]],
        ), edges

    def at(self, rows: Tensor) -> tuple["Pattern", Tensor]:
        """The pattern of these rows only, in this order, and which edges of this one they are."""
        counts = self.indptr.diff()[rows]
        starts = counts.cumsum(0) - counts
        shift = torch.repeat_interleave(self.indptr[rows] - starts, counts)
        edges = shift + torch.arange(len(shift), device=shift.device)
        indptr = torch.nn.functional.pad(counts.cumsum(0), (1, 0))
        indices = self.indices[edges]
        order_t = torch.argsort(indices, stable=True)
        per_column = torch.bincount(indices, minlength=self.shape[1])
        return Pattern(
            (len(rows), self.shape[1]),
            indptr,
            indices,
            torch.nn.functional.pad(per_column.cumsum(0), (1, 0)),
            torch.repeat_interleave(counts)[order_t],
            order_t,
        ), edges

    def csr(self, weights: Tensor) -> Tensor:
        """The weighted graph as a torch CSR matrix."""
        return _csr(self.indptr, self.indices, weights, self.shape)

    def csr_t(self, weights: Tensor) -> Tensor:
        """Its transpose."""
        shape = (self.shape[1], self.shape[0])
        return _csr(self.indptr_t, self.indices_t, weights[self.order_t], shape)


def _indptr(kept: Tensor, indptr: Tensor) -> Tensor:
    """Where rows begin once edges are left out."""
    before = torch.nn.functional.pad(kept.cumsum(0), (1, 0))
    return before[indptr]


def _csr(indptr: Tensor, indices: Tensor, weights: Tensor, shape: tuple[int, int]) -> Tensor:
    return torch.sparse_csr_tensor(indptr, indices, weights, shape, check_invariants=False)
