"""Node tables: one row per node, in node order.

Numbers (features, embeddings) are .npy parts, memory-mapped when read, so that no process holds a
copy. Labels and ids are Parquet. Rows arrive in blocks of any size and are cut at shard borders.
"""

import errno
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gsl_scale.errors import CorruptError, InputError
from gsl_scale.store.manifest import Part, Table, part_path
from gsl_scale.store.mapped import let_go, mapped
from gsl_scale.store.parquet import open_parquet, write_parquet
from gsl_scale.store.parts import Parts

Rows = npt.NDArray[np.floating[Any]]


def write_rows(out: Parts, name: str, blocks: Iterable[Rows], dim: int, dtype: str) -> Table:
    """Stream blocks of rows into .npy parts; memory holds one block."""
    cut = _cut_at_shards(blocks, out)
    parts = [write_rows_part(out, name, shard, cut, dim, dtype) for shard, _, _ in out.plan]
    next(cut, None)  # a row too many is found here
    return rows_table(name, parts, dim, dtype)


def write_rows_part(
    out: Parts, name: str, shard: int, blocks: Iterator[Rows], dim: int, dtype: str
) -> Part:
    """As many blocks as make up a shard."""
    start, stop = out.plan.bounds(shard)
    path = out.path(name, shard, "npy")
    with path.open("wb") as file:
        header = {"descr": np.dtype(dtype).str, "fortran_order": False}
        np.lib.format.write_array_header_1_0(file, {**header, "shape": (stop - start, dim)})
        written = 0
        while written < stop - start:
            rows = next(blocks)
            file.write(np.ascontiguousarray(rows, dtype).data)
            written += len(rows)
    return out.seal(name, shard, path, stop - start)


def rows_table(name: str, parts: list[Part], dim: int, dtype: str) -> Table:
    return Table(format="npy", columns={name: dtype, "dim": str(dim)}, parts=parts)


def write_columns(out: Parts, name: str, blocks: Iterable[pa.Table]) -> Table:
    """Stream blocks of a Parquet node table (labels, ids) into parts."""
    cut = _cut_at_shards(blocks, out)
    parts, columns = [], {}
    for shard, start, stop in out.plan:
        pieces: list[pa.Table] = []
        while sum(map(len, pieces)) < stop - start:
            pieces.append(next(cut))
        table = pa.concat_tables(pieces)
        columns = {field.name: str(field.type) for field in table.schema}
        path = out.path(name, shard, "parquet")
        write_parquet(path, table)
        parts.append(out.seal(name, shard, path, len(table)))
    next(cut, None)
    return Table(format="parquet", columns=columns, parts=parts)


def _cut_at_shards(blocks: Iterable[Any], out: Parts) -> Iterator[Any]:
    """The same rows in blocks that never cross a shard border."""
    plan, at = out.plan, 0
    borders = iter([stop for _, _, stop in plan])
    border = next(borders)
    for block in blocks:
        while len(block):
            if at == plan.num_nodes:
                raise _miscounted(plan.num_nodes, "more")
            piece, block = block[: border - at], block[border - at :]
            at += len(piece)
            yield piece
            if at == border:
                border = next(borders, border)
    if at < plan.num_nodes:
        raise _miscounted(plan.num_nodes, f"only {at:,}")


def _miscounted(expected: int, found: str) -> InputError:
    return InputError(
        f"{expected:,} rows were counted and {found} were read.",
        "The input changed while it was being read.",
        "Run the command again when nothing writes to it.",
    )


class NodeTable:
    """Rows of numbers, memory-mapped."""

    def __init__(self, folder: Path, table: Table) -> None:
        self.folder, self.table = folder, table
        self._maps: dict[str, npt.NDArray[Any]] = {}

    @property
    def shape(self) -> tuple[int, int]:
        dim = self.table.columns.get("dim", "")
        if not (dim.isascii() and dim.isdigit()):
            raise CorruptError(
                f"{self.folder} does not say how many columns its rows have.",
                next_step="Write the artifact again.",
            )
        return self.table.rows, int(dim)

    def parts(self) -> Iterator[tuple[Part, Rows]]:
        """One shard at a time, as views of the file, let go of before the next."""
        for part in self.table.parts:
            yield part, self._open(part)

    def read(self, start: int = 0, stop: int | None = None) -> Rows:
        """Rows start .. stop-1: a view of the file if they lie in one shard."""
        let_go()
        stop = self.shape[0] if stop is None else stop
        pieces = [
            self._map(part)[max(start - part.start, 0) : stop - part.start]
            for part in self.table.parts
            if part.start < stop and start < part.stop
        ]
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def rows(self, nodes: npt.NDArray[np.int64]) -> Rows:
        """A copy of the rows of these nodes, in their order; only those pages are read."""
        out = np.empty((len(nodes), self.shape[1]), self._map(self.table.parts[0]).dtype)
        if (nodes[1:] < nodes[:-1]).any():
            order = np.argsort(nodes, kind="stable")
            out[order] = self.rows(nodes[order])
            return out
        borders = np.searchsorted(nodes, [part.start for part in self.table.parts])
        for part, first, last in zip(
            self.table.parts, borders, np.append(borders[1:], len(nodes)), strict=True
        ):
            here = nodes[first:last] - part.start
            np.take(self._map(part), here, axis=0, out=out[first:last], mode="clip")
            let_go()
        return out

    def _map(self, part: Part) -> npt.NDArray[Any]:
        if part.path not in self._maps:
            self._maps[part.path] = self._open(part)
        return self._maps[part.path]

    def _open(self, part: Part) -> npt.NDArray[Any]:
        path = part_path(self.folder, part)
        try:
            rows = mapped(path)
        except (OSError, ValueError) as error:
            if getattr(error, "errno", None) == errno.ENOMEM:
                raise MemoryError(f"{path} cannot be mapped") from None
            raise CorruptError(
                f"{path} cannot be read: {error}", next_step="Write the artifact again."
            ) from None
        if rows.shape != (part.rows, self.shape[1]) or rows.dtype.kind not in "fiu":
            raise CorruptError(
                f"{path} holds {rows.shape} of {rows.dtype}, its manifest says "
                f"{(part.rows, self.shape[1])} numbers.",
                next_step="Write the artifact again.",
            )
        return rows


def read_columns(folder: Path, table: Table) -> pa.Table:
    """A whole Parquet node table, in node order."""
    pieces = []
    for part in table.parts:
        path = part_path(folder, part)
        with open_parquet(path) as file:
            pieces.append(file.read())
        found = {field.name: str(field.type) for field in pieces[-1].schema}
        if found != table.columns or len(pieces[-1]) != part.rows:
            raise CorruptError(
                f"{path} holds {len(pieces[-1]):,} rows of {found}, its manifest says "
                f"{part.rows:,} of {table.columns}.",
                next_step="Write the artifact again.",
            )
    return pa.concat_tables(pieces)
