"""What is a place in an object store, and what is a path."""

import re
from pathlib import Path

from gsl_scale.errors import StorageError

CACHE = "GSL_CACHE"  # the variable that names where runs in a store are worked on
_LIKE_URI = re.compile(r"([a-z][a-z0-9+.-]+):/{1,2}(.*)", re.DOTALL)
_PLACE = re.compile(r"([a-z0-9][a-z0-9._-]+)((?:/[^/?#\\\x00-\x1f\x7f]+)*)/*")


def is_uri(place: str | Path) -> bool:
    """Whether it has a scheme; one slash is what `Path` leaves of two."""
    return _LIKE_URI.fullmatch(str(place)) is not None


def parse(uri: str) -> tuple[str, str, str]:
    """Scheme, bucket and /path; what is refused is not repeated, as it may hold a secret."""
    like = _LIKE_URI.fullmatch(uri)
    if like is None or like[1] not in ("s3", "gs"):
        raise StorageError(
            f"{like[1] if like else 'This'}:// is not a store that can be used.",
            next_step="Expected s3://BUCKET/PATH, gs://BUCKET/PATH, or a path on this machine.",
        )
    if "@" in like[2]:
        raise StorageError(
            "The URI has an @ in it.",
            "If that is for a key and a secret: everyone could read them in logs and manifests.",
            "Give s3://BUCKET/PATH, and credentials in the environment.",
        )
    place = _PLACE.fullmatch(like[2])
    if place is None or {".", ".."} & set(place[2].split("/")):
        raise StorageError(
            f"What follows {like[1]}:// is not a place in a store.",
            next_step=f"Expected {like[1]}://BUCKET/PATH, without . or .., ? or #.",
        )
    return like[1], place[1], place[2]
