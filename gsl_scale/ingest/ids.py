"""The users' own node ids: strings or whole numbers, with gaps, in any order.

Row i of the features is node i; `ids[i]` is what the user calls it. Ids that are just 0, 1, 2, ...
need no mapping and are not stored.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from gsl_scale.errors import InputError


def collect_ids(blocks: Iterable[pa.Array], where: str) -> pa.Array | None:
    """All ids in row order, checked: none missing, none twice. None if they are row numbers."""
    pieces = [pc.cast(block, pa.string()) for block in blocks]
    ids = _whole_numbers(pa.chunked_array(pieces, pa.string()).combine_chunks())
    if ids.null_count:
        row = ids.is_null().index(True).as_py()
        raise InputError(
            f"{where}: {ids.null_count:,} rows have no id (first: row {row}).",
            "An edge could not name them.",
            "Give every row an id.",
        )
    index = pd.Index(_keys(ids))
    if not index.is_unique:
        twice = index[index.duplicated()]
        raise InputError(
            f"{where}: {len(twice):,} ids appear more than once (first: {twice[0]!r}).",
            "One row per node is expected.",
            "Drop the repeated rows, or give another id column.",
        )
    if pa.types.is_integer(ids.type) and np.array_equal(ids.to_numpy(), np.arange(len(ids))):
        return None
    return ids


def _whole_numbers(strings: pa.Array) -> pa.Array:
    """int64 if every id is written as a plain whole number ('7', not '007' or '7.0')."""
    try:
        numbers = pc.cast(strings, pa.int64())
    except pa.ArrowInvalid:
        return strings
    return numbers if pc.cast(numbers, pa.string()).equals(strings) else strings


def _keys(ids: pa.Array) -> npt.NDArray[np.int64] | npt.NDArray[np.object_]:
    if pa.types.is_integer(ids.type):
        return np.asarray(ids.to_numpy(zero_copy_only=False), dtype=np.int64)
    return np.asarray(ids.to_numpy(zero_copy_only=False), dtype=object)


class IdLookup:
    """From a user's ids to node numbers; -1 where there is no such node."""

    def __init__(self, ids: pa.Array | None) -> None:
        self.type = pa.int64() if ids is None else ids.type
        self._index = None if ids is None else pd.Index(_keys(ids))

    def __call__(self, wanted: pa.Array) -> npt.NDArray[np.int64]:
        if self._index is None:
            return np.asarray(wanted.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)
        return np.asarray(self._index.get_indexer(pd.Index(_keys(wanted))), dtype=np.int64)
