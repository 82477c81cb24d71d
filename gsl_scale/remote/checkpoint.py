"""The last checkpoint of a training, kept in the object store while the training runs.

A checkpoint is one file and the versions of the graphs that belong to it, none of which changes
once it is there. They are copied below a name of their own, and `latest.json` is written last. On
a machine that has nothing, a draft with these files is what an attempt cut short there would have
left, and the train stage goes on with it as with any other.
"""

import json
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from gsl_scale import progress
from gsl_scale.errors import GslError
from gsl_scale.remote.bucket import Bucket
from gsl_scale.remote.parts import digest_of_file
from gsl_scale.store.claim import clear, drafts, new_draft
from gsl_scale.store.manifest import write_durably

FOLDER = ".checkpoint"
_LATEST = f"{FOLDER}/latest.json"
_SECONDS_BETWEEN_LOOKS = 1.0
_SHARE = 10  # of the time: what copying may take is one in this many


@dataclass(frozen=True)
class Left:
    """What `latest.json` says."""

    name: str  # of the artifact that is being written
    step: int
    plan: str  # of its draft: what it is made from
    files: dict[str, str]  # below the draft, with their SHA-256


def left_in(bucket: Bucket) -> Left | None:
    body = bucket.read(_LATEST)
    if body is None:
        return None
    try:
        found = Left(**json.loads(body))
        safe = found.name.isidentifier() and all(_stays_inside(path) for path in found.files)
        return found if safe and found.step > 0 else None
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def _stays_inside(path: str) -> bool:
    pure = PurePosixPath(path)
    return not (pure.is_absolute() or ".." in pure.parts or "\\" in path or "\0" in path)


def forget(bucket: Bucket) -> None:
    bucket.remove(_LATEST)
    bucket.remove(FOLDER)


@contextmanager
def kept(bucket: Bucket, final: Path) -> Iterator[None]:
    """While the artifact `final` is written, keep its newest checkpoint in the store."""
    ended = threading.Event()
    watcher = threading.Thread(target=_watch, args=(bucket, final, ended), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def _watch(bucket: Bucket, final: Path, ended: threading.Event) -> None:
    kept, wait = 0, _SECONDS_BETWEEN_LOOKS
    while not ended.wait(wait):
        began = time.monotonic()
        try:
            kept = _keep(bucket, final, kept)
        except FileNotFoundError:  # replaced by the next one while it was copied
            pass
        except (GslError, OSError) as error:  # the training itself needs no store
            progress.say(f"its checkpoint was not copied: {error}")
        wait = max(_SECONDS_BETWEEN_LOOKS, _SHARE * (time.monotonic() - began))


def _keep(bucket: Bucket, final: Path, kept: int) -> int:
    """Copy the newest checkpoint if it is not the one after `kept` steps; its step."""
    from gsl_scale.train.checkpoint import Checkpoints

    for draft in drafts(final):
        checkpoints = Checkpoints(draft / "scratch")
        step = checkpoints.step
        if step in (0, kept):
            continue
        found = checkpoints.latest()
        if found is None or found.history.done != step:
            continue
        with tempfile.TemporaryDirectory(prefix="copied-", dir=draft / "scratch") as held:
            _hold(draft, checkpoints.path(step), found.versions, Path(held))
            _upload(bucket, final, draft, Path(held), step)
        return step
    return kept


def _hold(draft: Path, newest: Path, versions: dict[str, int], held: Path) -> None:
    """Second names for the files of a checkpoint, which stay when it is replaced by the next."""
    from gsl_scale.train.checkpoint import version_folder

    work = draft / "scratch"
    folders = [version_folder(work, kind, number) for kind, number in versions.items()]
    folders += [work / "seen", work / "first-anchor"]
    paths = [newest, *(p for folder in folders for p in folder.rglob("*") if p.is_file())]
    if (places := work / "places.npy").exists():
        paths.append(places)
    for path in paths:
        name = held / path.relative_to(draft)
        name.parent.mkdir(parents=True, exist_ok=True)
        try:
            name.hardlink_to(path)
        except FileNotFoundError:
            raise
        except OSError:  # a file system without them
            shutil.copyfile(path, name)
    if not newest.exists():  # graphs of an older checkpoint are removed after it
        raise FileNotFoundError(newest)


def _upload(bucket: Bucket, final: Path, draft: Path, held: Path, step: int) -> None:
    """`latest.json` when all else is there; then what it does not name is removed."""
    from gsl_scale.train.journal import FILE_NAME as JOURNAL

    files = {}
    for path in sorted(p for p in held.rglob("*") if p.is_file()):
        name = path.relative_to(held).as_posix()
        sha256 = digest_of_file(path)
        if sha256 is None:
            raise FileNotFoundError(path)
        bucket.upload(path, f"{FOLDER}/{step}/{name}", sha256)
        files[name] = sha256
    if (journal := final.parent / JOURNAL).exists():
        bucket.write(JOURNAL, journal.read_bytes())
    left = Left(final.name, step, (draft / "plan.json").read_text(), files)
    bucket.write(_LATEST, json.dumps(asdict(left)).encode())
    for entry, is_object in bucket.entries(FOLDER).items():
        if not is_object and entry != str(step):
            bucket.remove(f"{FOLDER}/{entry}")


def restore(bucket: Bucket, run: Path) -> None:
    """Put the checkpoint from the store where an attempt here would have left it, unless there is
    a later one. A checkpoint that is damaged is not used."""
    from gsl_scale.train.checkpoint import Checkpoints

    left = left_in(bucket)
    if left is None:
        return
    final = run / left.name
    if any(Checkpoints(draft / "scratch").step >= left.step for draft in drafts(final)):
        return
    draft = new_draft(final)
    for name, sha256 in left.files.items():
        path = draft / name
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            found = bucket.download(f"{FOLDER}/{left.step}/{name}", path)
        except FileNotFoundError:
            found = "none"
        if found != sha256:
            clear(draft)
            progress.say(f"the checkpoint in {bucket.uri} is damaged and is not used")
            return
    for older in drafts(final):
        if older != draft:
            clear(older)
    write_durably(draft / "plan.json", left.plan)
    progress.say(f"{left.name}: the checkpoint at step {left.step} is brought from {bucket.uri}")
