"""Who may write an artifact: one process at a time, and a latecomer not at all.

A *claim* is a lock that the kernel releases when its process dies. Where locks do not reach from
node to node, or a worker outlives the attempt it belongs to, the *fence* holds: every attempt
writes into a draft folder with a name of its own, and one that takes over renames that folder. From
then on no path of the attempt before leads anywhere, so it cannot write, seal or publish.
"""

import contextlib
import fcntl
import glob
import os
import secrets
import shutil
import socket
from pathlib import Path

from gsl_scale.errors import ClaimedError, FencedError

_DRAFT = ".draft-"
GONE = ".gone"  # ends the name of a draft that is being removed


def claim_path(final: Path) -> Path:
    return final.with_name(f".{final.name}.claim")


def new_draft(final: Path) -> Path:
    """The folder of a new attempt; no other has this name."""
    return final.with_name(f".{final.name}{_DRAFT}{secrets.token_hex(4)}")


def drafts(final: Path) -> list[Path]:
    """What attempts have left behind, or are writing."""
    return sorted(final.parent.glob(f".{glob.escape(final.name)}{_DRAFT}*"))


def take_claim(final: Path) -> int:
    """Lock the claim file; the kernel lets go of it if this process dies."""
    path = claim_path(final)
    while True:
        handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(handle, 200).decode(errors="replace") or "another process"
            os.close(handle)
            raise ClaimedError(
                f"{final} is being written by {holder}.",
                "Two writers would spoil each other's parts.",
                "Wait for it to end, or give another --out.",
            ) from None
        # The previous holder may have removed the file between our open and our lock.
        if _is_at(handle, path):
            break
        os.close(handle)
    os.ftruncate(handle, 0)
    os.write(handle, f"process {os.getpid()} on {socket.gethostname()}".encode())
    return handle


def release_claim(final: Path, handle: int) -> None:
    path = claim_path(final)
    if _is_at(handle, path):  # and not one that somebody else has made since
        path.unlink(missing_ok=True)
    os.close(handle)


def _is_at(handle: int, path: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.fstat(handle).st_ino == path.stat().st_ino
    return False


def is_claimed(final: Path) -> bool:
    try:
        handle = os.open(claim_path(final), os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def take_over(draft: Path, mine: Path) -> bool:
    """Make an earlier attempt's draft mine; what its files were open for is taken off them."""
    try:
        draft.rename(mine)
    except FileNotFoundError:  # another attempt was faster
        return False
    sealed = {path.stem for path in (mine / "sealed").glob("*.json")}
    for path in mine.rglob("*"):
        table, shard = path.parent.name, path.stem.removeprefix("part-")
        is_part = path.parent.parent == mine and path.stem.startswith("part-")
        if ".tmp" in path.name or (is_part and f"{table}-{shard}" not in sealed):
            path.unlink(missing_ok=True)
    return True


def clear(draft: Path) -> None:
    """Remove a draft; first out of the reach of whoever may still be writing it."""
    away = draft if draft.suffix == GONE else draft.with_name(draft.name + GONE)
    with contextlib.suppress(FileNotFoundError):
        draft.rename(away)
        shutil.rmtree(away, ignore_errors=True)


def require_home(final: Path) -> None:
    """An artifact inside a draft is written only as long as that draft is there."""
    for folder in final.parents:
        if _DRAFT in folder.name and not folder.exists():
            raise fenced(folder)


def fenced(draft: Path) -> FencedError:
    name = draft.name.partition(_DRAFT)[0].removeprefix(".")
    return FencedError(
        f"Another attempt has taken over {draft.with_name(name)}.",
        "This one wrote nothing more from then on, and the other has what it had finished.",
        "Nothing is to be done: the other attempt goes on.",
    )
