import numpy as np
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gsl_scale.knn.exact import all_neighbours
from gsl_scale.postprocess import Sketch, learned_graph
from tests.reference import dense


def learn(embeddings, k, given_edges=None):
    candidates = all_neighbours(embeddings.numpy(), k).ids
    return learned_graph(embeddings, Sketch.from_candidates(candidates, given_edges))


def random_edges(num_nodes, seed):
    matrix = sp.random(num_nodes, num_nodes, 0.1, format="csr", random_state=seed) > 0
    matrix = (matrix + matrix.T).astype(np.float32).tolil()
    matrix.setdiag(0)
    return sp.csr_matrix(matrix)


@settings(deadline=None, max_examples=40)
@given(st.integers(4, 25), st.integers(1, 3), st.booleans(), st.integers(0, 99))
def test_agrees_with_the_equations(num_nodes, k, with_given, seed):
    torch.manual_seed(seed)
    embeddings = torch.randn(num_nodes, 6)
    edges = random_edges(num_nodes, seed) if with_given else None
    found = learn(embeddings, k, edges)
    full = None if edges is None else torch.from_numpy(edges.toarray())
    expected = dense.learned(embeddings, k, full)
    assert np.allclose(found.to_scipy().toarray(), expected, atol=1e-5)
    normalised = found.normalised().to_scipy().toarray()
    assert np.allclose(normalised, dense.normalise(expected), atol=1e-5)


@settings(deadline=None, max_examples=60)
@given(st.integers(3, 20), st.integers(1, 2), st.integers(0, 999), st.data())
def test_symmetric_bounded_and_finite_whatever_the_rows(num_nodes, k, seed, data):
    """Zero rows, rows that are all the same, opposite rows."""
    torch.manual_seed(seed)
    embeddings = torch.randn(num_nodes, 3)
    kinds = st.lists(
        st.sampled_from(["as is", "zero", "first", "opposite"]),
        min_size=num_nodes,
        max_size=num_nodes,
    )
    for row, kind in enumerate(data.draw(kinds)):
        if kind != "as is":
            factor = {"zero": 0.0, "first": 1.0, "opposite": -1.0}[kind]
            embeddings[row] = embeddings[0] * factor
    embeddings.requires_grad_()
    candidates = all_neighbours(embeddings.detach().numpy(), k).ids
    graph = learned_graph(embeddings, Sketch.from_candidates(candidates))
    matrix = graph.to_scipy().toarray()
    assert np.allclose(matrix, matrix.T, atol=1e-6)
    assert matrix.min() >= 0 and matrix.max() <= 1
    assert (np.diag(matrix) == 1).all()
    normalised = graph.normalised()
    assert torch.isfinite(normalised.weights).all()
    assert normalised.weights.max() <= 1 + 1e-6
    normalised.weights.sum().backward()
    assert torch.isfinite(embeddings.grad).all()
