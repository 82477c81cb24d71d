"""Any graph as undirected pairs: a run, an artifact, or a file of edges that ingest can read."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gsl_scale.config_data import TablesData
from gsl_scale.errors import InputError
from gsl_scale.ingest.arrays import ArrayFile
from gsl_scale.ingest.checks import Findings, checked_edges
from gsl_scale.ingest.edge_files import CSR_PREFIXES, PAIR_KEYS, edge_columns, open_edges
from gsl_scale.ingest.files import find_files, kind_of, open_table
from gsl_scale.ingest.ids import IdLookup, collect_ids
from gsl_scale.ingest.source import Source
from gsl_scale.load import StoredGraph, open_graph
from gsl_scale.remote.places import local_copy
from gsl_scale.store.edges import Edges
from gsl_scale.store.manifest import FILE_NAME

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Side:
    """One of the two graphs. Edges may be in either direction or both, never from a node to itself;
    `ids` is what the user calls the nodes, None their numbers."""

    path: str
    num_nodes: int
    ids: pa.Array | None
    edges: Edges
    notes: tuple[str, ...] = ()
    stored: StoredGraph | None = None  # None: a file, which names only nodes that have an edge


def read_side(path: str) -> Side:
    """Open what a path means: a run folder, an artifact, or one or more files of edges."""
    folder = local_copy(path, ["graph"])
    ours = (folder, folder / "graph", folder.parent if folder.name == "edges" else folder)
    if any((place / FILE_NAME).exists() for place in ours) or (folder / "config.yaml").exists():
        return _stored_side(path, StoredGraph(open_graph(folder)))
    return _file_side(path)


def _stored_side(path: str, graph: StoredGraph) -> Side:
    ids, edges = graph.arrow_ids if graph.has_own_ids else None, graph.edges()
    if graph.undirected:
        edges = edges.where(edges.src < edges.dst)
    return Side(path, graph.num_nodes, ids, edges, stored=graph)


def _file_side(path: str) -> Side:
    data = TablesData(source="tables", features="", edges=path)
    num_nodes, ids, notes = _nodes_of(data)
    blocks, name_edge, assumed = open_edges(data, IdLookup(ids), num_nodes)
    source = Source(
        num_nodes, 0, features=lambda: iter(()), edges=blocks, ids=ids, name_edge=name_edge
    )
    findings = Findings()
    found = [(block.src, block.dst, block.weight) for block in checked_edges(source, findings)]
    findings.raise_if_refused()
    src, dst = (np.concatenate([[], *(b[end] for b in found)]).astype(np.int64) for end in (0, 1))
    weights = [np.ones(len(ends)) if weight is None else weight for ends, _, weight in found]
    edges = Edges(src, dst, np.concatenate([[], *weights]).astype(np.float32))
    said = (*(assumed or notes), *(f"{path}: {finding.text}" for finding in findings.found))
    return Side(path, num_nodes, ids, edges, said)


def _nodes_of(data: TablesData) -> tuple[int, pa.Array | None, tuple[str, ...]]:
    """How many nodes a file of edges has, what they are called, and what was assumed."""
    assert data.edges is not None
    paths = find_files(data.edges, "edges")
    if len(paths) > 1 or kind_of(paths[0]) not in ("npy", "npz"):
        table = open_table(data.edges, data.separator, "edges")
        src, dst, _ = edge_columns(table, data)
        types = dict.fromkeys((src, dst), pa.string())
        blocks = (block[name] for block in table.blocks([src, dst], types) for name in (src, dst))
        ids = _distinct(blocks, data.edges)
        note = f"{data.edges}: columns {src!r} and {dst!r} are the ends of an edge."
        return len(ids), ids, (note,)
    file = ArrayFile(paths[0], "edges")
    prefix = file.csr_prefix(CSR_PREFIXES)
    if prefix is None:
        rows = (np.unique(rows) for rows in _pairs(file))
        ids = pa.array(np.unique(np.concatenate([np.empty(0, np.int64), *rows])))
        return len(ids), ids, ()
    height, width = file.csr(prefix).shape
    if height != width:
        raise InputError(
            f"edges: {file.path} is a {height:,} × {width:,} matrix, expected as many columns as "
            "rows.",
            "Row i and column i are the same node.",
            "Give the adjacency matrix of a graph.",
        )
    return height, _own_ids(file, height), ()


def _distinct(blocks: Iterator[pa.ChunkedArray], where: str) -> pa.Array:
    """Each id once; whole numbers in their order, names as they first appear."""
    found = pa.chunked_array([block.unique() for block in blocks], pa.string()).unique()
    ids = collect_ids([found.drop_null()], where)
    if ids is None:
        return pa.array(np.arange(len(found) - found.null_count))
    return pc.take(ids, pc.sort_indices(ids)) if pa.types.is_integer(ids.type) else ids


def _pairs(file: ArrayFile) -> Iterator[npt.NDArray[Any]]:
    key = file.pick(PAIR_KEYS)
    shape, dtype, _ = file.shape_and_type(key)
    if len(shape) == 2 and dtype.kind in "iu":  # anything else is refused when it is opened
        yield from file.rows(key)


def _own_ids(file: ArrayFile, num_nodes: int) -> pa.Array | None:
    """The ids that `gsl-scale export` writes beside the matrix."""
    if "ids" not in file.keys():  # noqa: SIM118
        return None
    ids = file.load("ids")
    if ids.shape != (num_nodes,):
        raise InputError(
            f"edges: the ids in {file.path} have shape {ids.shape}, expected ({num_nodes},).",
            next_step="Save one id per row of the matrix.",
        )
    return collect_ids([pa.array(ids)], str(file.path))
