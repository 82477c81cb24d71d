"""The manifest: typed, with a checksum of its own, written last and by rename.

Reading one trusts nothing: any text may be in the file, and part paths stay inside the artifact.
"""

import json
import os
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from gsl_scale.config import digest
from gsl_scale.errors import CorruptError, NewerSchemaError, NotAStoreError
from gsl_scale.store.shards import ShardPlan

SCHEMA_VERSION = 1
FILE_NAME = "manifest.json"
# Tables that every reader takes to lie in the parts of the shard plan.
_BY_SHARD = ("features", "edges", "labels", "ids")


class Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Part(Record):
    """One file: the rows of nodes start .. stop-1."""

    path: str
    start: int = Field(ge=0)
    stop: int = Field(ge=0)
    rows: int = Field(ge=0)
    bytes: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")

    @field_validator("path")
    @classmethod
    def _stays_inside(cls, path: str) -> str:
        pure = PurePosixPath(path)
        if pure.is_absolute() or ".." in pure.parts or "\\" in path or "\0" in path or not path:
            raise ValueError(f"{path!r} leaves the artifact")
        return path


class Table(Record):
    format: Literal["npy", "parquet", "safetensors"]
    columns: dict[str, str]
    parts: list[Part]

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)

    @property
    def bytes(self) -> int:
        return sum(part.bytes for part in self.parts)


class InputFile(Record):
    """A file that was read from outside; size and time spare hashing it again."""

    role: str
    path: str
    bytes: int
    mtime_ns: int
    sha256: str


class Manifest(Record):
    schema_version: int = SCHEMA_VERSION
    kind: str
    written_by: str
    created: str
    seconds: float
    peak_bytes: int = 0  # the most memory its writer had held by then; 0: not recorded
    num_nodes: int = Field(ge=0)
    num_shards: int = Field(ge=1)
    config_digest: str
    config: dict[str, Any]
    parents: dict[str, str]
    inputs: list[InputFile]
    tables: dict[str, Table]
    facts: dict[str, Any]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if not 1 <= self.num_shards <= max(self.num_nodes, 1):
            raise ValueError(f"{self.num_nodes} nodes cannot lie in {self.num_shards} shards")
        for name, table in self.tables.items():
            if name in _BY_SHARD and len(table.parts) != self.num_shards:
                raise ValueError(
                    f"{name} has {len(table.parts)} parts for {self.num_shards} shards"
                )
            for shard, part in enumerate(table.parts):
                start, stop = part.start, part.stop
                if name in _BY_SHARD and (start, stop) != self.plan.bounds(shard):
                    raise ValueError(f"{part.path} is not of the nodes of shard {shard}")
                if name in _BY_SHARD and name != "edges" and part.rows != stop - start:
                    raise ValueError(f"{part.path} has {part.rows} rows for {stop - start} nodes")
                if not start <= stop <= self.num_nodes:
                    raise ValueError(f"{part.path} is of nodes that are not there")
        return self

    @property
    def plan(self) -> ShardPlan:
        return ShardPlan(self.num_nodes, self.num_shards)

    @property
    def content(self) -> str:
        """Identity of what is stored: the same data gives the same digest, whenever written."""
        parts = {
            name: [(part.start, part.stop, part.sha256) for part in table.parts]
            for name, table in self.tables.items()
        }
        return digest([self.schema_version, self.kind, self.num_nodes, parts])


def write_manifest(folder: Path, manifest: Manifest) -> None:
    body = manifest.model_dump(mode="json")
    text = json.dumps({**body, "checksum": digest(body)}, indent=1, ensure_ascii=False)
    write_durably(folder / FILE_NAME, text)


def write_durably(path: Path, body: str | bytes) -> None:
    """Replace a small file as a whole: temporary file, fsync, rename, fsync of the folder."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(body.encode() if isinstance(body, str) else body)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_manifest(folder: Path) -> Manifest:
    path = folder / FILE_NAME
    if not path.exists():
        raise _not_a_store(folder)
    if not path.is_file():  # a pipe would never end
        raise _corrupt(path, "it is not a file")
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        raise _not_a_store(folder) from None
    return parse_manifest(text, path)


def parse_manifest(text: bytes, path: Path | str) -> Manifest:
    """`path` is where it was read, for errors."""
    try:
        body = json.loads(text)
        if not isinstance(body, dict):
            raise ValueError("not a JSON object")
    except (ValueError, RecursionError) as error:
        raise _corrupt(path, f"not valid JSON: {error}") from None
    version = body.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise NewerSchemaError(
            f"{path} has schema version {version}; this release reads up to {SCHEMA_VERSION}.",
            f"It was written by {body.get('written_by', 'a later release')}.",
            "Upgrade gsl-scale, or write the artifact again with this release.",
        )
    checksum = body.pop("checksum", None)
    if checksum != _digest_of(body):
        raise _corrupt(path, "its checksum does not match its content")
    try:
        return Manifest.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _corrupt(path, f"{where}: {first['msg']}") from None


def _digest_of(body: dict[str, Any]) -> str | None:
    try:
        return digest(body)
    except (ValueError, RecursionError):  # text that is no Unicode; nested without end
        return None


def part_path(folder: Path, part: Part) -> Path:
    """Where a part lies: a plain file inside its artifact, also where links lead."""
    path = folder / part.path
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise _corrupt(path, "it leads out of the artifact")
    if path.exists() and not path.is_file():
        raise _corrupt(path, "it is not a file")
    return path


def _not_a_store(folder: Path) -> NotAStoreError:
    if not folder.exists():
        return NotAStoreError(
            f"{folder} does not exist.", next_step="Check the path: a store is a folder."
        )
    if not folder.is_dir():
        return NotAStoreError(
            f"{folder} is a file, not a store.",
            f"A store is a folder with a {FILE_NAME}.",
            "To make one from a file: gsl-scale ingest --features FILE --out DIR",
        )
    inside = sorted(entry.name for entry in folder.iterdir())[:5]
    return NotAStoreError(
        f"{folder} is not a store: it has no {FILE_NAME}.",
        f"Found: {', '.join(inside) or 'nothing'}.",
        "Give the folder that gsl-scale wrote, or make one: gsl-scale ingest --help",
    )


def _corrupt(path: Path | str, reason: str) -> CorruptError:
    return CorruptError(
        f"{path} is damaged: {reason}.",
        "Without it the parts cannot be trusted.",
        "Restore it from a copy, or write the artifact again.",
    )
