import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gsl_scale.graph import Graph, Pattern, edge_dot, spmm
from gsl_scale.graph.ops import edge_dot_at


def random_pattern(rows, columns, density, seed):
    matrix = sp.random(rows, columns, density, format="csr", random_state=seed)
    return Pattern.from_csr(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), columns
    )


def dense(pattern, weights):
    out = torch.zeros(pattern.shape, dtype=weights.dtype)
    out[pattern.rows, pattern.indices] = weights
    return out


@pytest.mark.parametrize("shape", [(7, 7), (9, 4), (3, 8)])
def test_gradcheck(shape):
    pattern = random_pattern(*shape, 0.4, 0)
    generator = torch.Generator().manual_seed(0)

    def random(*size):
        return torch.randn(*size, dtype=torch.double, generator=generator, requires_grad=True)

    weights, x, a = random(pattern.num_edges), random(shape[1], 3), random(shape[0], 3)
    assert torch.autograd.gradcheck(lambda w, x: spmm(pattern, w, x), (weights, x))
    assert torch.autograd.gradcheck(lambda a, x: edge_dot(pattern, a, x), (a, x))


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 12), st.integers(1, 12), st.floats(0, 1), st.integers(0, 99))
def test_both_agree_with_dense_matrices(rows, columns, density, seed):
    pattern = random_pattern(rows, columns, density, seed)
    torch.manual_seed(seed)
    weights, x, a = torch.rand(pattern.num_edges), torch.randn(columns, 5), torch.randn(rows, 5)
    full = dense(pattern, weights)
    assert torch.allclose(spmm(pattern, weights, x), full @ x, atol=1e-5)
    expected = (a @ x.T)[pattern.rows, pattern.indices]
    assert torch.allclose(edge_dot(pattern, a, x), expected, atol=1e-5)
    assert torch.allclose(pattern.csr_t(weights).to_dense(), full.T)


def test_rows_that_are_among_the_columns():
    pattern, at = random_pattern(4, 9, 0.5, 2), torch.tensor([1, 3, 4, 8])
    x = torch.randn(9, 3, dtype=torch.double, requires_grad=True)
    both = edge_dot_at(pattern, x, at)
    assert torch.allclose(both[0], edge_dot(pattern, x[at], x))
    assert torch.equal(both[1], x[at])
    assert torch.autograd.gradcheck(lambda x: edge_dot_at(pattern, x, at), (x,))
    assert torch.autograd.gradcheck(lambda x: edge_dot_at(pattern, x, at)[0], (x,))


def test_one_vector_with_itself():
    pattern = random_pattern(6, 6, 0.5, 1)
    e = torch.randn(6, 3, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda e: edge_dot(pattern, e, e), (e,))


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 10), st.floats(0, 1), st.integers(0, 99))
def test_normalised(num_nodes, density, seed):
    matrix = sp.random(
        num_nodes, num_nodes, density, format="csr", dtype=np.float32, random_state=seed
    )
    matrix = (matrix + matrix.T).tocsr()
    graph = Graph.from_scipy(matrix).normalised()
    degree = np.asarray(matrix.sum(1)).ravel()
    scale = np.where(degree > 0, degree, 1) ** -0.5
    expected = scale[:, None] * matrix.toarray() * scale[None, :]
    assert np.allclose(graph.to_scipy().toarray(), expected, atol=1e-5)
    assert torch.isfinite(graph.weights).all()


def test_scipy_round_trip():
    matrix = sp.random(8, 5, 0.3, format="csr", dtype=np.float32, random_state=0)
    assert (Graph.from_scipy(matrix).to_scipy() != matrix).nnz == 0


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 12), st.integers(1, 12), st.floats(0, 1), st.integers(0, 99))
def test_some_edges_and_some_rows(rows, columns, density, seed):
    pattern = random_pattern(rows, columns, density, seed)
    torch.manual_seed(seed)
    weights = torch.rand(pattern.num_edges, dtype=torch.double, requires_grad=True)
    graph, full = Graph(pattern, weights), dense(pattern, weights)
    x = torch.randn(columns, 3, dtype=torch.double, requires_grad=True)

    kept = torch.rand(pattern.num_edges) < 0.5
    same(graph.keep(kept) @ x, dense(pattern, weights * kept) @ x, (weights, x))
    some = torch.randperm(rows)[: max(1, rows // 2)]
    same(graph.at(some) @ x, full[some] @ x, (weights, x))
    same(graph.keep(kept).at(some) @ x, dense(pattern, weights * kept)[some] @ x, (weights, x))


def same(found, expected, inputs):
    """Values and gradients."""
    assert torch.allclose(found, expected)
    shape = torch.randn_like(found)
    for a, b in zip(
        torch.autograd.grad((found * shape).sum(), inputs),
        torch.autograd.grad((expected * shape).sum(), inputs),
        strict=True,
    ):
        assert torch.allclose(a, b)
