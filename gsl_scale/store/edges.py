"""Edge tables: src, dst int64, weight float32, parts by range of src, sorted by (src, dst).

`EdgeShuffle` takes edges in any order and any number: they are spilled by the owner of src and
each shard is sorted on its own, so memory holds one shard, never the graph.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gsl_scale.errors import CorruptError
from gsl_scale.store.manifest import Part, Table, part_path
from gsl_scale.store.parquet import open_parquet, write_parquet
from gsl_scale.store.parts import Parts

Ids = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float32]

COLUMNS = {"src": "int64", "dst": "int64", "weight": "float32"}
# Sorted ids have small differences; the bytes of a float compress best one plane at a time.
ENCODINGS = {
    "src": "DELTA_BINARY_PACKED",
    "dst": "DELTA_BINARY_PACKED",
    "weight": "BYTE_STREAM_SPLIT",
}
SCHEMA = pa.schema([pa.field(name, kind, nullable=False) for name, kind in COLUMNS.items()])


class Edges(NamedTuple):
    src: Ids
    dst: Ids
    weight: Weights

    def where(self, keep: npt.NDArray[np.bool_]) -> "Edges":
        return Edges(self.src[keep], self.dst[keep], self.weight[keep])


class Csr(NamedTuple):
    """Rows start .. of a graph: the neighbours of row i are dst[indptr[i]:indptr[i + 1]]."""

    indptr: Ids
    dst: Ids
    weight: Weights


def write_edge_part(out: Parts, table: str, shard: int, edges: Edges) -> Part:
    """Write one shard whose edges are already sorted by (src, dst)."""
    path = out.path(table, shard, "parquet")
    arrays = [pa.array(column) for column in edges]
    write_parquet(path, pa.Table.from_arrays(arrays, schema=SCHEMA), ENCODINGS)
    return out.seal(table, shard, path, len(edges.src))


def edge_table(parts: list[Part]) -> Table:
    return Table(format="parquet", columns=COLUMNS, parts=parts)


class EdgeTable:
    """Edges of an artifact, read by range of source nodes."""

    def __init__(self, folder: Path, table: Table, num_nodes: int) -> None:
        self.folder, self.table, self.num_nodes = folder, table, num_nodes

    def __len__(self) -> int:
        return self.table.rows

    def parts(self) -> Iterator[tuple[Part, Edges]]:
        """One shard at a time, in node order."""
        for part in self.table.parts:
            yield part, self.read(part.start, part.stop)

    def read(self, start: int = 0, stop: int | None = None) -> Edges:
        """All edges whose source lies in start .. stop-1, sorted by (src, dst)."""
        stop = self.num_nodes if stop is None else stop
        pieces = [
            piece
            for part in self.table.parts
            if part.start < stop and start < part.stop
            for piece in self._read_part(part, start, stop)
        ]
        table = pa.concat_tables(pieces) if pieces else SCHEMA.empty_table()
        edges = Edges(*(table[name].to_numpy() for name in COLUMNS))
        low, high = np.searchsorted(edges.src, [start, stop])
        return Edges(edges.src[low:high], edges.dst[low:high], edges.weight[low:high])

    def _read_part(self, part: Part, start: int, stop: int) -> Iterator[pa.Table]:
        path = part_path(self.folder, part)
        with open_parquet(path) as file:
            if not file.schema_arrow.equals(SCHEMA) or file.metadata.num_rows != part.rows:
                raise _not_as_recorded(path, "its columns or its number of rows")
            if start <= part.start and part.stop <= stop:
                yield self._checked(path, part, file.read())
                return
            groups = []
            for group in range(file.metadata.num_row_groups):
                src = file.metadata.row_group(group).column(0).statistics
                if src is None or (src.min < stop and start <= src.max):  # None: no rows
                    groups.append(group)
            yield self._checked(path, part, file.read_row_groups(groups))

    def _checked(self, path: Path, part: Part, edges: pa.Table) -> pa.Table:
        """Ids are places in arrays: one that is not a node would be read past their end."""
        for name, low, high in (("src", part.start, part.stop), ("dst", 0, self.num_nodes)):
            ids = edges[name]
            if ids.null_count or edges["weight"].null_count:
                raise _not_as_recorded(path, "a value is missing")
            if len(ids):
                ends = pc.min_max(ids).as_py()
                if ends["min"] < low or ends["max"] >= high:
                    raise _not_as_recorded(path, f"{name} is not a node of {low} .. {high - 1}")
        return edges

    def csr(self, start: int = 0, stop: int | None = None) -> Csr:
        """The same edges as rows; row 0 is node `start`."""
        stop = self.num_nodes if stop is None else stop
        edges = self.read(start, stop)
        degrees = np.bincount(edges.src - start, minlength=stop - start)
        indptr = np.zeros(stop - start + 1, np.int64)
        np.cumsum(degrees, out=indptr[1:])
        return Csr(indptr, edges.dst, edges.weight)


def _not_as_recorded(path: Path, what: str) -> CorruptError:
    return CorruptError(
        f"{path} is not what its manifest says: {what}.", next_step="Write the artifact again."
    )


@dataclass
class ShuffleCounts:
    """What merging found. `one_way`: edges given in one direction only, mirrored."""

    given: int = 0
    duplicates: int = 0
    one_way: int = 0
    stored: int = 0


_GIVEN, _MIRRORED = 1, 2
_SPILLED = np.dtype([("src", "<i8"), ("dst", "<i8"), ("weight", "<f4"), ("origin", "u1")])
_SPILL_AT = 1 << 21


class EdgeShuffle:
    """Edges in, in any order; sorted parts out. Repeated (src, dst) are merged: the largest
    weight is kept, or their sum."""

    def __init__(
        self,
        out: Parts,
        table: str = "edges",
        *,
        mirror: bool,
        merge: Literal["max", "sum"] = "max",
    ) -> None:
        self.out, self.table, self.mirror = out, table, mirror
        self._merge = np.maximum if merge == "max" else np.add
        self.counts = ShuffleCounts()
        self._waiting: list[npt.NDArray[np.void]] = []
        self._num_waiting = 0

    def append(self, src: Ids, dst: Ids, weight: Weights | None = None) -> None:
        self.counts.given += len(src)
        for offset in range(0, len(src), _SPILL_AT):
            cut = slice(offset, offset + _SPILL_AT)
            some = 1.0 if weight is None else weight[cut]
            self._wait(src[cut], dst[cut], some, _GIVEN)
            if self.mirror:
                self._wait(dst[cut], src[cut], some, _MIRRORED)

    def _wait(self, src: Ids, dst: Ids, weight: Weights | float, origin: int) -> None:
        block = np.empty(len(src), _SPILLED)
        block["src"], block["dst"] = src, dst
        block["weight"], block["origin"] = weight, origin
        self._waiting.append(block)
        self._num_waiting += len(block)
        if self._num_waiting >= _SPILL_AT:
            self._spill()

    def _spill(self) -> None:
        if not self._waiting:
            return
        block = np.concatenate(self._waiting)
        self._waiting, self._num_waiting = [], 0
        owner = self.out.plan.owner(block["src"])
        order = np.argsort(owner, kind="stable")
        block, owner = block[order], owner[order]
        shards, starts = np.unique(owner, return_index=True)
        for shard, start, stop in zip(shards, starts, [*starts[1:], len(block)], strict=True):
            with self._spill_path(int(shard)).open("ab") as file:
                file.write(block[start:stop].tobytes())

    def _spill_path(self, shard: int) -> Path:
        return self.out.scratch() / f"{self.table}-{shard:05d}.bin"

    def finish(self, advance: Callable[[int], None] = lambda _: None) -> Table:
        """Sort and write every shard; `advance` hears of each."""
        self._spill()
        parts = []
        for shard, start, _ in self.out.plan:
            parts.append(self._sort_shard(shard, start))
            advance(1)
        return edge_table(parts)

    def _sort_shard(self, shard: int, start: int) -> Part:
        path = self._spill_path(shard)
        block = np.fromfile(path, _SPILLED) if path.exists() else np.empty(0, _SPILLED)
        path.unlink(missing_ok=True)
        key = (block["src"] - start) * self.out.plan.num_nodes + block["dst"]
        order = np.argsort(key)
        key = key[order]
        weight, origin = block["weight"][order], block["origin"][order]
        del block, order
        first = np.flatnonzero(np.diff(key, prepend=-1))
        if len(first) < len(key):
            times = np.add.reduceat((origin == _GIVEN).astype(np.int64), first)
            self.counts.duplicates += int((times - (times > 0)).sum())
            weight = self._merge.reduceat(weight, first)
            origin = np.bitwise_or.reduceat(origin, first)
            key = key[first]
        self.counts.one_way += int((origin == _MIRRORED).sum())
        self.counts.stored += len(key)
        src, dst = np.divmod(key, self.out.plan.num_nodes)
        return write_edge_part(self.out, self.table, shard, Edges(src + start, dst, weight))
