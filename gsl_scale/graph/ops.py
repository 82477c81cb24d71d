"""The two operations everything else is made of, on torch's CSR kernels, CPU and CUDA alike.

    spmm(graph, w, x)[i]   = sum over edges (i, j) of w_ij x_j        weighted aggregation
    edge_dot(graph, a, b)  = a_i . b_j for every edge (i, j)          edge weights from embeddings

Each is the other's gradient. `message_passing: dgl` runs them on DGL instead (`dgl_ops.py`).
"""

from typing import Any

import torch
from torch import Tensor

from gsl_scale.graph.pattern import Pattern

_on_dgl = False


def use(message_passing: str) -> None:
    """Choose the kernels of this process: 'torch' or 'dgl'."""
    global _on_dgl
    if message_passing == "dgl":
        import gsl_scale.graph.dgl_ops  # noqa: F401 (says here, not at the first step, if it is missing)
    _on_dgl = message_passing == "dgl"


def spmm(graph: Pattern, weights: Tensor, x: Tensor) -> Tensor:
    """Weighted aggregation: each row receives the weighted sum of its neighbours' rows of x."""
    if _on_dgl:
        from gsl_scale.graph import dgl_ops

        return dgl_ops.spmm(graph, weights, x)
    out: Tensor = _Spmm.apply(graph, weights, x)  # type: ignore[no-untyped-call]
    return out


def edge_dot(graph: Pattern, a: Tensor, b: Tensor) -> Tensor:
    """For every edge (i, j) the dot product of row i of a and row j of b."""
    if _on_dgl:
        from gsl_scale.graph import dgl_ops

        return dgl_ops.edge_dot(graph, a, b)
    out: Tensor = _EdgeDot.apply(graph, a, b)  # type: ignore[no-untyped-call]
    return out


def edge_dot_at(graph: Pattern, x: Tensor, at: Tensor) -> tuple[Tensor, Tensor]:
    """For every edge (i, j) the dot product of x[at[i]] and x[j]; and x[at]. No row twice."""
    if _on_dgl:
        rows = pick(x, at)
        return edge_dot(graph, rows, x), rows
    out: tuple[Tensor, Tensor] = _EdgeDotAt.apply(graph, x, at)  # type: ignore[no-untyped-call]
    return out


def pick(values: Tensor, chosen: Tensor) -> Tensor:
    """Some of the values (weights of edges, rows of nodes), none of them twice."""
    out: Tensor = _Pick.apply(values, chosen)  # type: ignore[no-untyped-call]
    return out


def _sampled(graph: Pattern, a: Tensor, b: Tensor) -> Tensor:
    pattern = graph.csr(a.new_zeros(graph.num_edges))
    product: Tensor = torch.sparse.sampled_addmm(pattern, a, b.t(), beta=0.0)
    return product.values()


class _Spmm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, graph: Pattern, weights: Tensor, x: Tensor) -> Tensor:
        ctx.graph = graph
        # Only the gradient of weights needs x, which of a large graph is large.
        ctx.save_for_backward(weights, x if ctx.needs_input_grad[1] else None)
        return graph.csr(weights) @ x

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        weights, x = ctx.saved_tensors
        _, for_weights, for_x = ctx.needs_input_grad
        grad = grad.contiguous()
        return (
            None,
            _sampled(ctx.graph, grad, x) if for_weights else None,
            ctx.graph.csr_t(weights) @ grad if for_x else None,
        )


class _EdgeDot(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, graph: Pattern, a: Tensor, b: Tensor) -> Tensor:
        ctx.graph = graph
        ctx.save_for_backward(a, b)
        return _sampled(graph, a, b)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        a, b = ctx.saved_tensors
        _, for_a, for_b = ctx.needs_input_grad
        return (
            None,
            ctx.graph.csr(grad) @ b if for_a else None,
            ctx.graph.csr_t(grad) @ a if for_b else None,
        )


class _EdgeDotAt(torch.autograd.Function):
    """All gradients of x add up in one matrix: it is the largest there is in a step, and to make,
    fill and add several of them took longer than the dot products."""

    @staticmethod
    def forward(ctx: Any, graph: Pattern, x: Tensor, at: Tensor) -> tuple[Tensor, Tensor]:
        ctx.graph = graph
        ctx.set_materialize_grads(False)
        rows = x[at]
        ctx.save_for_backward(rows, x, at)
        return _sampled(graph, rows, x), rows

    @staticmethod
    def backward(
        ctx: Any, grad: Tensor | None, grad_rows: Tensor | None
    ) -> tuple[None, Tensor, None]:
        rows, x, at = ctx.saved_tensors
        if grad is None:
            whole = torch.zeros_like(x)
        else:
            whole = ctx.graph.csr_t(grad) @ rows
            whole[at] += ctx.graph.csr(grad) @ x
        if grad_rows is not None:
            whole[at] += grad_rows
        return None, whole, None


class _Pick(torch.autograd.Function):
    """values[chosen], whose gradient torch would add up one by one, in case of repeats."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, chosen: Tensor) -> Tensor:
        ctx.save_for_backward(chosen)
        ctx.shape = values.shape
        return values[chosen]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (chosen,) = ctx.saved_tensors
        whole = grad.new_zeros(ctx.shape)
        whole[chosen] = grad
        return whole, None
