"""Labels and splits in files. Kept apart from everything that learns."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gsl_scale.config_data import Split, TablesData
from gsl_scale.errors import InputError
from gsl_scale.ingest import splits
from gsl_scale.ingest.arrays import ArrayFile
from gsl_scale.ingest.files import find_files, kind_of, open_table
from gsl_scale.ingest.ids import IdLookup

_LABEL_KEYS = ("labels", "label", "y", "arr_0")
_LABEL_NAMES = ("label", "labels", "class", "y", "target")
_SPLIT_NAMES = {
    "train": "train",
    "training": "train",
    "valid": "valid",
    "val": "valid",
    "validation": "valid",
    "test": "test",
    "testing": "test",
}


@dataclass(frozen=True)
class Labels:
    """Class numbers per node (-1: unknown), a split, and what the classes are called."""

    label: npt.NDArray[np.int64]
    split: npt.NDArray[np.str_] | None
    classes: list[str]

    def with_split(self, spec: Split) -> "Labels":
        return (
            self if self.split is not None else replace(self, split=splits.draw(self.label, spec))
        )


def open_labels(data: TablesData, lookup: IdLookup, num_nodes: int) -> Labels:
    assert data.labels is not None
    found, ids = read_labels(data)
    if ids is None:
        _require_length(len(found.label), num_nodes, data.labels)
        return found
    nodes = lookup(_as_ids(ids, lookup, data.labels))
    return _by_node(found, nodes, ids, num_nodes, data.labels)


def read_labels(data: TablesData) -> tuple[Labels, pa.ChunkedArray | None]:
    """A label for each row of the file, and the ids in these rows if it has any (as text)."""
    assert data.labels is not None
    paths = find_files(data.labels, "labels")
    if len(paths) == 1 and kind_of(paths[0]) in ("npy", "npz"):
        return _array_labels(ArrayFile(paths[0], "labels")), None
    table = open_table(data.labels, data.separator, "labels")
    names = table.schema.names
    usual = [name for name in names if name.strip().lower() in _LABEL_NAMES]
    column = data.label_column or (usual or names[-1:])[0]
    by_id = data.id_column if data.id_column in names else None
    if by_id is None and names[0].strip().lower() in ("id", "node", "node_id") and len(names) > 1:
        by_id = names[0]
    wanted = [name for name in (column, data.split_column, by_id) if name is not None]
    absent = [name for name in wanted if name not in names]
    if absent:
        raise InputError(
            f"labels: there is no column {absent[0]!r}.",
            f"Found: {', '.join(names[:12])}.",
            "Set data.label_column and data.split_column to columns of that file.",
        )
    rows = pa.concat_tables(table.blocks(wanted, dict.fromkeys(wanted, pa.string())))
    split = rows[data.split_column] if data.split_column else None
    found = labels_from_column(rows[column], split, "labels")
    return found, None if by_id is None else rows[by_id]


def labels_from_column(column: pa.ChunkedArray, split: pa.ChunkedArray | None, role: str) -> Labels:
    """Text or numbers as class numbers; empty, null and -1 mean unknown."""
    column = pc.if_else(pc.is_in(column, pa.array(["", "-1", "nan"])), None, column)
    encoded = column.combine_chunks().dictionary_encode()
    classes = sorted(encoded.dictionary.to_pylist(), key=_by_value)
    rank = {name: number for number, name in enumerate(classes)}
    order = np.array([rank[name] for name in encoded.dictionary.to_pylist()], np.int64)
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    label = np.where(codes < 0, -1, order[codes] if len(order) else -1)
    return Labels(label, _split_names(split, role) if split is not None else None, classes)


def _by_value(name: str) -> tuple[int, float, str]:
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name


def _split_names(split: pa.ChunkedArray, role: str) -> npt.NDArray[np.str_]:
    names = pc.utf8_lower(split.fill_null("")).to_pylist()
    unknown = sorted({name for name in names if name and name not in _SPLIT_NAMES})
    if unknown:
        raise InputError(
            f"{role}: the split column holds {unknown[0]!r}.",
            "Expected train, valid, test, or nothing.",
            "Rename those values.",
        )
    return np.array([_SPLIT_NAMES.get(name, "") for name in names], dtype="<U5")


def _as_ids(column: pa.ChunkedArray, lookup: IdLookup, where: str) -> pa.Array:
    try:
        return pc.cast(column, lookup.type).combine_chunks()
    except pa.ArrowInvalid as error:
        raise InputError(
            f"labels: {where}: an id is not a whole number like the ids of the features ({error}).",
            next_step="Give both files the same ids, or set data.id_column.",
        ) from None


def _by_node(
    found: Labels, nodes: npt.NDArray[np.int64], ids: pa.ChunkedArray, num_nodes: int, where: str
) -> Labels:
    strange = np.flatnonzero((nodes < 0) | (nodes >= num_nodes))
    if len(strange):
        raise InputError(
            f"labels: {where} names {len(strange):,} nodes that have no features "
            f"(first: {ids[int(strange[0])]}).",
            "The ids of the two files disagree.",
            "Give labels for the nodes of the features only, or set data.id_column.",
        )
    label = np.full(num_nodes, -1, np.int64)
    label[nodes] = found.label
    split = None
    if found.split is not None:
        split = np.full(num_nodes, "", dtype="<U5")
        split[nodes] = found.split
    return Labels(label, split, found.classes)


def _array_labels(file: ArrayFile) -> Labels:
    label = file.load(file.pick(_LABEL_KEYS))
    if label.ndim == 2 and label.shape[1] == 1:
        label = label[:, 0]
    if label.ndim != 1 or label.dtype.kind not in "iufU":
        raise InputError(
            f"labels: {file.path} holds {label.dtype} of shape {label.shape}, expected one label "
            "per node.",
            next_step="Save a one-dimensional array of class numbers.",
        )
    num_nodes = len(label)
    whole: npt.NDArray[Any] = label
    if label.dtype.kind == "f":
        whole = np.where(np.isnan(label), -1, label).astype(np.int64)
    found = labels_from_column(pa.chunked_array([pa.array(whole.astype(str))]), None, "labels")
    members = set(file.keys()) & {"train", "valid", "test"} if file.is_npz else set()
    if not members:
        return found
    index = {name: file.load(name) for name in members}
    if any(len(nodes) and nodes.max() >= num_nodes for nodes in index.values()):
        raise InputError(
            f"labels: the split in {file.path} names nodes beyond {num_nodes - 1}.",
            next_step="Give the split of these nodes.",
        )
    return replace(found, split=splits.by_index(num_nodes, **index))


def _require_length(found: int, expected: int, where: str) -> None:
    if found != expected:
        raise InputError(
            f"labels: {where} has {found:,} rows, the features have {expected:,}.",
            "Without ids, row i of one belongs to row i of the other.",
            "Give one label per node (empty: unknown), or an id column in both files.",
        )
