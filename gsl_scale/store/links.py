"""Link tables: the edges of any node, found by its number and memory-mapped.

For graphs that are walked again and again, where Parquet would be decoded each time. Two tables:

    starts   where the edges of each node of a shard begin, and where the last end
    links    (dst, value) of every edge, in order of (src, dst)
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gsl_scale.store.artifact import Artifact
from gsl_scale.store.manifest import Part, Table, part_path
from gsl_scale.store.mapped import let_go, mapped
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
        """All links of these nodes, which are in order."""
        counts = self.degrees(nodes)
        ends = np.cumsum(counts)
        within = np.arange(len(nodes) and ends[-1]) - np.repeat(ends - counts, counts)
        dst, value = self.pick(nodes, counts, within)
        return Rows(counts, dst, value)

    def degrees(self, nodes: Ids) -> Ids:
        """How many links these nodes, which are in order, have."""
        counts = np.empty(len(nodes), np.int64)
        for shard, mine, local in self._shared_out(nodes):
            starts = self._shards[shard][0]
            counts[mine] = starts[local + 1] - starts[local]
        return counts

    def pick(self, nodes: Ids, counts: Ids, within: Ids) -> tuple[Ids, npt.NDArray[np.float32]]:
        """Some links of each node: `counts` per node, at these places among its own. Only their
        pages are read."""
        ends = np.append(0, np.cumsum(counts))
        found = np.empty(ends[-1], _LINK)
        for shard, mine, local in self._shared_out(nodes):
            starts, links = self._shards[shard]
            edges = slice(ends[mine.start], ends[mine.stop])
            found[edges] = links[np.repeat(starts[local], counts[mine]) + within[edges]]
            let_go()
        return np.ascontiguousarray(found["dst"]), np.ascontiguousarray(found["value"])

    def _shared_out(self, nodes: Ids) -> Iterator[tuple[int, slice, Ids]]:
        """Shard by shard: which of the nodes lie in it, and at which places of the shard."""
        borders = np.searchsorted(nodes, [start for _, start, _ in self.plan])
        for shard, start, _ in self.plan:
            last = borders[shard + 1] if shard + 1 < len(borders) else len(nodes)
            if last > borders[shard]:
                mine = slice(int(borders[shard]), int(last))
                yield shard, mine, nodes[mine] - start


def _map(folder: Path, part: Part) -> Any:
    return mapped(part_path(folder, part))
