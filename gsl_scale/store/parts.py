"""The parts of an artifact while it is being written; small enough to send to a worker."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from gsl_scale.store.manifest import Part, write_durably
from gsl_scale.store.shards import ShardPlan


@dataclass
class Parts:
    """Part files in the folder of a draft; `sealed/` records those that are whole."""

    folder: Path
    plan: ShardPlan
    resume: bool  # whether a later attempt may go on with what is sealed

    def path(self, table: str, shard: int, suffix: str) -> Path:
        """Where a shard of a table is to be written."""
        folder = self.folder / table
        folder.mkdir(exist_ok=True)
        return folder / f"part-{shard:05d}.{suffix}"

    def scratch(self) -> Path:
        """A folder for what need not outlive the draft."""
        folder = self.folder / "scratch"
        folder.mkdir(exist_ok=True)
        return folder

    def seal(self, table: str, shard: int, path: Path, rows: int) -> Part:
        """Declare a part whole: flushed to disk, hashed and recorded."""
        start, stop = self.plan.bounds(shard)
        with path.open("rb") as file:
            os.fsync(file.fileno())
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        part = Part(
            path=f"{table}/{path.name}",
            start=start,
            stop=stop,
            rows=rows,
            bytes=path.stat().st_size,
            sha256=sha256,
        )
        if self.resume:
            write_durably(self._record(table, shard), part.model_dump_json())
        return part

    def sealed(self, table: str, shard: int) -> Part | None:
        """The record of a part that an earlier attempt finished, if it is still whole."""
        try:
            part = Part.model_validate_json(self._record(table, shard).read_bytes())
            whole = (self.folder / part.path).stat().st_size == part.bytes
        except (OSError, ValidationError):
            return None
        return part if whole else None

    def _record(self, table: str, shard: int) -> Path:
        return self.folder / "sealed" / f"{table}-{shard:05d}.json"
