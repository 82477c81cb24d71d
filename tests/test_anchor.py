import numpy as np
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gsl_scale.anchor import blend, first_anchor, heaviest
from gsl_scale.graph import Graph
from tests.reference import dense


def random_graph(num_nodes, density, seed):
    matrix = sp.random(
        num_nodes, num_nodes, density, format="csr", dtype=np.float32, random_state=seed
    )
    return Graph.from_scipy(matrix)


def test_starts_as_the_identity_or_the_given_graph():
    assert (first_anchor(None, 4).to_scipy() != sp.eye(4)).nnz == 0
    given_edges = sp.csr_matrix(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], np.float32))
    expected = dense.normalise(torch.from_numpy(given_edges.toarray()) + torch.eye(3))
    assert np.allclose(first_anchor(given_edges, 3).to_scipy().toarray(), expected)


@settings(deadline=None, max_examples=30)
@given(st.integers(3, 12), st.floats(0.5, 1), st.integers(1, 3), st.integers(0, 99))
def test_agrees_with_the_equation(num_nodes, tau, budget, seed):
    anchor, learned = random_graph(num_nodes, 1.0, seed), random_graph(num_nodes, 1.0, seed + 1)
    found = blend(anchor, learned, tau, budget).to_scipy().toarray()
    full = [torch.from_numpy(graph.to_scipy().toarray()) for graph in (anchor, learned)]
    assert np.allclose(found, dense.blend(*full, tau, budget), atol=1e-6)


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 6), st.integers(1, 30), st.integers(0, 99))
def test_the_budget_holds_for_any_number_of_updates(budget, updates, seed):
    anchor = first_anchor(None, 15)
    for update in range(updates):
        before = anchor.to_scipy().copy()
        following = blend(anchor, random_graph(15, 0.4, seed + update), 0.9, budget)
        assert (anchor.to_scipy() != before).nnz == 0  # what was lent is as it was
        anchor = following
        assert np.diff(anchor.to_scipy().indptr).max() <= budget
        assert (anchor.weights > 0).all() and (anchor.weights <= 1).all()


def test_of_equal_weights_the_first_column_wins():
    matrix = sp.csr_matrix(np.array([[1, 1, 1], [0, 2, 1], [1, 0, 0]], np.float32))
    assert heaviest(matrix, 2).toarray().tolist() == [[1, 1, 0], [0, 2, 1], [1, 0, 0]]


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 30), st.integers(1, 40), st.integers(1, 8), st.integers(0, 99))
def test_the_heaviest_are_those_of_every_row_sorted(num_rows, num_columns, budget, seed):
    rng = np.random.default_rng(seed)
    full = rng.integers(0, 6, (num_rows, num_columns)).astype(np.float32) / 5  # many are equal
    found = heaviest(sp.csr_matrix(full), budget).toarray()
    for row, kept in zip(full, found, strict=True):
        first = sorted(np.flatnonzero(row), key=lambda at: (-row[at], at))[:budget]
        expected = np.zeros_like(row)
        expected[first] = row[first]
        assert (kept == expected).all()
