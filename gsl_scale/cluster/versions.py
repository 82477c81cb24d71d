"""The versions that client and nodes must share, without importing what is slow to import."""

import platform
from importlib.metadata import PackageNotFoundError, version


def versions_here() -> dict[str, str]:
    """Python to its minor version; torch without its build, so that +cpu is +cu126."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, "ray": _of("ray"), "torch": _of("torch").partition("+")[0]}


def _of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"
