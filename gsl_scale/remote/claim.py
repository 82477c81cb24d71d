"""One writer of a run in an object store at a time.

Object stores have no locks that end with a process. A writer puts an object with a name of its own
into `.claim/` and then looks who else is there: a listing shows whatever was written before it, so
of two writers at least one sees the other, and goes away. A writer that lives renews its object;
one that has been silent for minutes, by the clock of the store, is dead.
"""

import contextlib
import os
import socket
import threading
from typing import Self

from gsl_scale.errors import ClaimedError, FencedError, GslError
from gsl_scale.remote.bucket import Bucket

FOLDER = ".claim"
_RENEWED_SECONDS = 30.0
_DEAD_SECONDS = 180.0


class Claim:
    """Held from entering to leaving. `owner` names the folder that the run is worked on in, which
    has one writer already, so an earlier claim of the same owner is one that was left behind."""

    def __init__(self, bucket: Bucket, owner: str) -> None:
        self._bucket, self._name = bucket, f"{FOLDER}/{owner}"
        self._ended = threading.Event()
        self._renewal = threading.Thread(target=self._renew, daemon=True)

    def __enter__(self) -> Self:
        self._put()
        others = self._others()
        if others:
            self._bucket.remove(self._name)
            other, silent = next(iter(others.items()))
            holder = self._bucket.read(f"{FOLDER}/{other}") or b"another process"
            raise ClaimedError(
                f"{self._bucket.uri} is being written by {holder.decode(errors='replace')}.",
                "Two writers would be in each other's way.",
                f"Wait for it to end, or give another --out. If it is dead (its last sign of life "
                f"is {silent:.0f} s old), its claim ends by itself after {_DEAD_SECONDS:.0f} s.",
            )
        self._renewal.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._renewal.join()
        with contextlib.suppress(GslError):  # out of reach: it ends by itself
            self._bucket.remove(self._name)

    def require_held(self) -> None:
        """Before anything is published: a writer that was thought dead is overtaken."""
        if self._others():
            raise self._fenced()

    def _others(self) -> dict[str, float]:
        """Live writers but this one, and how long each has been silent."""
        found = {f"{FOLDER}/{name}": one for name, one in self._bucket.list(FOLDER).items()}
        mine = found.pop(self._name, None)
        if mine is None:
            raise self._fenced()
        live = {}
        for name, other in found.items():
            silent = (mine.modified - other.modified).total_seconds()
            if silent > _DEAD_SECONDS:
                self._bucket.remove(name)
            else:
                live[name.removeprefix(f"{FOLDER}/")] = max(silent, 0.0)
        return live

    def _put(self) -> None:
        who = f"process {os.getpid()} on {socket.gethostname()}"
        self._bucket.write(self._name, who.encode())

    def _renew(self) -> None:
        while not self._ended.wait(_RENEWED_SECONDS):
            with contextlib.suppress(GslError):  # tried again next time
                if self._bucket.read(self._name) is None:
                    return  # overtaken
                self._put()

    def _fenced(self) -> FencedError:
        return FencedError(
            f"Another writer has taken over {self._bucket.uri}.",
            "This one was silent for too long. What it has finished is kept on this machine.",
            "Nothing is to be done: the other one goes on.",
        )


def holder_of(bucket: Bucket) -> str | None:
    """Who has a claim, dead or alive."""
    for name in bucket.list(FOLDER):
        return (bucket.read(f"{FOLDER}/{name}") or b"").decode(errors="replace") or None
    return None
