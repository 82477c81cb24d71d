"""The same two operations on DGL, for those who have it: `run.message_passing: dgl`.

DGL is dormant: 1.1.3 is the last release that works with a current torch, and it still imports
`setuptools.extern`, which is gone. The three lines below give it what it asks for.
"""

import os
import sys
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import packaging
import packaging.version
from torch import Tensor

from gsl_scale.errors import UserError
from gsl_scale.graph.pattern import Pattern

_vendored = ModuleType("setuptools.extern")
_vendored.packaging = packaging  # type: ignore[attr-defined]
sys.modules.setdefault("setuptools.extern", _vendored)
os.environ.setdefault("DGLBACKEND", "pytorch")  # or it writes a file into the home folder

try:
    import dgl
except ImportError as error:
    raise UserError(
        f"run.message_passing is dgl, and DGL cannot be imported: {error}",
        next_step="pip install -c constraints.txt -e '.[cpu,dgl]', or run.message_passing=torch.",
    ) from None

_graphs: "WeakKeyDictionary[Pattern, Any]" = WeakKeyDictionary()


def _graph(pattern: Pattern) -> Any:
    """Messages flow from columns to rows; edges keep the pattern's order."""
    if pattern not in _graphs:
        num_rows, num_columns = pattern.shape
        _graphs[pattern] = dgl.heterograph(
            {("column", "edge", "row"): (pattern.indices, pattern.rows)},
            {"column": num_columns, "row": num_rows},
        )
    return _graphs[pattern]


def spmm(pattern: Pattern, weights: Tensor, x: Tensor) -> Tensor:
    out: Tensor = dgl.ops.u_mul_e_sum(_graph(pattern), x, weights[:, None])
    return out


def edge_dot(pattern: Pattern, a: Tensor, b: Tensor) -> Tensor:
    out: Tensor = dgl.ops.v_dot_u(_graph(pattern), a, b)
    return out.squeeze(1)
