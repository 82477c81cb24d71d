"""Link tables: the edges of any node, found by its number and memory-mapped.

For graphs that are walked again and again, where Parquet would be decoded each time. Two tables:

    starts   where the edges of each node of a shard begin, and where the last end
    links    (dst, value) of every edge, in order of (src, dst)
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gsl_scale.store.artifact import Artifact
from gsl_scale.store.manifest import Part, Table
from gsl_scale.store.parts import Parts

Ids = npt.NDArray[np.int64]
_LINK = np.dtype([("dst", "<i8"), ("value", "<f4")])


class Rows(NamedTuple):
    """The edges of some nodes: how many each has, where they lead, and a number for each."""

    counts: Ids
    dst: Ids
    value: npt.NDArray[np.float32]


def write_links(out: Parts, shard: int, rows: Rows) -> dict[str, Part]:
    starts = np.append(0, np.cumsum(rows.counts)).astype(np.int64)
    links = np.empty(len(rows.dst), _LINK)
    links["dst"], links["value"] = rows.dst, rows.value
    parts = {}
    for name, array in (("starts", starts), ("links", links)):
        path = out.path(name, shard, "npy")
        np.save(path, array)
        parts[name] = out.seal(name, shard, path, len(array))
    return parts


def link_tables(parts: list[dict[str, Part]]) -> dict[str, Table]:
    """Of all shards, in order."""
    columns = {"starts": {"start": "int64"}, "links": {"dst": "int64", "value": "float32"}}
    return {
        name: Table(format="npy", columns=columns[name], parts=[part[name] for part in parts])
        for name in columns
    }


class LinkTable:
    """The links of an artifact."""

    def __init__(self, artifact: Artifact) -> None:
        self.plan = artifact.manifest.plan
        self.num_nodes = self.plan.num_nodes
        self.num_links = artifact.manifest.tables["links"].rows
        tables = artifact.manifest.tables
        self._shards = [
            (_map(artifact.folder, starts), _map(artifact.folder, links))
            for starts, links in zip(tables["starts"].parts, tables["links"].parts, strict=True)
        ]

    def rows(self, nodes: Ids) -> Rows:
        """Of these nodes, which are in order; only their pages are read."""
        borders = np.searchsorted(nodes, [start for _, start, _ in self.plan])
        found = []
        for shard, start, _ in self.plan:
            last = borders[shard + 1] if shard + 1 < len(borders) else len(nodes)
            local = nodes[borders[shard] : last] - start
            if len(local):
                found.append(_gather(*self._shards[shard], local))
        if len(found) == 1:
            return found[0]
        return Rows(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _gather(starts: Any, links: Any, local: Ids) -> Rows:
    begin = starts[local]
    counts = starts[local + 1] - begin
    ends = np.cumsum(counts)
    edges = np.repeat(begin - ends + counts, counts) + np.arange(ends[-1])
    chosen = links[edges]
    return Rows(counts, np.ascontiguousarray(chosen["dst"]), np.ascontiguousarray(chosen["value"]))


def _map(folder: Path, part: Part) -> Any:
    return np.load(folder / part.path, mmap_mode="r", allow_pickle=False)
