"""One tree of errors. Each says what happened, why it matters and what to do next.

A `UserError` is something the person at the keyboard can mend (exit code 2); any other
`GslError` is ours or the machine's (exit code 1). Errors pickle, so that one raised in a
worker reaches the driver with its stage, rank and shard.
"""

from typing import Any


class GslError(Exception):
    """What happened, why it matters, the next step; and where: stage, rank, shard."""

    exit_code = 1

    def __init__(
        self,
        what: str,
        why: str = "",
        next_step: str = "",
        *,
        stage: str | None = None,
        rank: int | None = None,
        shard: int | None = None,
    ) -> None:
        super().__init__(what, why, next_step)
        self.what, self.why, self.next_step = what, why, next_step
        self.stage, self.rank, self.shard = stage, rank, shard

    def __str__(self) -> str:
        places = {"stage": self.stage, "rank": self.rank, "shard": self.shard}
        where = ", ".join(f"{name} {at}" for name, at in places.items() if at is not None)
        head = f"{self.what} ({where})" if where else self.what
        tail = [f"  {line}" for text in (self.why, self.next_step) for line in text.splitlines()]
        return "\n".join([head, *tail])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args, self.__dict__

    def to_json(self) -> dict[str, Any]:
        return {
            "error": type(self).__name__,
            "what": self.what,
            "why": self.why,
            "next": self.next_step,
        }


class UserError(GslError):
    """The person at the keyboard can mend this."""

    exit_code = 2


class ConfigError(UserError):
    """A config file or an override that says something a run cannot mean."""


class InputError(UserError):
    """Features, edges, labels or ids that cannot be used as they are."""


class NotAStoreError(UserError):
    """A path that was expected to hold an artifact and does not."""


class NewerSchemaError(UserError):
    """An artifact written by a later release than this one."""


class StaleArtifactError(UserError):
    """An artifact made from other settings, other parents or other shards."""


class ClaimedError(UserError):
    """Another process is writing this artifact now."""


class DiskFullError(GslError):
    """No room left while writing; what was complete before still is."""


class CorruptError(GslError):
    """Bytes on disk that are not the bytes that were written."""


class ClusterError(UserError):
    """A cluster that cannot be reached, or that cannot run what is asked of it."""


class FencedError(GslError):
    """Another attempt has taken over what this one was writing."""


class StorageError(UserError):
    """An object store that has no such place, or refuses what is asked of it."""


class NetworkError(GslError):
    """An object store that does not answer; what is on this machine is kept."""
