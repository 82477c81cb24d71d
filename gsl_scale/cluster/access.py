"""How a cluster is reached: its address, and the file with its token. Never the token itself.

A cluster file is YAML with the two keys of `Access`; `gsl-scale cluster start` writes one.
"""

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError

from gsl_scale.config_block import Block
from gsl_scale.errors import ClusterError, ConfigError

FILE_NAME = "cluster.yaml"
_FORM = "Expected: address: http://HOST:8265, and token_file: PATH of a file with the token."


class Access(Block):
    """Where the dashboard of a cluster answers, and which file holds its token."""

    address: str = Field(pattern=r"^https?://[^\s/@]+/?$", description="of the dashboard")
    token_file: str | None = Field(None, description="readable by you alone")

    @property
    def headers(self) -> dict[str, str]:
        token = self.token
        return {"Authorization": f"Bearer {token}"} if token else {}

    @property
    def token(self) -> str | None:
        """From the file; without one, from where Ray looks for it."""
        if self.token_file is not None:
            return _read_token(Path(self.token_file))
        if os.environ.get("RAY_AUTH_TOKEN"):
            return os.environ["RAY_AUTH_TOKEN"].strip()
        named = os.environ.get("RAY_AUTH_TOKEN_PATH")
        path = Path(named) if named else _default_token()
        return _read_token(path) if named or path.exists() else None


def find_access(address: str | None, file: Path | None, local: Path) -> Access:
    """What the flags say; otherwise RAY_API_SERVER_ADDRESS; otherwise the cluster started here."""
    if address is not None and file is not None:
        raise ClusterError("Give either --address or --cluster, not both.")
    if file is not None:
        return read_access(file)
    address = address or os.environ.get("RAY_API_SERVER_ADDRESS")
    if address is not None:
        return _validated({"address": address}, "--address")
    if (local / FILE_NAME).exists():
        return read_access(local / FILE_NAME)
    raise ClusterError(
        "There is no cluster to go to.",
        next_step="Start one here (gsl-scale cluster start), or give --address http://HOST:8265.",
    )


def read_access(file: Path) -> Access:
    """Of a cluster file; a relative token_file is beside it."""
    try:
        tree = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise ConfigError(f"{file}: cannot be read as a cluster file ({first}).", _FORM) from None
    access = _validated(tree, str(file))
    if access.token_file is None:
        return access
    path = file.absolute().parent / Path(access.token_file).expanduser()
    return access.model_copy(update={"token_file": str(path)})


def _validated(tree: Any, where: str) -> Access:
    try:
        return Access.model_validate(tree)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = ".".join(str(part) for part in first["loc"]) or "cluster file"
        raise ConfigError(f"{where}: {key}: {first['msg']}.", _FORM) from None


def make_token(path: Path) -> None:
    """A new one, readable by you alone from the first moment."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(secrets.token_hex(32))


def make_default_token() -> None:
    """Where Ray looks for it; Ray itself would make it readable by everyone here."""
    named = os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH")
    if named is None:
        with contextlib.suppress(OSError):  # it is there, or cannot be: then Ray decides
            make_token(_default_token())


def _default_token() -> Path:
    return Path.home() / ".ray" / "auth_token"


def _read_token(path: Path) -> str:
    try:
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ClusterError(
                f"{path} can be read by others.",
                "Whoever has the token can run code on the cluster.",
                f"Close it: chmod 600 {path}",
            )
        token = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        raise ClusterError(f"The token cannot be read from {path} ({error}).") from None
    if not token.isprintable() or not token:
        raise ClusterError(f"{path} does not hold a token.", "Expected one line of letters.")
    return token
