"""The parts of an artifact in an object store: how they are called, and all of them moved."""

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from gsl_scale import progress
from gsl_scale.store.manifest import Manifest, Part

OTHER_BYTES = "its SHA-256 is not the one recorded"
_AT_ONCE = 8

Answer = TypeVar("Answer")


def version_of(manifest: Manifest) -> str:
    """The folder of the parts: the same content has the same, other content another."""
    return manifest.content[:16]


def object_name(name: str, manifest: Manifest, part: Part) -> str:
    return f"{name}/{version_of(manifest)}/{part.path}"


def each_part(label: str, manifest: Manifest, act: Callable[[Part], Answer]) -> list[Answer]:
    """Do something with every part, some at the same time."""
    parts = [part for table in manifest.tables.values() for part in table.parts]
    total = sum(part.bytes for part in parts)
    answers = []
    with progress.track(label, total) as advance, ThreadPoolExecutor(_AT_ONCE) as pool:
        for part, answer in zip(parts, pool.map(act, parts), strict=True):
            answers.append(answer)
            advance(part.bytes)
    return answers


def digest_of_bytes(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def digest_of_file(path: Path) -> str | None:
    """None if there is none."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
