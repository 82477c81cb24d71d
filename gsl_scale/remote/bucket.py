"""Objects in an object store, through pyarrow: read, written, listed; refusals explained.

Where the store is and who asks is taken from the environment alone, as by every other client
(AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, ~/.aws, instance roles; Google's default
credentials for gs://). So there is no secret in a config, a manifest or a log.
"""

import hashlib
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import pyarrow.fs as pafs

from gsl_scale.errors import CorruptError, NetworkError, StorageError
from gsl_scale.remote.uri import parse

_WAITS = (0.5, 1.0, 2.0, 4.0)  # seconds before an attempt is made again
_CONNECT_SECONDS, _SILENT_SECONDS = 5.0, 60.0
_BLOCK = 16 << 20
# As pyarrow words them: the error's name, or only the status if the answer had no body.
_REFUSED = (
    "ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "SIGNATURE_DOES_NOT_MATCH", "INVALID_SIGNATURE",
    "INVALID_CLIENT_TOKEN_ID", "UNRECOGNIZED_CLIENT", "EXPIRED", "HTTP status 401",
    "HTTP status 403", "PERMISSION_DENIED", "UNAUTHENTICATED",
)  # fmt: skip
_PASSING = (
    "NETWORK_CONNECTION", "curlCode", "SLOW_DOWN", "SERVICE_UNAVAILABLE", "INTERNAL_FAILURE",
    "REQUEST_TIMEOUT", "THROTTLING", "HTTP status 5", "UNAVAILABLE", "imeout",
)  # fmt: skip
_TYPES = {".html": "text/html; charset=utf-8", ".json": "application/json"}

Result = TypeVar("Result")


@dataclass(frozen=True)
class Found:
    """An object, as a listing tells of it."""

    bytes: int
    modified: datetime  # by the clock of the store


