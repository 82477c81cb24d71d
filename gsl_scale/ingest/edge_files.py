"""Edge lists in files: tables with two id columns, arrays of pairs, CSR matrices."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from gsl_scale.config_data import TablesData
from gsl_scale.errors import InputError
from gsl_scale.ingest.arrays import ArrayFile
from gsl_scale.ingest.files import CsvTable, ParquetTable, find_files, kind_of, open_table
from gsl_scale.ingest.ids import IdLookup
from gsl_scale.ingest.source import BLOCK_ROWS, EdgeBlock, Source

CSR_PREFIXES = ("adj_", "edges_", "")
PAIR_KEYS = ("edges", "edge_index", "arr_0")
_SRC_NAMES = ("src", "source", "from", "u", "head", "id1", "node1")
_DST_NAMES = ("dst", "target", "to", "v", "tail", "id2", "node2")
_WEIGHT_NAMES = ("weight", "w")

Blocks = Callable[[], Iterator[EdgeBlock]]
NameEdge = Callable[[int], str]


def open_edges(
    data: TablesData, lookup: IdLookup, num_nodes: int
) -> tuple[Blocks, NameEdge, tuple[str, ...]]:
    """The stream of edges, how to name one of them, and what was assumed about the file."""
    assert data.edges is not None
    paths = find_files(data.edges, "edges")
    if len(paths) > 1 or kind_of(paths[0]) not in ("npy", "npz"):
        table = open_table(data.edges, data.separator, "edges")
        if isinstance(table, CsvTable) and _first_line_is_an_edge(table, lookup):
            table = replace(table, headless=True)
        return _table_edges(table, data, lookup), table.name_row, table.notes
    file = ArrayFile(paths[0], "edges")
    prefix = file.csr_prefix(CSR_PREFIXES)
    if prefix is not None:
        matrix = file.csr(prefix)
        if matrix.shape != (num_nodes, num_nodes):
            raise InputError(
                f"edges: {file.path} is a {matrix.shape[0]:,} × {matrix.shape[1]:,} matrix, the "
                f"features have {num_nodes:,} rows.",
                "Row i of the matrix must be row i of the features.",
                "Give the matrix and the features of the same nodes.",
            )
        return (lambda: csr_edges(matrix)), Source.name_edge, ()
    return _pair_edges(file, lookup), Source.name_edge, ()


def _first_line_is_an_edge(table: CsvTable, lookup: IdLookup) -> bool:
    """Two names of nodes are no column names: without this an edge would be lost in silence."""
    ends = table.first_line[:2]
    if pa.types.is_integer(lookup.type) or len(ends) < 2:
        return False
    return bool((lookup(pa.array(ends, pa.string())) >= 0).all())


def csr_edges(matrix: sp.csr_matrix) -> Iterator[EdgeBlock]:
    for at in range(0, matrix.shape[0], BLOCK_ROWS):
        block = matrix[at : at + BLOCK_ROWS].tocoo()
        yield EdgeBlock(
            block.row.astype(np.int64) + at,
            block.col.astype(np.int64),
            block.data.astype(np.float32),
        )


def edge_columns(table: CsvTable | ParquetTable, data: TablesData) -> tuple[str, str, str | None]:
    """The columns of source, target and, if there is one, weight."""
    names = table.schema.names
    if len(names) < 2:
        raise InputError(
            f"edges: {data.edges} has one column ({names[0]!r}), expected two: source and target.",
            "Perhaps the separator was not found.",
            "Set data.separator, or give two columns.",
        )
    src = _column(names, data.src_column, _SRC_NAMES, names[0], "src_column")
    dst = _column(names, data.dst_column, _DST_NAMES, names[1], "dst_column")
    weight = _column(names, data.weight_column, _WEIGHT_NAMES, None, "weight_column")
    assert src is not None and dst is not None
    return src, dst, weight


def _table_edges(table: CsvTable | ParquetTable, data: TablesData, lookup: IdLookup) -> Blocks:
    src, dst, weight = edge_columns(table, data)
    columns = [src, dst] if weight is None else [src, dst, weight]
    types = {src: lookup.type, dst: lookup.type}
    if weight is not None:
        types[weight] = pa.float32()

    def blocks() -> Iterator[EdgeBlock]:
        for block in table.blocks(columns, types):
            ends = block[src].combine_chunks(), block[dst].combine_chunks()
            weights = None if weight is None else block[weight].to_numpy()
            yield EdgeBlock(lookup(ends[0]), lookup(ends[1]), weights, ends)

    return blocks


def _column(
    names: list[str], given: str | None, usual: tuple[str, ...], otherwise: str | None, key: str
) -> str | None:
    if given is not None:
        if given not in names:
            raise InputError(
                f"edges: there is no column {given!r}.",
                f"Found: {', '.join(names[:12])}.",
                f"Set data.{key} to one of them.",
            )
        return given
    return next((name for name in names if name.strip().lower() in usual), otherwise)


def _pair_edges(file: ArrayFile, lookup: IdLookup) -> Blocks:
    key = file.pick(PAIR_KEYS)
    shape, dtype, _ = file.shape_and_type(key)
    if len(shape) != 2 or 2 not in shape or dtype.kind not in "iu":
        raise InputError(
            f"edges: {file.path} holds {dtype} of shape {shape}, expected whole numbers of shape "
            "(edges, 2) or (2, edges).",
            next_step="Save one pair of node ids per row; for weights use CSV, Parquet or CSR.",
        )

    def pairs() -> Iterator[tuple[Any, Any]]:
        if shape[1] == 2:
            yield from ((rows[:, 0], rows[:, 1]) for rows in file.rows(key))
        else:
            yield from zip(file.row(0, key), file.row(1, key), strict=True)

    def blocks() -> Iterator[EdgeBlock]:
        for src, dst in pairs():
            ends = [pa.array(end.astype(np.int64)).cast(lookup.type) for end in (src, dst)]
            yield EdgeBlock(lookup(ends[0]), lookup(ends[1]), None, (ends[0], ends[1]))

    return blocks
