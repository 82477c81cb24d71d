"""Libraries that a conversion needs and an installation may lack: imported when asked for."""

import importlib
import os
import sys
from types import ModuleType
from typing import Any

from gsl_scale.errors import UserError


def require(module: str, extra: str, wanted_for: str) -> Any:
    """Import a library, or say what needs it and how to install it."""
    try:
        return importlib.import_module(module)
    except (ImportError, OSError) as error:  # OSError: a DGL built for another torch
        raise UserError(
            f"{wanted_for} needs {module}, which cannot be imported: {error}",
            next_step=f"pip install 'gsl-scale[{extra}]', "
            f"or in a checkout: pip install -c constraints.txt -e '.[cpu,{extra}]'",
        ) from None


def require_dgl(wanted_for: str) -> Any:
    """DGL, with what it expects of an environment.

    It is dormant: 1.1.3 is the last release that works with a current torch, and it still imports
    `setuptools.extern`, which is gone.
    """
    packaging = require("packaging", "dgl", wanted_for)
    require("packaging.version", "dgl", wanted_for)
    vendored = ModuleType("setuptools.extern")
    vendored.packaging = packaging  # type: ignore[attr-defined]
    sys.modules.setdefault("setuptools.extern", vendored)
    os.environ.setdefault("DGLBACKEND", "pytorch")  # or it writes a file into the home folder
    return require("dgl", "dgl", wanted_for)
