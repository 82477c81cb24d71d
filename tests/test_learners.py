import numpy as np
import pytest
import scipy.sparse as sp
import torch

from gsl_scale.graph import Graph
from gsl_scale.graph.features import Features
from gsl_scale.graph.weighted import with_self_loops
from gsl_scale.learners import LEARNERS
from tests.reference import dense

ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh, "none": lambda x: x}


@pytest.fixture(params=[0.05, 1.0], ids=["sparse", "dense"])
def rows(request):
    return sp.random(20, 12, request.param, random_state=0).toarray().astype(np.float32)


@pytest.fixture
def edges():
    matrix = (sp.random(20, 20, 0.1, format="csr", random_state=1) > 0).astype(np.float32)
    return sp.csr_matrix((matrix + matrix.T).astype(bool), dtype=np.float32)


def normalised(edges):
    return Graph.from_scipy(with_self_loops(edges)).normalised()


def given_dense(edges):
    return torch.from_numpy(edges.toarray()).fill_diagonal_(0)


@pytest.mark.parametrize("kind", LEARNERS)
def test_starts_as_the_identity(kind, rows, edges):
    embeddings = LEARNERS[kind](12, 2, "relu")(Features.from_dense(rows), normalised(edges))
    expected = torch.from_numpy(rows)
    if kind == "gnn":  # of the smoothed features
        a_hat = dense.normalise(given_dense(edges) + torch.eye(20))
        expected = a_hat @ a_hat @ expected
    assert torch.allclose(embeddings, expected, atol=1e-6)


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_agrees_with_the_equations(kind, activation, rows, edges):
    torch.manual_seed(0)
    learner = LEARNERS[kind](12, 3, activation)
    for weight in learner.parameters():
        weight.data += 0.3 * torch.randn_like(weight)
    found = learner(Features.from_dense(rows), normalised(edges))
    arguments = (torch.from_numpy(rows), list(learner.layers), ACTIVATIONS[activation])
    expected = {
        "attentive": lambda: dense.attentive(*arguments),
        "mlp": lambda: dense.mlp(*arguments),
        "gnn": lambda: dense.gnn(*arguments, given_dense(edges)),
    }[kind]()
    assert torch.allclose(found, expected, atol=1e-5)
    found_grads = torch.autograd.grad(found.square().sum(), list(learner.parameters()))
    expected_grads = torch.autograd.grad(expected.square().sum(), list(learner.parameters()))
    assert all(
        torch.allclose(a, b, atol=1e-4) for a, b in zip(found_grads, expected_grads, strict=True)
    )
