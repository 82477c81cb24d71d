"""New nodes as they come: files checked, scaled and named as those of the run were."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gsl_scale.config_data import AnyData, TablesData
from gsl_scale.errors import InputError
from gsl_scale.extend.labels import joined_labels, new_labels
from gsl_scale.ingest import checks
from gsl_scale.ingest.edge_files import open_edges
from gsl_scale.ingest.files import find_files, kind_of, open_table
from gsl_scale.ingest.ids import IdLookup
from gsl_scale.ingest.inputs import fingerprint
from gsl_scale.ingest.scale import rescaled
from gsl_scale.ingest.source import EdgeBlock, Source
from gsl_scale.ingest.tables import open_tables
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.manifest import InputFile

Rows = npt.NDArray[np.floating[Any]]
_ALL_THE_SAME = "constant-columns"  # of a few new rows, which says nothing


@dataclass(frozen=True)
class Arrivals:
    """Nodes n, n + 1, ... of a run with n nodes."""

    rows: Rows
    ids: pa.Array | None  # of all nodes, the run's first
    edges: list[EdgeBlock] | None  # each touches a new node
    labels: pa.Table | None  # of all nodes
    classes: list[str]
    findings: checks.Findings
    inputs: list[InputFile]

    @property
    def count(self) -> int:
        return len(self.rows)


def read_arrivals(data: Artifact, used: AnyData, flags: dict[str, Any]) -> Arrivals:
    """`used`: the data block of the run; `flags`: the new files, as keys of such a block."""
    tables = _like(data, used, flags)
    elsewhere = {"edges": None, "labels": None}
    if tables.labels is not None:
        elsewhere |= {"label_column": None, "split_column": None}
    source = open_tables(tables.model_copy(update=elsewhere))
    _require_columns(data, source, tables.features)
    first = data.manifest.num_nodes
    ids = _ids(data, source, tables.features)
    findings = checks.Findings()
    findings.found += [checks.Finding("noted", "assumed", 1, note) for note in source.notes]
    inputs = [*source.inputs]
    for role, text in (("edges", tables.edges), ("labels", tables.labels)):
        if text is not None:
            inputs += [(role, path) for path in find_files(text, role)]
    edges = _edges(data, source, ids, tables, findings) if tables.edges is not None else None
    rows = _rows(data, source, tables, findings)
    findings.raise_if_refused()
    kept = [finding for finding in findings.found if finding.code != _ALL_THE_SAME]
    here = pa.array(range(first, first + source.num_nodes)) if ids is None else ids[first:]
    found = new_labels(tables, source, IdLookup(here))
    labels, classes = joined_labels(data, found, source.num_nodes)
    return Arrivals(rows, ids, edges, labels, classes, checks.Findings(kept), fingerprint(inputs))


def _like(data: Artifact, used: AnyData, flags: dict[str, Any]) -> TablesData:
    """The new files, read as the run's own were where nothing else is said."""
    keys: dict[str, Any] = {"source": "tables", "scale": "none", **flags}
    keys.setdefault("dtype", used.dtype)
    before = used if isinstance(used, TablesData) else None
    if before is not None:
        for key in ("fill_missing", "separator", "src_column", "dst_column", "weight_column"):
            keys.setdefault(key, getattr(before, key))
    names = _names(flags["features"], keys, "features")
    if before is not None:
        labelled = _names(flags["labels"], keys, "labels") if "labels" in flags else names
        for key, there in (
            ("id_column", names), ("label_column", labelled), ("split_column", labelled),
        ):  # fmt: skip
            if getattr(before, key) in there:
                keys.setdefault(key, getattr(before, key))
        if names:
            keys.setdefault("feature_columns", before.feature_columns)
    columns = data.manifest.facts.get("columns")
    if names and columns is not None:
        _require_names(columns, names, flags["features"])
        keys["feature_columns"] = tuple(columns)
    return TablesData(**keys)


