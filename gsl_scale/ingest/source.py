"""What every kind of input is turned into before it is checked and written."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Rows = npt.NDArray[np.floating[Any]]

BLOCK_ROWS = 65_536


class EdgeBlock(NamedTuple):
    """Some edges as node numbers; -1 where an endpoint is no known node."""

    src: npt.NDArray[np.int64]
    dst: npt.NDArray[np.int64]
    weight: npt.NDArray[np.floating[Any]] | None
    # The endpoints as the user wrote them, to be named in errors; None: the numbers themselves.
    written: tuple[pa.Array, pa.Array] | None = None


def _row(row: int) -> str:
    return f"row {row}"


@dataclass(frozen=True)
class Source:
    """Streams of blocks, restartable: each call of a stream begins anew."""

    num_nodes: int
    num_features: int
    features: Callable[[], Iterator[Rows]]
    edges: Callable[[], Iterator[EdgeBlock]] | None = None
    labels: Callable[[], Iterator[pa.Table]] | None = None
    ids: pa.Array | None = None  # None: row numbers
    id_column: str | None = None  # where they, or row numbers, were written
    inputs: tuple[tuple[str, Path], ...] = ()
    feature_names: tuple[str, ...] | None = None
    name_row: Callable[[int], str] = _row
    name_edge: Callable[[int], str] = _row
    notes: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)

    def feature_name(self, column: int) -> str:
        return repr(self.feature_names[column]) if self.feature_names else str(column)


def labels_table(labels: npt.NDArray[np.integer[Any]], split: npt.NDArray[Any] | None) -> pa.Table:
    """Labels below 0 are unknown; the split says train, valid, test or nothing."""
    labels = labels.astype(np.int64)
    return pa.table(
        {
            "label": pa.array(labels, mask=labels < 0),
            "split": pa.nulls(len(labels), pa.string())
            if split is None
            else pa.array(split, pa.string(), mask=split == ""),
        }
    )
