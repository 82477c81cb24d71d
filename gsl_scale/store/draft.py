"""Writing an artifact so that it is either wholly there or not there at all.

Parts go into a hidden draft beside the final place; `publish` writes the manifest into the draft
and swaps the two folders. A writer killed at any moment leaves the old artifact as it was. One
writer at a time holds the claim; one that lost it cannot write (`claim.py`).

    .NAME.claim           who writes NAME now (locked while the writer lives)
    .NAME.draft-ATTEMPT/  parts written so far; `sealed/` records those that are whole
"""

import contextlib
import ctypes
import errno
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from gsl_scale import __version__
from gsl_scale.config import digest
from gsl_scale.errors import DiskFullError, NotAStoreError
from gsl_scale.memory import peak_bytes
from gsl_scale.store.claim import (
    GONE,
    clear,
    drafts,
    fenced,
    is_claimed,
    new_draft,
    release_claim,
    require_home,
    take_claim,
    take_over,
)
from gsl_scale.store.manifest import (
    FILE_NAME,
    InputFile,
    Manifest,
    Table,
    sync_folder,
    write_durably,
    write_manifest,
)
from gsl_scale.store.parts import Parts
from gsl_scale.store.shards import ShardPlan


class Draft(Parts):
    """An artifact being written. Use as a context manager; leaving it without `publish` keeps
    the sealed parts if `resume` was asked for, and otherwise leaves nothing behind."""

    def __init__(
        self,
        final: Path,
        kind: str,
        plan: ShardPlan,
        config: dict[str, Any] | None = None,
        parents: dict[str, str] | None = None,
        *,
        resume: bool = False,
    ) -> None:
        self.final = Path(os.path.abspath(final))  # noqa: PTH100 (resolve() would follow links)
        super().__init__(new_draft(self.final), plan, resume)
        self.kind = kind
        self.config, self.parents = config or {}, parents or {}
        self.inputs: list[InputFile] = []
        self.facts: dict[str, Any] = {}
        self.tables: dict[str, Table] = {}
        self._claim: int | None = None
        self._published = False
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        with explained(self.final):
            self._refuse_foreign_folder()
            require_home(self.final)
            self.final.parent.mkdir(parents=True, exist_ok=True)
            self._claim = take_claim(self.final)
            try:
                _recover(self.final)
                self._start_folder()
            except BaseException:
                self._leave()
                raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        lost = error is not None and not self._published and not self._is_held
        self._leave()
        if lost:
            clear(self.folder)  # what may have been made there anew
            raise fenced(self.folder) from error
        if isinstance(error, OSError):
            with explained(self.final):
                raise error

    @property
    def parts(self) -> Parts:
        """What a worker needs to write parts of this draft."""
        return Parts(self.folder, self.plan, self.resume)

    @property
    def _is_held(self) -> bool:
        """Whether no other attempt has taken this draft over."""
        return (self.folder / "plan.json").exists()

    def add_table(self, name: str, table: Table) -> None:
        self.tables[name] = table

    def publish(self) -> Manifest:
        """Write the manifest and put the artifact in its place, as a whole."""
        manifest = Manifest(
            kind=self.kind,
            written_by=f"gsl-scale {__version__}",
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=round(time.monotonic() - self._began, 3),
            peak_bytes=peak_bytes(),
            num_nodes=self.plan.num_nodes,
            num_shards=self.plan.num_shards,
            config_digest=digest(self.config),
            config=self.config,
            parents=self.parents,
            inputs=self.inputs,
            tables=self.tables,
            facts=self.facts,
        )
        if not self._is_held:
            raise fenced(self.folder)
        for extra in ("scratch", "sealed"):
            shutil.rmtree(self.folder / extra, ignore_errors=True)
        (self.folder / "plan.json").unlink(missing_ok=True)
        for name in self.tables:
            sync_folder(self.folder / name)
        write_manifest(self.folder, manifest)
        swap(self.folder, self.final)
        self._published = True
        return manifest

    def _refuse_foreign_folder(self) -> None:
        """Never put an artifact in the place of something gsl-scale did not write."""
        if not self.final.exists() or (self.final / FILE_NAME).exists():
            return
        if self.final.is_dir() and not any(self.final.iterdir()):
            return
        raise NotAStoreError(
            f"{self.final} exists and is not a store.",
            "Writing there would delete what it holds.",
            "Give another --out, or move it away first.",
        )

    def _start_folder(self) -> None:
        """Keep a draft of the very same artifact, clear away any other."""
        wanted = json.dumps(
            {
                "kind": self.kind,
                "config": digest(self.config),
                "parents": self.parents,
                "shards": [self.plan.num_nodes, self.plan.num_shards],
            }
        )
        for left in drafts(self.final):
            same = self.resume and not self.folder.exists() and _text(left / "plan.json") == wanted
            if not (same and take_over(left, self.folder)):
                clear(left)
        (self.folder / "sealed").mkdir(parents=True, exist_ok=True)
        write_durably(self.folder / "plan.json", wanted)

    def _leave(self) -> None:
        if not self.resume:
            shutil.rmtree(self.folder, ignore_errors=True)
        if self._claim is not None:
            release_claim(self.final, self._claim)
            self._claim = None


