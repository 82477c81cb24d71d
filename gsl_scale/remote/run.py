"""A run in an object store and its copy here: what each has, and what has to be moved.

Work is done in the copy. Which of the two is ahead is told by what was moved last: an artifact that
is not what was moved was written here, and has yet to be mirrored; otherwise the store is right.
"""

import contextlib
import json
import os
import re
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from gsl_scale.errors import CorruptError, NotAStoreError
from gsl_scale.remote import checkpoint
from gsl_scale.remote.bucket import Bucket, endpoint
from gsl_scale.remote.claim import Claim, holder_of
from gsl_scale.remote.parts import (
    OTHER_BYTES,
    digest_of_bytes,
    digest_of_file,
    each_part,
    object_name,
    version_of,
)
from gsl_scale.remote.uri import CACHE
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.claim import clear, drafts, release_claim, take_claim
from gsl_scale.store.draft import explained, swap
from gsl_scale.store.manifest import (
    FILE_NAME,
    Manifest,
    Part,
    parse_manifest,
    part_path,
    write_durably,
)

_DEFAULT_CACHE = "~/.cache/gsl_scale/runs"
ORIGIN = ".origin"  # in the copy: the URI
_OWNER, _MOVED = ".owner", ".moved.json"
_FILES = ("config.yaml", "metrics.json", "report.html", "train.jsonl")  # beside the artifacts
_READINGS = 3  # of an artifact that is replaced while it is read


