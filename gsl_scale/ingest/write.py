"""The ingest stage: a source, checked on its way, becomes the data artifact."""

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from gsl_scale import progress
from gsl_scale.config import Config, depends_on
from gsl_scale.config_data import Perturb, TablesData
from gsl_scale.errors import InputError
from gsl_scale.ingest import checks, open_source
from gsl_scale.ingest.inputs import fingerprint
from gsl_scale.ingest.scale import scaled
from gsl_scale.ingest.source import BLOCK_ROWS, Source
from gsl_scale.store.draft import Draft
from gsl_scale.store.edges import EdgeShuffle, EdgeTable
from gsl_scale.store.manifest import Manifest, Table
from gsl_scale.store.nodes import write_columns, write_rows
from gsl_scale.store.shards import ShardPlan

KIND = "data"
UNDAMAGED = "undamaged"  # the edges before data.perturb


def write_data(config: Config, folder: Path) -> Manifest:
    """Ingest `config.data` into `folder`; on any refusal nothing is left behind."""
    source = _open(config)
    with _draft(config, source, folder) as draft:
        _fill(draft, config, source)
        return draft.publish()


def check_data(config: Config) -> tuple[Source, checks.Findings]:
    """Everything ingest would find, without keeping anything."""
    source = _open(config)
    with (
        tempfile.TemporaryDirectory(prefix="gsl-check-") as scratch,
        _draft(config, source, Path(scratch) / "data") as draft,
    ):
        return source, _fill(draft, config, source)


def _open(config: Config) -> Source:
    source = open_source(config.data)
    if source.num_nodes < 2:
        raise InputError(
            f"There is {source.num_nodes} node; a graph needs at least 2.",
            next_step="Check that the features hold one row per node.",
        )
    return scaled(source, getattr(config.data, "scale", "none"))


def _draft(config: Config, source: Source, folder: Path) -> Draft:
    plan = ShardPlan.choose(source.num_nodes, config.run.shards)
    return Draft(folder, KIND, plan, depends_on(config, ["data"]))


def _fill(draft: Draft, config: Config, source: Source) -> checks.Findings:
    findings = checks.Findings()
    findings.found += [checks.Finding("noted", "assumed", 1, note) for note in source.notes]
    data, num_nodes = config.data, source.num_nodes
    mine = data if isinstance(data, TablesData) else None
    draft.inputs = fingerprint(source.inputs)

    with progress.track("features", num_nodes) as advance:
        rows = checks.checked_features(
            source, findings, mine.fill_missing if mine else None, data.dtype
        )
        if data.perturb is not None:
            rows = _perturbed(rows, data.perturb)
        table = write_rows(
            draft, "features", _counted(rows, advance), source.num_features, data.dtype
        )
    draft.add_table("features", table)
    if data.perturb is not None:
        _note_perturbed(findings, data.perturb, source)

    if source.edges is not None:
        damaged = data.perturb is not None and data.perturb.of_edges
        shuffle = EdgeShuffle(draft, UNDAMAGED if damaged else "edges", mirror=True)
        touched = np.zeros(num_nodes, bool)
        with progress.track("edges", None) as advance:
            unknown = mine.unknown_nodes if mine else "refuse"
            for block in checks.checked_edges(source, findings, unknown):
                shuffle.append(block.src, block.dst, block.weight)
                touched[block.src] = touched[block.dst] = True
                advance(len(block.src))
        findings.raise_if_refused()
        with progress.track("edges: sorting shards", draft.plan.num_shards) as advance:
            stored = shuffle.finish(advance)
        if data.perturb is not None and damaged:
            draft.add_table(UNDAMAGED, stored)  # only evaluation reads it
            stored, touched = _perturbed_edges(draft, stored, data.perturb)
        draft.add_table("edges", stored)
        checks.note_shuffle(findings, shuffle.counts)
        checks.note_isolated(findings, int((~touched).sum()), num_nodes)
    findings.raise_if_refused()

    if source.labels is not None:
        draft.add_table("labels", write_columns(draft, "labels", source.labels()))
    if source.ids is not None:
        draft.add_table("ids", write_columns(draft, "ids", _blocks(source.ids)))
    if source.feature_names is not None:
        draft.facts["columns"] = list(source.feature_names)
    draft.facts |= {**source.facts, "findings": findings.to_json()}
    return findings


def _perturbed(blocks: Iterable[Any], how: Perturb) -> Iterator[Any]:
    from gsl_scale.evaluate.perturb import perturb_rows

    at = 0
    for block in blocks:
        yield perturb_rows(block, how, at)
        at += len(block)


def _perturbed_edges(
    draft: Draft, stored: Table, how: Perturb
) -> tuple[Table, npt.NDArray[np.bool_]]:
    """The edges as they were stored, damaged and stored beside; and which nodes have one left.
    Damage is done to whole graphs in memory: it is for experiments."""
    from gsl_scale.evaluate.perturb import perturb_edges

    num_nodes = draft.plan.num_nodes
    src, dst, weight = EdgeTable(draft.folder, stored, num_nodes).read()
    given = sp.csr_matrix((weight, (src, dst)), shape=(num_nodes, num_nodes))
    damaged = perturb_edges(given, how).tocoo()
    shuffle = EdgeShuffle(draft, mirror=False)
    shuffle.append(damaged.row.astype(np.int64), damaged.col.astype(np.int64), damaged.data)
    touched = np.zeros(num_nodes, bool)
    touched[damaged.row] = True
    return shuffle.finish(), touched


def _note_perturbed(findings: checks.Findings, how: Perturb, source: Source) -> None:
    from gsl_scale.evaluate.perturb import said

    if how.of_edges and source.edges is None:
        raise InputError(
            "There are no edges to delete, rewire or add to.",
            "data.perturb damages a given graph, and this data has none.",
            "Give edges, or leave data.perturb.delete, rewire and add out.",
        )
    findings.noted("perturbed", 1, said(how))


def _counted(blocks: Iterable[Any], advance: progress.Advance) -> Iterator[Any]:
    for block in blocks:
        yield block
        advance(len(block))


def _blocks(ids: pa.Array) -> Iterator[pa.Table]:
    for at in range(0, len(ids), BLOCK_ROWS):
        yield pa.table({"id": ids[at : at + BLOCK_ROWS]})
