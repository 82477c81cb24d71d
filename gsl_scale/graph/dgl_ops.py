"""The same two operations on DGL, for those who have it: `run.message_passing: dgl`."""

from typing import Any
from weakref import WeakKeyDictionary

from torch import Tensor

from gsl_scale.extras import require_dgl
from gsl_scale.graph.pattern import Pattern

dgl = require_dgl("run.message_passing: dgl")

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
