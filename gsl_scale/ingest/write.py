"""The ingest stage: a source, checked on its way, becomes the data artifact."""

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gsl_scale import progress
from gsl_scale.config import Config, TablesData, depends_on
from gsl_scale.errors import InputError
from gsl_scale.ingest import checks, open_source
from gsl_scale.ingest.inputs import fingerprint
from gsl_scale.ingest.scale import scaled
from gsl_scale.ingest.source import BLOCK_ROWS, Source
from gsl_scale.store.draft import Draft
from gsl_scale.store.edges import EdgeShuffle
from gsl_scale.store.manifest import Manifest
from gsl_scale.store.nodes import write_columns, write_rows
from gsl_scale.store.shards import ShardPlan

KIND = "data"


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
        table = write_rows(
            draft, "features", _counted(rows, advance), source.num_features, data.dtype
        )
    draft.add_table("features", table)

    if source.edges is not None:
        shuffle = EdgeShuffle(draft, mirror=True)
        touched = np.zeros(num_nodes, bool)
        with progress.track("edges", None) as advance:
            unknown = mine.unknown_nodes if mine else "refuse"
            for block in checks.checked_edges(source, findings, unknown):
                shuffle.append(block.src, block.dst, block.weight)
                touched[block.src] = touched[block.dst] = True
                advance(len(block.src))
        findings.raise_if_refused()
        with progress.track("edges: sorting shards", draft.plan.num_shards) as advance:
            draft.add_table("edges", shuffle.finish(advance))
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


def _counted(blocks: Iterable[Any], advance: progress.Advance) -> Iterator[Any]:
    for block in blocks:
        yield block
        advance(len(block))


def _blocks(ids: pa.Array) -> Iterator[pa.Table]:
    for at in range(0, len(ids), BLOCK_ROWS):
        yield pa.table({"id": ids[at : at + BLOCK_ROWS]})