def discard(final: Path) -> None:
    """Remove what an attempt at writing an artifact left behind, unless it still goes on."""
    if not drafts(final):
        return
    handle = take_claim(final)
    try:
        for draft in drafts(final):
            clear(draft)
    finally:
        release_claim(final, handle)


def state(final: Path) -> str:
    """absent, claimed, partial or complete: what is at this place now."""
    if is_claimed(final):
        return "claimed"
    if (final / FILE_NAME).exists():
        return "complete"
    return "partial" if drafts(final) else "absent"


def _text(path: Path) -> str | None:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return None


def _recover(final: Path) -> None:
    """Finish what a writer killed during `swap` began."""
    old = final.with_name(f".{final.name}.old")
    for draft in drafts(final):
        if not final.exists() and (draft / FILE_NAME).exists() and draft.suffix != GONE:
            draft.rename(final)
    if final.exists():
        shutil.rmtree(old, ignore_errors=True)
    elif old.exists():
        old.rename(final)


def swap(draft: Path, final: Path) -> None:
    """Put the draft in its final place; what was there goes away."""
    sync_folder(draft)
    if final.exists():
        if not _exchange(draft, final):
            # No atomic exchange on this file system: for a moment neither is in place, and
            # `_recover` completes the swap if we die in that moment.
            old = final.with_name(f".{final.name}.old")
            final.rename(old)
            draft.rename(final)
            draft = old
        sync_folder(final.parent)
        clear(draft)
    else:
        draft.rename(final)
        sync_folder(final.parent)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step (Linux renameat2 with RENAME_EXCHANGE), if possible."""
    if not sys.platform.startswith("linux"):
        return False
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    at_cwd, exchange = -100, 2
    return bool(call(at_cwd, os.fsencode(one), at_cwd, os.fsencode(other), exchange) == 0)


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextlib.contextmanager
def explained(final: Path) -> Iterator[None]:
    """Turn the operating system's refusals while writing into errors a person can act on."""
    try:
        yield
    except PermissionError as error:
        raise NotAStoreError(
            f"{error.filename or final} cannot be written: permission denied.",
            next_step="Give an --out where you may write.",
        ) from None
    except (NotADirectoryError, FileExistsError) as error:
        raise NotAStoreError(
            f"{error.filename or final} is a file where a folder is needed.",
            next_step="Give another --out.",
        ) from None
    except OSError as error:
        full = error.errno in _FULL or "No space left" in str(error) or "too large" in str(error)
        if not full:
            raise
        free = shutil.disk_usage(final.parent).free
        raise DiskFullError(
            f"No room left while writing {final} ({free / 2**20:,.0f} MiB free).",
            "Nothing was lost: what was complete before still is.",
            "Free some space and run the same command again.",
        ) from None
