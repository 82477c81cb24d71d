"""Labels of the nodes of either graph: from a file, or from the run that a graph belongs to."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gsl_scale.config_data import TablesData
from gsl_scale.diff.match import Match
from gsl_scale.diff.read import Side
from gsl_scale.errors import GslError, InputError
from gsl_scale.ingest.ids import IdLookup
from gsl_scale.ingest.label_files import Labels, read_labels
from gsl_scale.store.artifact import Artifact


@dataclass(frozen=True)
class NodeLabels:
    """A class number per node of the match (-1: unknown), and where it was read."""

    label: npt.NDArray[np.int64]
    num_classes: int
    source: str


def labels_from_file(
    path: str,
    match: Match,
    old: Side,
    new: Side,
    id_column: str | None = None,
    label_column: str | None = None,
) -> NodeLabels:
    """By id if the file has a column of ids; otherwise row i is node i of a graph that has as many
    nodes as the file has rows."""
    data = TablesData(
        source="tables", features="", labels=path, id_column=id_column, label_column=label_column
    )
    found, ids = read_labels(data)
    rows = np.arange(len(found.label))
    nodes = _by_row(len(rows), match, old, new, path) if ids is None else _by_id(ids, match)
    known = nodes >= 0  # a graph in a file does not name nodes without edges
    if not known.any():
        raise InputError(
            f"labels: {path} names no node of either graph (its first id: {(ids or [0])[0]}).",
            "Homophily needs the labels of these nodes.",
            "Give labels with the same ids, or say which column holds them (--id-column).",
        )
    return _placed(found, nodes[known], rows[known], match, path)


def labels_from_runs(match: Match, old: Side, new: Side) -> NodeLabels | None:
    """The labels that were ingested with one of the graphs, if any were: the new one's first."""
    for side, numbers in ((new, match.new), (old, match.old)):
        data = _data_of(side)
        if data is None or "labels" not in data:
            continue
        column = data.columns("labels")["label"].fill_null(-1).to_numpy()
        classes = data.manifest.facts.get("classes") or np.unique(column[column >= 0]).tolist()
        found = Labels(column, None, [str(name) for name in classes])
        return _placed(found, numbers, np.arange(len(column)), match, str(data.folder))
    return None


def _data_of(side: Side) -> Artifact | None:
    if side.stored is None:
        return None
    if side.stored.artifact.manifest.kind == "data":
        return side.stored.artifact
    try:
        return side.stored.beside("data", "labels")
    except GslError:  # moved or made again: the graph can be compared all the same
        return None


def _by_id(ids: pa.ChunkedArray, match: Match) -> npt.NDArray[np.int64]:
    return IdLookup(pc.cast(match.ids, pa.string()))(ids.combine_chunks())


def _by_row(rows: int, match: Match, old: Side, new: Side, path: str) -> npt.NDArray[np.int64]:
    for side, numbers in ((new, match.new), (old, match.old)):
        if side.num_nodes == rows and (side.stored is not None or side.ids is None):
            return numbers
    if pa.types.is_integer(match.ids.type):
        return IdLookup(match.ids)(pa.array(np.arange(rows)))
    raise InputError(
        f"labels: {path} has {rows:,} rows and no ids; the graphs have {old.num_nodes:,} and "
        f"{new.num_nodes:,} nodes.",
        "Without ids, row i of one belongs to row i of the other.",
        "Give the labels with an id column (--id-column).",
    )


def _placed(
    found: Labels,
    nodes: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    match: Match,
    source: str,
) -> NodeLabels:
    label = np.full(match.num_nodes, -1, np.int64)
    label[nodes] = found.label[rows]
    return NodeLabels(label, len(found.classes), source)
