"""A stored graph as one file that other programs open, with the users' own ids.

| format  | ending   | opened by                  | edges      | ids            | --with    |
|---------|----------|----------------------------|------------|----------------|-----------|
| parquet | .parquet | pandas, Polars, DuckDB     | both ways  | in src, dst    | beside it |
| csv     | .csv     | anything                   | both ways  | in src, dst    | beside it |
| npz     | .npz     | SciPy                      | adjacency  | array `ids`    | arrays    |
| graphml | .graphml | Gephi, Cytoscape, networkx | each once  | node ids       | refused   |
| dgl     | .dgl     | DGL                        | both ways  | `ndata`        | `ndata`   |
| pyg     | .pt      | PyG                        | both ways  | `data.node_id` | in `data` |

A file appears whole or not at all. What does not fit into it lies beside it, in NAME.nodes.parquet
(or .csv): a row per node, its id first. That is where DGL's text ids go.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from gsl_scale import progress
from gsl_scale.convert import COLUMNS, named_blocks, to_dgl, to_pyg
from gsl_scale.errors import UserError
from gsl_scale.export_graphml import write_graphml
from gsl_scale.load import StoredGraph

ENDINGS = {
    "parquet": ".parquet",
    "csv": ".csv",
    "npz": ".npz",
    "graphml": ".graphml",
    "dgl": ".dgl",
    "pyg": ".pt",
}
# How a person opens each, with {} for the file.
OPENED_BY = {
    "parquet": 'pandas.read_parquet("{}")',
    "csv": 'pandas.read_csv("{}")',
    "npz": 'scipy.sparse.load_npz("{}")',
    "graphml": 'networkx.read_graphml("{}")',
    "dgl": '[graph], _ = dgl.load_graphs("{}")',
    "pyg": 'torch_geometric.data.Data.from_dict(torch.load("{}"))',
}
_TABLE_WRITERS = {"parquet": pq.ParquetWriter, "csv": pacsv.CSVWriter}


def choose_format(name: str | None, path: Path | None) -> tuple[str, Path]:
    """The format and the file that are meant by --format and --out; either may be left out."""
    if name is not None and name not in ENDINGS:
        raise UserError(
            f"There is no format {name!r}.", f"There are: {', '.join(ENDINGS)}.", "Change --format."
        )
    if name is not None:
        return name, path or Path(f"graph{ENDINGS[name]}")
    if path is None:
        raise UserError(
            "Neither --format nor --out says what is to be written.",
            f"Formats: {', '.join(ENDINGS)}.",
            "Give --format parquet, or --out graph.parquet.",
        )
    for name, ending in ENDINGS.items():
        if path.suffix == ending:
            return name, path
    raise UserError(
        f"{path} ends in {path.suffix or 'nothing'}, which is no kind of file that is written.",
        f"There are: {', '.join(ENDINGS.values())}.",
        "Change the ending of --out, or give --format.",
    )


def write_file(
    graph: StoredGraph, path: Path, kind: str, nodes: Sequence[str] = ()
) -> dict[str, Any]:
    """Write a graph in one of the formats; which files there are now, and how many edges."""
    for name in nodes:
        graph.nodes(name)  # refused before anything is written
    if nodes and kind == "graphml":
        raise UserError(
            "GraphML has no place for vectors.",
            f"Wanted in it: {', '.join(nodes)}.",
            "Leave --with out, or choose parquet, npz, dgl or pyg.",
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with _whole(path) as draft:
        rows = _WRITERS[kind](graph, draft, nodes)
    files = [path]
    text_ids = graph.has_own_ids and not pa.types.is_integer(graph.arrow_ids.type)
    if (kind in _TABLE_WRITERS and nodes) or (kind == "dgl" and text_ids):
        tables = nodes if kind in _TABLE_WRITERS else ()
        files.append(_write_nodes(graph, path, "csv" if kind == "csv" else "parquet", tables))
    return {"files": [str(file) for file in files], "format": kind, "edges": rows}


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A place to write to, which becomes `path` if nothing goes wrong."""
    draft = path.with_name(f".{path.name}.draft")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _write_table(kind: str) -> Callable[[StoredGraph, Path, Sequence[str]], int]:
    def write(graph: StoredGraph, path: Path, nodes: Sequence[str]) -> int:
        ends = graph.arrow_ids.type if graph.has_own_ids else pa.int64()
        schema = pa.schema(zip(COLUMNS, (ends, ends, pa.float32()), strict=True))
        rows = 0
        with _TABLE_WRITERS[kind](path, schema) as writer, _track(graph) as advance:
            for block in named_blocks(graph):
                writer.write_table(block)
                rows += len(block)
                advance(len(block))
        return rows

    return write


