"""A user's own files: features, and perhaps edges and labels, into one `Source`."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gsl_scale.config_data import TablesData
from gsl_scale.errors import InputError
from gsl_scale.ingest.arrays import ArrayFile, dense_blocks
from gsl_scale.ingest.edge_files import open_edges
from gsl_scale.ingest.files import (
    CsvTable,
    ParquetTable,
    find_files,
    is_number,
    kind_of,
    open_table,
)
from gsl_scale.ingest.ids import IdLookup, collect_ids
from gsl_scale.ingest.label_files import Labels, labels_from_column, open_labels
from gsl_scale.ingest.source import Rows, Source, labels_table

_FEATURE_KEYS = ("features", "x", "X", "attr_matrix", "node_feat", "arr_0")
_CSR_PREFIXES = ("attr_", "features_", "x_", "")
_ID_NAMES = ("id", "node_id", "node", "node id", "nodeid")
_ARRAYS = ("npy", "npz")


def open_tables(data: TablesData) -> Source:
    paths = find_files(data.features, "features")
    if len(paths) == 1 and kind_of(paths[0]) in _ARRAYS:
        _refuse_columns(data)
        nodes, labels = _array_features(ArrayFile(paths[0], "features")), None
    else:
        nodes, labels = _table_features(data)
    lookup = IdLookup(nodes.ids)
    inputs = [("features", path) for path in paths]
    edges, name_edge = None, Source.name_edge
    edge_notes: tuple[str, ...] = ()
    if data.edges is not None:
        edges, name_edge, edge_notes = open_edges(data, lookup, nodes.num_nodes)
        inputs += [("edges", path) for path in find_files(data.edges, "edges")]
    if data.labels is not None:
        labels = open_labels(data, lookup, nodes.num_nodes)
        inputs += [("labels", path) for path in find_files(data.labels, "labels")]
    if data.split is not None and labels is None:
        raise InputError(
            "data.split is set and there are no labels to split.",
            next_step="Give --labels or --label-column, or leave data.split out.",
        )
    labels = labels.with_split(data.split) if labels and data.split else labels
    return Source(
        num_nodes=nodes.num_nodes,
        num_features=nodes.num_features,
        features=nodes.blocks,
        edges=edges,
        labels=(lambda: iter([labels_table(labels.label, labels.split)])) if labels else None,
        ids=nodes.ids,
        id_column=nodes.id_column,
        inputs=tuple(inputs),
        feature_names=nodes.names,
        name_row=nodes.name_row,
        name_edge=name_edge,
        notes=(*nodes.notes, *edge_notes),
        facts={"classes": labels.classes} if labels else {},
    )


@dataclass(frozen=True)
class _Nodes:
    """The feature file, whatever its kind."""

    num_nodes: int
    num_features: int
    blocks: Any
    ids: pa.Array | None = None
    id_column: str | None = None
    names: tuple[str, ...] | None = None
    name_row: Any = Source.name_row
    notes: tuple[str, ...] = ()


def _refuse_columns(data: TablesData) -> None:
    for key in ("id_column", "feature_columns"):
        if getattr(data, key) is not None:
            raise InputError(
                f"data.{key} is set, but {data.features} is an array: it has no named columns.",
                next_step=f"Leave data.{key} out, or give the features as CSV or Parquet.",
            )


def _array_features(file: ArrayFile) -> _Nodes:
    prefix = file.csr_prefix(_CSR_PREFIXES)
    if prefix is not None:
        matrix = file.csr(prefix)
        return _Nodes(*matrix.shape, lambda: dense_blocks(matrix))
    key = file.pick(_FEATURE_KEYS)
    shape, dtype, _ = file.shape_and_type(key)
    if len(shape) != 2 or not shape[0] or not shape[1]:
        raise InputError(
            f"features: {file.path} has shape {shape}, expected two dimensions (nodes, features).",
            next_step="Save one row per node.",
        )
    if dtype.kind not in "fiub":
        raise InputError(
            f"features: {file.path} holds {dtype}, expected numbers.",
            next_step="Convert it to float32.",
        )

    def blocks() -> Iterator[Rows]:
        return (block.astype(np.float32, copy=False) for block in file.rows(key))

    return _Nodes(shape[0], shape[1], blocks)


def _table_features(data: TablesData) -> tuple[_Nodes, Labels | None]:
    table = open_table(data.features, data.separator, "features")
    names = table.schema.names
    notes = []
    id_column = data.id_column
    if id_column is None:
        named = [name for name in names if name.strip().lower() in _ID_NAMES]
        if named and named[0] == names[0] and named[0] not in (data.feature_columns or ()):
            id_column = named[0]
            notes.append(f"features: column {id_column!r} taken as the node ids (data.id_column).")
    label_column = data.label_column if data.labels is None else None
    split_column = data.split_column if data.labels is None else None
    set_apart = [name for name in (id_column, label_column, split_column) if name is not None]
    _require_columns(table, "features", [*set_apart, *(data.feature_columns or ())])
    columns = list(data.feature_columns or (name for name in names if name not in set_apart))
    num_nodes = table.num_rows()
    if not num_nodes or not columns:
        raise InputError(
            f"features: {data.features} has {num_nodes:,} rows and {len(columns)} feature columns.",
            "At least two nodes and one feature are needed.",
            "Check that the file is complete and the columns are named right.",
        )
    read, width, types = _numeric(table, columns)

    def blocks() -> Iterator[Rows]:
        return (read(block) for block in table.blocks(columns, types))

    notes += table.notes
    ids = None
    if id_column is not None:
        column = id_column
        written = (b[column] for b in table.blocks([column], {column: pa.string()}))
        ids = collect_ids(
            (chunk for block in written for chunk in block.chunks), f"features: {data.features}"
        )
    names_kept = tuple(columns) if width == len(columns) else None
    nodes = _Nodes(
        num_nodes, width, blocks, ids, id_column, names_kept, table.name_row, tuple(notes)
    )
    if label_column is None:
        return nodes, None
    wanted = [name for name in (label_column, split_column) if name is not None]
    rows = pa.concat_tables(table.blocks(wanted, dict.fromkeys(wanted, pa.string())))
    split = rows[split_column] if split_column else None
    return nodes, labels_from_column(rows[label_column], split, "features")


def _require_columns(table: CsvTable | ParquetTable, role: str, wanted: list[str]) -> None:
    absent = [name for name in wanted if name not in table.schema.names]
    if absent:
        raise InputError(
            f"{role}: there is no column {absent[0]!r}.",
            f"Found: {', '.join(table.schema.names[:12])}.",
            "Check the spelling of the column names.",
        )


def _numeric(table: CsvTable | ParquetTable, columns: list[str]) -> tuple[Any, int, dict[str, Any]]:
    """How to turn a block into rows of numbers: (function, number of features, column types)."""
    kinds = {name: table.schema.field(name).type for name in columns}
    vectors = [name for name, kind in kinds.items() if _is_vector(kind)]
    if vectors:
        if len(columns) > 1:
            raise InputError(
                f"features: column {vectors[0]!r} holds lists, and there are {len(columns) - 1} "
                "other feature columns.",
                next_step=f"Set data.feature_columns to [{vectors[0]}] or to the plain columns.",
            )
        first = next(table.blocks(columns, {}))[vectors[0]][0].as_py()
        width = len(first or ())
        return (lambda block: _stack(block[vectors[0]], width)), width, {}
    text = [name for name, kind in kinds.items() if not _is_numeric(kind)]
    if text:
        raise InputError(
            f"features: {len(text)} of {len(columns)} columns are not numbers: "
            f"{', '.join(map(repr, text[:3]))} ({_first_text(table, text[0])}).",
            "Only numbers can be compared by cosine similarity.",
            f"If {text[0]!r} is an id or a label, say so (--id-column, --label-column); otherwise "
            "choose the numeric ones (data.feature_columns) or encode it.",
        )
    return _columns_to_rows, len(columns), dict.fromkeys(columns, pa.float32())


def _first_text(table: CsvTable | ParquetTable, name: str) -> str:
    """Where a column first holds something that is not a number."""
    at = 0
    for block in table.blocks([name], {name: pa.string()}):
        for row, cell in enumerate(block[name].to_pylist()):
            if cell is not None and not is_number(cell):
                return f"{table.name_row(at + row)} holds {cell!r}"
        at += len(block)
    return f"its type is {table.schema.field(name).type}"


def _is_numeric(kind: pa.DataType) -> bool:
    # A CSV column without any value yet is null: it may still turn out to be numbers.
    test = pa.types
    return bool(
        test.is_integer(kind)
        or test.is_floating(kind)
        or test.is_boolean(kind)
        or test.is_null(kind)
        or test.is_decimal(kind)
    )


def _is_vector(kind: pa.DataType) -> bool:
    test = pa.types
    return bool(test.is_list(kind) or test.is_large_list(kind) or test.is_fixed_size_list(kind))


def _columns_to_rows(block: pa.Table) -> Rows:
    rows = np.empty((len(block), block.num_columns), np.float32)
    for i, column in enumerate(block.columns):
        rows[:, i] = column.to_numpy()
    return rows


def _stack(column: pa.ChunkedArray, width: int) -> Rows:
    array = column.combine_chunks()
    flat = pc.list_flatten(array)
    if array.null_count or len(flat) != width * len(array):
        raise InputError(
            f"features: the lists in a column differ in length (the first has {width}).",
            next_step="Give every node a vector of the same length.",
        )
    numbers: npt.NDArray[Any] = flat.to_numpy(zero_copy_only=False)
    return numbers.reshape(-1, width).astype(np.float32)


def input_paths(data: TablesData) -> list[tuple[str, Path]]:
    """The files a run would read, without reading them."""
    return [
        (role, path)
        for role in data.locations
        if getattr(data, role) is not None
        for path in find_files(getattr(data, role), role)
    ]
