"""The files an artifact was made from, by content, so that a changed file makes it stale."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from gsl_scale.store.manifest import InputFile


def fingerprint(inputs: Iterable[tuple[str, Path]]) -> list[InputFile]:
    return [_fingerprint(role, path) for role, path in inputs]


def _fingerprint(role: str, path: Path) -> InputFile:
    stat = path.stat()
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return InputFile(
        role=role, path=str(path), bytes=stat.st_size, mtime_ns=stat.st_mtime_ns, sha256=sha256
    )


def changed(recorded: list[InputFile], now: Iterable[tuple[str, Path]]) -> list[str]:
    """Roles whose content is not what was ingested. Files that are gone cannot be compared."""
    before: dict[str, list[InputFile]] = {}
    for file in recorded:
        before.setdefault(file.role, []).append(file)
    after: dict[str, list[Path]] = {}
    for role, path in now:
        after.setdefault(role, []).append(path)
    return [
        f"{role}: {'other files' if role in before and role in after else 'added or removed'}"
        for role in sorted(before.keys() | after.keys())
        if not _same(before.get(role, []), after.get(role, []))
    ]


def _same(before: list[InputFile], after: list[Path]) -> bool:
    if len(before) != len(after):
        return False
    return all(_unchanged(old, new) for old, new in zip(before, after, strict=True))


def _unchanged(old: InputFile, path: Path) -> bool:
    if not path.exists():
        return str(path) == old.path
    stat = path.stat()
    if stat.st_size != old.bytes:
        return False
    if str(path) == old.path and stat.st_mtime_ns == old.mtime_ns:
        return True
    return _fingerprint(old.role, path).sha256 == old.sha256
