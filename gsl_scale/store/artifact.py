"""Opening an artifact: its tables, and whether its bytes are still those that were written."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa

from gsl_scale.errors import CorruptError, NotAStoreError
from gsl_scale.store.edges import EdgeTable
from gsl_scale.store.manifest import Manifest, Part, Table, part_path, read_manifest
from gsl_scale.store.nodes import NodeTable, read_columns


class Artifact:
    """A complete artifact, opened for reading."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder, self.manifest = folder, manifest

    @classmethod
    def open(cls, folder: str | Path) -> "Artifact":
        folder = Path(folder)
        return cls(folder, read_manifest(folder))

    def __contains__(self, table: str) -> bool:
        return table in self.manifest.tables

    def nodes(self, name: str = "features") -> NodeTable:
        return NodeTable(self.folder, self._table(name))

    def edges(self, name: str = "edges") -> EdgeTable:
        return EdgeTable(self.folder, self._table(name), self.manifest.num_nodes)

    def columns(self, name: str) -> pa.Table:
        """labels or ids, whole."""
        return read_columns(self.folder, self._table(name))

    def _table(self, name: str) -> Table:
        if name not in self.manifest.tables:
            raise NotAStoreError(
                f"{self.folder} has no {name}.",
                f"It is a {self.manifest.kind} artifact with: {', '.join(self.manifest.tables)}.",
                "Give the folder of another stage: gsl-scale status RUN",
            )
        return self.manifest.tables[name]

    def damage(self, advance: Callable[[int], None] = lambda _: None) -> Iterator[tuple[Part, str]]:
        """Every part that is not as it was written, with the reason."""
        for table in self.manifest.tables.values():
            for part in table.parts:
                reason = self._damage_of(part)
                advance(part.bytes)
                if reason:
                    yield part, reason

    def _damage_of(self, part: Part) -> str | None:
        try:
            path = part_path(self.folder, part)
            size = path.stat().st_size
            if size != part.bytes:
                return f"{size:,} bytes, expected {part.bytes:,}"
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except CorruptError as error:
            return error.what
        except FileNotFoundError:
            return "missing"
        except OSError as error:
            return f"cannot be read: {error.strerror}"
        return None if found == part.sha256 else "its SHA-256 is not the one recorded"

    def verify(self, advance: Callable[[int], None] = lambda _: None) -> None:
        """Raise if any part is damaged, naming each."""
        damaged = [f"{part.path}: {reason}" for part, reason in self.damage(advance)]
        if damaged:
            raise CorruptError(
                f"{self.folder} is damaged in {len(damaged)} of "
                f"{sum(len(t.parts) for t in self.manifest.tables.values())} parts:\n"
                + "\n".join(f"  {line}" for line in damaged),
                "Its content is not what was written.",
                "Restore those files from a copy, or write the artifact again.",
            )

    @property
    def bytes(self) -> int:
        return sum(table.bytes for table in self.manifest.tables.values())