def _names(text: str, keys: dict[str, Any], role: str) -> list[str]:
    """Of the columns; an array has none."""
    paths = find_files(text, role)
    if len(paths) == 1 and kind_of(paths[0]) in ("npy", "npz"):
        return []
    names: list[str] = open_table(text, keys.get("separator"), role).schema.names
    return names


def _require_names(columns: list[str], names: list[str], where: str) -> None:
    absent = [name for name in columns if name not in names]
    if absent:
        raise InputError(
            f"features: {where} lacks {len(absent):,} of the {len(columns):,} feature columns of "
            f"the run (first: {absent[0]!r}).",
            f"Found: {', '.join(names[:12])}. The learner knows the columns it was trained on.",
            "Give new rows the same columns; their order does not matter.",
        )


def _require_columns(data: Artifact, source: Source, where: str) -> None:
    expected = data.nodes().shape[1]
    if source.num_features != expected:
        raise InputError(
            f"features: {where} has {source.num_features:,} columns, the features of the run have "
            f"{expected:,}.",
            "The learner knows the columns it was trained on.",
            "Give new rows the same columns, in the same order.",
        )


def _rows(data: Artifact, source: Source, tables: TablesData, findings: checks.Findings) -> Rows:
    scaling = data.manifest.facts.get("scaling")
    if scaling is not None:
        source = replace(source, features=rescaled(source, scaling))
    blocks = checks.checked_features(source, findings, tables.fill_missing, tables.dtype)
    return np.concatenate(list(blocks))


def _ids(data: Artifact, source: Source, where: str) -> pa.Array | None:
    """Of all nodes. Where the run has no ids of its own, new nodes are n, n + 1, ..."""
    first, count = data.manifest.num_nodes, source.num_nodes
    new = pa.array(np.arange(count)) if source.ids is None else source.ids
    if "ids" not in data:
        if source.id_column and not new.equals(pa.array(np.arange(first, first + count))):
            raise InputError(
                f"features: column {source.id_column!r} of {where} begins with {new[0]}, and the "
                f"nodes of the run are numbered 0 to {first - 1}.",
                f"New nodes are numbered on: {first}, {first + 1}, ...",
                "Number them so, or leave the column out.",
            )
        return None
    if source.id_column is None:
        raise InputError(
            f"features: {where} has no ids, and the nodes of the run have.",
            "An edge could not name the new nodes.",
            "Give their column with --id-column.",
        )
    old = data.columns("ids")["id"].combine_chunks()
    if old.type != new.type:
        old, new = (pc.cast(ids, pa.string()) for ids in (old, new))
    twice = new.filter(pc.is_in(new, old))
    if len(twice):
        raise InputError(
            f"features: {len(twice):,} ids of {where} are nodes of the run already "
            f"(first: {twice[0].as_py()!r}).",
            "New nodes are added; none is changed.",
            "Leave those rows out.",
        )
    return pa.concat_arrays([old, new])


def _edges(
    data: Artifact, source: Source, ids: pa.Array | None, tables: TablesData,
    findings: checks.Findings,
) -> list[EdgeBlock]:  # fmt: skip
    if "edges" not in data:
        raise InputError(
            "The run was made without edges, and --edges gives some.",
            "Its learner has seen no given graph.",
            "Leave --edges out, or learn anew with edges for all nodes.",
        )
    first = data.manifest.num_nodes
    total = first + source.num_nodes
    blocks, name_edge, notes = open_edges(tables, IdLookup(ids), total)
    findings.found += [checks.Finding("noted", "assumed", 1, note) for note in notes]
    every = replace(source, num_nodes=total, ids=ids, edges=blocks, name_edge=name_edge)
    found, left = [], 0
    for src, dst, weight, _ in checks.checked_edges(every, findings, tables.unknown_nodes):
        new = np.maximum(src, dst) >= first
        left += int((~new).sum())
        found.append(EdgeBlock(src[new], dst[new], None if weight is None else weight[new]))
    findings.noted(
        "old-edges", left, f"{left:,} edges join two old nodes; left out, those stay as they are."
    )
    return found
