"""The first anchor from several graphs: given edges, the features' neighbours, further edge lists.

Each source becomes undirected (of the two directions of an edge the heavier, as at ingest; of
neighbours ReLU(cos), half of it if found from one end only), gets self-loops of weight 1 and is
normalised: D^-1/2 (W + I) D^-1/2. The anchor is their mean over the union of their edges, each
source counting by its weight; of it every node keeps the `anchor.budget` heaviest edges.

Made once before training, shard by shard, and read by all who train.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gsl_scale.anchor import heaviest
from gsl_scale.config import Anchor, AnchorSource, Config
from gsl_scale.config_data import TablesData
from gsl_scale.errors import ConfigError, InputError
from gsl_scale.ingest import checks
from gsl_scale.ingest.edge_files import open_edges
from gsl_scale.ingest.files import find_files
from gsl_scale.ingest.ids import IdLookup
from gsl_scale.ingest.source import EdgeBlock, Source
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import Draft
from gsl_scale.store.edges import Edges, EdgeShuffle, EdgeTable, edge_table, write_edge_part
from gsl_scale.store.parts import Parts

Vector = npt.NDArray[np.float64]


def source_files(anchor: Anchor) -> list[tuple[str, Path]]:
    """The files that the anchor is made from, with the key that names them."""
    return [
        (f"anchor.sources.{number}", path)
        for number, source in enumerate(anchor.sources or ())
        if source.path is not None
        for path in find_files(source.path, f"anchor.sources.{number}")
    ]


def write_first_anchor(
    config: Config, data: Artifact, candidates: Iterable[Edges], folder: Path
) -> Artifact | None:
    """None if the config names no sources; not computed again if it is there. `candidates`: the
    neighbours of the features, in any blocks; `config` has no 'auto' left."""
    settings = config.anchor
    if settings.sources is None:
        return None
    if folder.exists():
        return Artifact.open(folder)
    plan = data.manifest.plan
    with Draft(folder, "first-anchor", plan) as draft:
        inner = Parts(draft.scratch(), plan, resume=False)
        tables = [
            _undirected(source, number, config, data, candidates, inner)
            for number, source in enumerate(settings.sources)
        ]
        roots = [_roots(table) for table in tables]
        total = sum(source.weight for source in settings.sources)
        shares = [source.weight / total for source in settings.sources]
        parts = []
        for shard, start, stop in plan:
            mixed = sp.csr_matrix((stop - start, plan.num_nodes))
            for table, root, share in zip(tables, roots, shares, strict=True):
                mixed = mixed + _rows(table, root, start, stop) * share
            kept = heaviest(mixed.tocsr(), settings.budget)
            kept.sort_indices()
            src = start + np.repeat(np.arange(stop - start), np.diff(kept.indptr))
            edges = Edges(src, kept.indices.astype(np.int64), kept.data.astype(np.float32))
            parts.append(write_edge_part(draft, "edges", shard, edges))
        draft.add_table("edges", edge_table(parts))
        draft.publish()
    return Artifact.open(folder)


def _undirected(
    source: AnchorSource, number: int, config: Config, data: Artifact,
    candidates: Iterable[Edges], out: Parts,
) -> EdgeTable:  # fmt: skip
    num_nodes = out.plan.num_nodes
    if source.kind == "given":
        if "edges" not in data:
            raise ConfigError(
                f"anchor.sources.{number} is given, and the data has no edges.",
                next_step="Leave it out, or give edges (data.edges).",
            )
        return data.edges()
    name = f"source-{number}"
    if source.kind == "knn":
        shuffle = EdgeShuffle(out, name, mirror=True, merge="sum")
        for edges in candidates:
            half = np.clip(edges.weight, 0, 1) * np.float32(0.5)
            shuffle.append(edges.src[half > 0], edges.dst[half > 0], half[half > 0])
    else:
        shuffle = EdgeShuffle(out, name, mirror=True)
        for block in _checked(source, number, config, data):
            shuffle.append(*block[:3])
    return EdgeTable(out.folder, shuffle.finish(), num_nodes)


def _checked(
    source: AnchorSource, number: int, config: Config, data: Artifact
) -> Iterator[EdgeBlock]:
    """The edges of a file, checked as those of ingest are."""
    num_nodes = data.manifest.num_nodes
    used = config.data if isinstance(config.data, TablesData) else None
    unknown = used.unknown_nodes if used else "refuse"
    findings = checks.Findings()
    try:
        tables = TablesData(source="tables", features="", edges=source.path)
        ids = data.columns("ids")["id"].combine_chunks() if "ids" in data else None
        blocks, name_edge, _ = open_edges(tables, IdLookup(ids), num_nodes)
        every = Source(num_nodes, 0, lambda: iter(()), blocks, ids=ids, name_edge=name_edge)
        yield from checks.checked_edges(every, findings, unknown)
        findings.raise_if_refused()
    except InputError as error:
        error.what = f"anchor.sources.{number} ({source.path}): {error.what}"
        error.args = (error.what, error.why, error.next_step)
        raise


def _roots(table: EdgeTable) -> Vector:
    """Of the degrees, self-loops included."""
    degree = np.ones(table.num_nodes)
    for part, edges in table.parts():
        here = slice(part.start, part.stop)
        degree[here] += np.bincount(edges.src - part.start, edges.weight, part.stop - part.start)
    return np.sqrt(degree)


def _rows(table: EdgeTable, root: Vector, start: int, stop: int) -> sp.csr_matrix:
    """Rows start .. stop-1 of a source, normalised."""
    edges, here = table.read(start, stop), np.arange(start, stop)
    src, dst = np.append(edges.src, here), np.append(edges.dst, here)
    weight = np.concatenate([edges.weight, np.ones(len(here))]) / (root[src] * root[dst])
    return sp.csr_matrix((weight, (src - start, dst)), (stop - start, table.num_nodes))
