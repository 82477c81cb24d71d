import numpy as np
import pytest
import scipy.sparse as sp
import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)

from gsl_scale import encoded as module
from gsl_scale.encoded import decorrelated, encoded, fit_encoder
from gsl_scale.graph.features import Features
from gsl_scale.graph.weighted import Graph, with_self_loops

NODES, DIM, GROUPS, WIDTH = 120, 20, 3, 32


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setattr(module, "WIDTH", WIDTH)


@pytest.fixture
def features():
    """So noisy that they hardly tell the groups."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(GROUPS, DIM))
    rows = centres[np.arange(NODES) % GROUPS] + 3.0 * rng.normal(size=(NODES, DIM))
    return Features.from_dense(rows.astype(np.float32))


@pytest.fixture
def graph():
    """Joins nodes of a group; the last node has no edge."""
    rng = np.random.default_rng(1)
    src = rng.integers(0, NODES - 1, 600)
    dst = (src + GROUPS * rng.integers(1, 30, 600)) % (NODES - 1)
    ones = np.ones(len(src), np.float32)
    matrix = sp.csr_matrix((ones, (src, dst)), (NODES, NODES))
    both = sp.csr_matrix((matrix + matrix.T).astype(bool), dtype=np.float32)
    return Graph.from_scipy(with_self_loops(both)).normalised()


def within_beyond_between(rows: torch.Tensor) -> float:
    """How much more alike nodes of a group are than nodes of two groups."""
    unit = F.normalize(rows[:-1] - rows[:-1].mean(0), dim=1)
    alike = unit @ unit.t()
    group = torch.arange(NODES - 1) % GROUPS
    same = group[:, None] == group[None, :]
    return float(alike[same].mean() - alike[~same].mean())


def test_the_loss_is_that_of_correlation_matrices():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, 30, 4))
    matrix = np.corrcoef(one, other, rowvar=False)
    apart = sum(((np.eye(4) - matrix[i : i + 4, i : i + 4]) ** 2).sum() for i in (0, 4))
    expected = 1e-3 * apart - np.trace(matrix[:4, 4:])
    assert float(decorrelated(torch.tensor(one), torch.tensor(other))) == pytest.approx(expected)


def test_a_column_that_says_nothing_does_no_harm():
    rows = torch.randn(10, 3)
    rows[:, 1] = 2.0
    rows.requires_grad_()
    loss = decorrelated(rows, rows.detach())
    loss.backward()
    assert torch.isfinite(loss) and torch.isfinite(rows.grad).all()


def test_what_the_graph_joins_is_alike(features, graph):
    found = encoded(features, graph, fit_encoder(features, graph, 0))
    assert found.shape == (NODES, WIDTH)
    assert torch.isfinite(found).all()
    assert within_beyond_between(found) > within_beyond_between(features.dense) + 0.2
    assert torch.allclose(found.mean(0), torch.zeros(WIDTH), atol=1e-4)


def test_the_same_bits_with_one_thread_and_with_two(features, graph):
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = fit_encoder(features, graph, 3)
        torch.set_num_threads(2)
        two = fit_encoder(features, graph, 3)
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_the_seed_decides_and_nobody_elses_randomness_is_touched(features, graph):
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    one = fit_encoder(features, graph, 0)
    assert torch.equal(torch.rand(3), expected)
    assert torch.equal(one["weight_in"], fit_encoder(features, graph, 0)["weight_in"])
    assert not torch.equal(one["weight_in"], fit_encoder(features, graph, 1)["weight_in"])