class RemoteRun:
    """The run at a URI, and the folder here in which it is worked on."""

    def __init__(self, uri: str) -> None:
        self.bucket = Bucket(uri)
        self.uri = self.bucket.uri
        self.folder = folder_here(self.uri)
        self._there: dict[str, bytes] = {}  # manifests in the store, as last seen
        self._claim: Claim | None = None

    @contextmanager
    def written(self) -> Iterator[Self]:
        """As its only writer, here and elsewhere."""
        self.bucket.require()
        self._prepare()
        handle = take_claim(self.folder)
        try:
            with Claim(self.bucket, (self.folder / _OWNER).read_text()) as self._claim:
                self.look()
                yield self
        finally:
            release_claim(self.folder, handle)

    def look(self, names: Iterable[str] | None = None) -> None:
        """Which artifacts are in the store now."""
        if names is None:
            entries = self.bucket.entries()
            names = [n for n, file in entries.items() if not file and not n.startswith(".")]
        found = {name: self.bucket.read(f"{name}/{FILE_NAME}") for name in names}
        self._there = {name: text for name, text in found.items() if text is not None}

    @property
    def names(self) -> list[str]:
        """Of the artifacts in the store."""
        return sorted(self._there)

    @property
    def holder(self) -> str | None:
        return holder_of(self.bucket)

    @contextmanager
    def view(self) -> Iterator[Path]:
        """A folder with the manifests of the run and none of its parts: enough to tell how far it
        is. Of an artifact that is newer here, the one here."""
        found = dict(self._there)
        for path in self.folder.glob(f"*/{FILE_NAME}"):
            if self._is_ahead(path.parent.name):
                found[path.parent.name] = path.read_bytes()
        with tempfile.TemporaryDirectory(prefix="gsl-view-") as folder:
            for name, text in found.items():
                (Path(folder) / name).mkdir()
                (Path(folder) / name / FILE_NAME).write_bytes(text)
            left = checkpoint.left_in(self.bucket)
            if left is not None:
                (Path(folder) / f".{left.name}.draft-there").mkdir()
            yield Path(folder)

    def _is_ahead(self, name: str) -> bool:
        """Whether what is here is newer than what is there."""
        mine, there = self._manifest_here(name), self._there.get(name)
        if mine is None or there is None:
            return mine is not None
        return digest_of_bytes(there) == self._moved().get(name) != digest_of_bytes(mine)

    def fetch(self, names: Iterable[str]) -> None:
        """Bring these artifacts here, if they are in the store and not here already."""
        self._prepare()
        for name in names:
            mine, there = self._manifest_here(name), self._there.get(name)
            if there is not None and mine != there and not self._is_ahead(name):
                self._fetch(name)

    def _fetch(self, name: str) -> None:
        final = self.folder / name
        handle = take_claim(final)
        try:
            with explained(final):
                draft = self._fetch_parts(name, final)
                write_durably(draft / FILE_NAME, self._there[name])
                swap(draft, final)
        finally:
            release_claim(final, handle)
        self._note(name, self._there[name])

    def _fetch_parts(self, name: str, final: Path) -> Path:
        """All parts of one version, each with the SHA-256 that its manifest says."""
        for _ in range(_READINGS):
            text = self._there[name]
            manifest = parse_manifest(text, f"{self.bucket / name}/{FILE_NAME}")
            draft = final.with_name(f".{name}.draft-{version_of(manifest)}")
            for left in drafts(final):
                if left != draft:
                    clear(left)
            draft.mkdir(exist_ok=True)
            damaged = self._download(name, manifest, draft)
            if not damaged:
                return draft
            newer = self.bucket.read(f"{name}/{FILE_NAME}")
            if newer is None or newer == text:
                break
            self._there[name] = newer
        raise CorruptError(
            f"{self.bucket / name} is damaged in {len(damaged)} parts:\n"
            + "\n".join(f"  {line}" for line in damaged),
            "Its content is not what was written. Nothing of it was used.",
            "Put those objects back from a copy, or rebuild with --from and the stage's name.",
        )

    def _download(self, name: str, manifest: Manifest, draft: Path) -> list[str]:
        """What is wrong with parts, if anything is."""
        here = self._parts_here(name)

        def get(part: Part) -> str | None:
            path = part_path(draft, part)
            path.parent.mkdir(parents=True, exist_ok=True)
            if digest_of_file(path) == part.sha256:  # an earlier attempt came that far
                return None
            path.unlink(missing_ok=True)
            with contextlib.suppress(KeyError, OSError):
                path.hardlink_to(here[part.sha256])
                if digest_of_file(path) == part.sha256:
                    return None
            path.unlink(missing_ok=True)
            try:
                found = self.bucket.download(object_name(name, manifest, part), path)
            except FileNotFoundError:
                return f"{part.path}: missing"
            return None if found == part.sha256 else f"{part.path}: {OTHER_BYTES}"

        reasons = each_part(f"downloading {name}", manifest, get)
        return [reason for reason in reasons if reason]

    def _parts_here(self, name: str) -> dict[str, Path]:
        with contextlib.suppress(NotAStoreError, CorruptError):
            tables = Artifact.open(self.folder / name).manifest.tables.values()
            return {p.sha256: self.folder / name / p.path for table in tables for p in table.parts}
        return {}

    def damage(self, name: str) -> tuple[int, list[tuple[str, str]]]:
        """How many parts an artifact in the store has, and which are not as they were written."""
        manifest = parse_manifest(self._there[name], f"{self.bucket / name}/{FILE_NAME}")

        def look(part: Part) -> tuple[str, str] | None:
            try:
                found = self.bucket.digest(object_name(name, manifest, part))
            except FileNotFoundError:
                return part.path, "missing"
            return None if found == part.sha256 else (part.path, OTHER_BYTES)

        found = each_part(f"verifying {name}", manifest, look)
        return len(found), [one for one in found if one]

    def push(self, name: str, *, again: bool = False) -> None:
        """Mirror an artifact: parts first, the manifest last. `again`: it was made anew, and is put
        there also where parts of the same content are."""
        text = self._manifest_here(name)
        if text is None or not (again or self._is_ahead(name)):
            return
        if again and name in self._there:  # if we do not come to the end, this one is ahead
            self._note(name, self._there[name])
        artifact = Artifact.open(self.folder / name)
        manifest, version = artifact.manifest, version_of(artifact.manifest)
        there = {} if again else self.bucket.list(f"{name}/{version}")

        def put(part: Part) -> None:
            if part.path not in there or there[part.path].bytes != part.bytes:
                path = part_path(artifact.folder, part)
                self.bucket.upload(path, object_name(name, manifest, part), part.sha256)

        each_part(f"uploading {name}", manifest, put)
        assert self._claim is not None
        self._claim.require_held()
        self.bucket.write(f"{name}/{FILE_NAME}", text)
        self._there[name] = text
        self._note(name, text)
        for entry, is_object in self.bucket.entries(name).items():
            if not is_object and entry != version:
                self.bucket.remove(f"{name}/{entry}")
        left = checkpoint.left_in(self.bucket)
        if left is None or left.name == name:  # none: perhaps one that was copied in part
            checkpoint.forget(self.bucket)

    @contextmanager
    def watched(self, name: str) -> Iterator[None]:
        """While an artifact is written: checkpoints that are made for it are kept in the store."""
        with checkpoint.kept(self.bucket, self.folder / name):
            yield

    def restore_checkpoint(self, *, forget: bool) -> None:
        """Go on with the checkpoint in the store; or forget it, to start over."""
        if forget:
            checkpoint.forget(self.bucket)
        else:
            checkpoint.restore(self.bucket, self.folder)

    def push_files(self) -> None:
        """Mirror what lies beside the artifacts, where it has changed."""
        events = (self.folder / "tensorboard").rglob("*")  # never brought back: each is new
        for path in (*(self.folder / name for name in _FILES), *events):
            name = path.relative_to(self.folder).as_posix()
            if path.is_file():
                body = path.read_bytes()
                if self._moved().get(name) != digest_of_bytes(body):
                    self.bucket.write(name, body)
                    self._note(name, body)

    def fetch_files(self) -> None:
        """Bring what lies beside the artifacts, unless it was changed here since it was moved."""
        self._prepare()
        for name in _FILES:
            path = self.folder / name
            mine = path.read_bytes() if path.is_file() else None
            if mine is None or self._moved().get(name) == digest_of_bytes(mine):
                body = self.bucket.read(name)
                if body is not None and body != mine:
                    write_durably(path, body)
                    self._note(name, body)

    def _prepare(self) -> None:
        with explained(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            if not (self.folder / _OWNER).exists():
                write_durably(self.folder / _OWNER, secrets.token_hex(8))
            write_durably(self.folder / ORIGIN, self.uri)

    def _manifest_here(self, name: str) -> bytes | None:
        path = self.folder / name / FILE_NAME
        return path.read_bytes() if path.is_file() else None

    def _moved(self) -> dict[str, str]:
        """The digest of each manifest and file when it was moved last."""
        try:
            found = json.loads((self.folder / _MOVED).read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _note(self, name: str, body: bytes) -> None:
        write_durably(
            self.folder / _MOVED, json.dumps(self._moved() | {name: digest_of_bytes(body)})
        )


def folder_here(uri: str) -> Path:
    """Where a run is worked on; another store with the same names has another folder."""
    base = Path(os.environ.get(CACHE) or _DEFAULT_CACHE).expanduser().absolute()
    readable = re.sub(r"[^A-Za-z0-9]+", "-", uri)[:60]
    return base / f"{readable}-{digest_of_bytes(f'{endpoint()} {uri}'.encode())[:12]}"