def _write_npz(graph: StoredGraph, path: Path, nodes: Sequence[str]) -> int:
    """What `scipy.sparse.save_npz` writes, and arrays of ours that its reader passes over."""
    matrix = graph.to_scipy()
    more: dict[str, Any] = {name: graph.nodes(name).read() for name in nodes}
    if graph.has_own_ids:
        ids = graph.ids
        more["ids"] = ids if ids.dtype.kind == "i" else ids.astype(str)  # objects are pickled
    with path.open("wb") as file:
        np.savez(
            file,
            format=np.array(b"csr"),
            shape=np.array(matrix.shape),
            indptr=matrix.indptr,
            indices=matrix.indices,
            data=matrix.data,
            _is_array=np.array(True),
            **more,
        )
    return int(matrix.nnz)


def _write_graphml(graph: StoredGraph, path: Path, nodes: Sequence[str]) -> int:
    with _track(graph) as advance:
        return write_graphml(graph, path, advance)


def _write_dgl(graph: StoredGraph, path: Path, nodes: Sequence[str]) -> int:
    made = to_dgl(graph, nodes)
    import dgl

    dgl.save_graphs(str(path), [made])
    return int(made.num_edges())


def _write_pyg(graph: StoredGraph, path: Path, nodes: Sequence[str]) -> int:
    """As a dict of tensors, which torch loads by default. A pickled `Data` it refuses: PyG (2.8)
    does not declare all the classes in one as safe."""
    import torch

    made = to_pyg(graph, nodes)
    torch.save(made.to_dict(), path)
    return int(made.num_edges)


_WRITERS = {
    "parquet": _write_table("parquet"),
    "csv": _write_table("csv"),
    "npz": _write_npz,
    "graphml": _write_graphml,
    "dgl": _write_dgl,
    "pyg": _write_pyg,
}


def _write_nodes(graph: StoredGraph, path: Path, kind: str, nodes: Sequence[str]) -> Path:
    """A row per node: its id, then a vector of each table (in CSV a column per number)."""
    beside = path.with_name(f"{path.stem}.nodes{ENDINGS[kind]}")
    tables = {name: graph.nodes(name) for name in nodes}

    def block(start: int, stop: int) -> pa.Table:
        columns: dict[str, Any] = {"id": graph.arrow_ids[start:stop]}
        for name, table in tables.items():
            rows = np.ascontiguousarray(table.read(start, stop))
            if kind == "csv":
                columns |= {f"{name}_{i}": pa.array(rows[:, i]) for i in range(rows.shape[1])}
            else:
                flat = pa.array(rows.ravel())
                columns[name] = pa.FixedSizeListArray.from_arrays(flat, rows.shape[1])
        return pa.table(columns)

    schema = block(0, 1).schema
    with _whole(beside) as draft, _TABLE_WRITERS[kind](draft, schema) as writer:
        for _, start, stop in graph.artifact.manifest.plan:
            writer.write_table(block(start, stop))
    return beside


def _track(graph: StoredGraph) -> Any:
    return progress.track("export", len(graph.artifact.edges()))