class Bucket:
    """The objects below a URI; names are relative to it."""

    def __init__(self, uri: str) -> None:
        scheme, self._bucket, path = parse(uri)
        self._root = self._bucket + path
        self.uri = f"{scheme}://{self._root}"
        self._files: Any = self._tried(lambda: _connect(scheme, self._bucket))

    def __truediv__(self, name: str) -> str:
        return f"{self.uri}/{name}"

    def require(self) -> None:
        """That the bucket is there and lets us in."""
        if self.entries():
            return
        try:
            info = self._tried(lambda: self._files.get_file_info(self._bucket))
        except StorageError:
            return  # whoever may only see what is below the path cannot ask for the bucket
        if info.type == pafs.FileType.NotFound:
            raise self._missing()

    def entries(self, name: str = "") -> dict[str, bool]:
        """What lies directly below a name, and whether it is an object and not a folder."""
        infos = self._select(name, recursive=False)
        return {info.base_name: info.type == pafs.FileType.File for info in infos}

    def list(self, name: str) -> dict[str, Found]:
        """All objects below a name."""
        start = len(self._at(name)) + 1
        infos = self._select(name, recursive=True)
        return {
            info.path[start:]: Found(info.size, info.mtime)
            for info in infos
            if info.type == pafs.FileType.File
        }

    def _select(self, name: str, *, recursive: bool) -> Any:
        wanted = pafs.FileSelector(self._at(name), allow_not_found=True, recursive=recursive)
        return self._tried(lambda: self._files.get_file_info(wanted))

    def read(self, name: str) -> bytes | None:
        """A small object as a whole; None if there is none."""

        def get() -> bytes:
            with self._files.open_input_stream(self._at(name), compression=None) as source:
                return bytes(source.read())

        try:
            return self._tried(get)
        except FileNotFoundError:
            return None

    def write(self, name: str, body: bytes) -> None:
        """A small object, in the place of what may be there."""

        def put() -> None:
            with self._sink(name) as sink:
                sink.write(body)

        self._tried(put)

    def upload(self, path: Path, name: str, sha256: str) -> None:
        """A file, if it still is what was written."""

        def put() -> str:
            found = hashlib.sha256()
            with path.open("rb") as source, self._sink(name) as sink:
                while block := source.read(_BLOCK):
                    found.update(block)
                    sink.write(block)
            return found.hexdigest()

        if self._tried(put) != sha256:
            self.remove(name)
            raise CorruptError(
                f"{path} is damaged: its SHA-256 is not the one recorded.",
                f"It was not put into {self.uri}.",
                "Write the artifact again: --from STAGE",
            )

    def download(self, name: str, path: Path) -> str:
        """Into a file; the SHA-256 of what came."""

        def get() -> str:
            found = hashlib.sha256()
            with (
                self._files.open_input_stream(self._at(name), compression=None) as source,
                path.open("wb") as sink,
            ):
                while block := source.read(_BLOCK):
                    found.update(block)
                    sink.write(block)
                sink.flush()
                os.fsync(sink.fileno())
            return found.hexdigest()

        return self._tried(get)

    def digest(self, name: str) -> str:
        """The SHA-256 of an object as it is now."""

        def get() -> str:
            found = hashlib.sha256()
            with self._files.open_input_stream(self._at(name), compression=None) as source:
                while block := source.read(_BLOCK):
                    found.update(block)
            return found.hexdigest()

        return self._tried(get)

    def remove(self, name: str) -> None:
        """An object, or all below a name; what is not there is no matter."""

        def delete() -> None:
            info = self._files.get_file_info(self._at(name))
            if info.type == pafs.FileType.Directory:
                self._files.delete_dir(self._at(name))
            elif info.type == pafs.FileType.File:
                self._files.delete_file(self._at(name))

        self._tried(delete)

    def _sink(self, name: str) -> Any:
        kind = _TYPES.get(Path(name).suffix)
        metadata = {"Content-Type": kind} if kind else None
        return self._files.open_output_stream(self._at(name), compression=None, metadata=metadata)

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    def _tried(self, act: Callable[[], Result]) -> Result:
        """Done again, after a while, where the network was in the way."""
        for wait in (*_WAITS, None):
            try:
                return act()
            except OSError as error:
                if error.errno is not None:  # not there, or this machine's own trouble
                    raise
                if wait is None or not any(word in str(error) for word in _PASSING):
                    raise self._explained(str(error)) from None
                time.sleep(wait)
        raise AssertionError

    def _explained(self, text: str) -> Exception:
        if "NO_SUCH_BUCKET" in text:
            return self._missing()
        if any(word in text for word in _REFUSED):
            return StorageError(
                f"{self.uri}: the store refuses us.",
                "The credentials are wrong or missing, or may not do this.",
                "For s3:// set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or AWS_PROFILE); for "
                "gs:// GOOGLE_APPLICATION_CREDENTIALS. Never in the URI.",
            )
        if any(word in text for word in _PASSING):
            return NetworkError(
                f"{self.uri} cannot be reached at {endpoint() or 'its own address'}.",
                "It was tried again for a while. Nothing is lost: what was finished is kept here.",
                "Run the same command again once it answers. Another address: AWS_ENDPOINT_URL",
            )
        said = re.search(r"AWS Error \w+[^:]*", text)
        return StorageError(f"{self.uri}: {said[0] if said else text[:200].splitlines()[0]}")

    def _missing(self) -> StorageError:
        return StorageError(
            f"There is no bucket {self._bucket} at {endpoint() or 'the store'}.",
            "Buckets are not made here: they belong to someone and cost money.",
            f"Make it first (aws s3 mb s3://{self._bucket}), or give another URI.",
        )


def endpoint() -> str | None:
    """Of a store that speaks S3 and is not Amazon's."""
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or None


def _connect(scheme: str, bucket: str) -> Any:
    if scheme == "gs":
        return pafs.GcsFileSystem()
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    address = endpoint()
    if region is None and address is None:
        region = pafs.resolve_s3_region(bucket)
    return pafs.S3FileSystem(
        region=region or "us-east-1",
        endpoint_override=address,
        connect_timeout=_CONNECT_SECONDS,
        request_timeout=_SILENT_SECONDS,
        retry_strategy=pafs.AwsStandardS3RetryStrategy(max_attempts=2),
    )
