import numpy as np
import pytest
import scipy.sparse as sp
import torch

from gsl_scale.config import Learner
from gsl_scale.context import (
    directions,
    fit_topics,
    learner_input,
    manifold,
    onto,
    smoothed,
    topics,
    words,
)
from gsl_scale.graph import Graph
from gsl_scale.graph.features import Features
from gsl_scale.graph.weighted import with_self_loops
from gsl_scale.knn.exact import all_neighbours
from tests.reference import dense

NODES, DIM = 20, 12


@pytest.fixture
def rows():
    return sp.random(NODES, DIM, 0.3, random_state=0).toarray().astype(np.float32)


@pytest.fixture
def edges():
    matrix = (sp.random(NODES, NODES, 0.1, format="csr", random_state=1) > 0).astype(np.float32)
    return sp.csr_matrix((matrix + matrix.T).astype(bool), dtype=np.float32)


def seen(rows, edges=None, **keys):
    given = None if edges is None else Graph.from_scipy(with_self_loops(edges)).normalised()
    settings = {"kind": "attentive", "context": "none", "own": 0.0, "width": 0, **keys}
    features = Features.from_dense(rows)
    return learner_input(features, given, all_neighbours(rows, 4), Learner(**settings))[0]


def test_without_context_the_learner_sees_the_features_themselves(rows, edges):
    assert (seen(rows, edges).dense.numpy() == rows).all()
    assert (seen(rows, edges, kind="gnn", context="smooth", width=4).dense.numpy() == rows).all()


def test_smoothing_over_the_given_graph(rows, edges):
    found = seen(rows, edges, context="smooth", hops=5, restart=0.2).dense
    a_hat = dense.normalise(torch.from_numpy(edges.toarray()).fill_diagonal_(0) + torch.eye(NODES))
    expected = dense.smooth(torch.from_numpy(rows), a_hat, 5, 0.2)
    assert torch.allclose(found, torch.nn.functional.normalize(expected), atol=1e-5)


def test_smoothing_over_their_own_neighbours_where_no_graph_is_given(rows):
    found = seen(rows, context="smooth").dense
    assert torch.isfinite(found).all()
    assert not torch.allclose(found, torch.from_numpy(rows))


def test_similarity_is_that_of_features_and_that_of_context_weighted(rows, edges):
    own = 2.0
    both = dense.cosine(seen(rows, edges, context="smooth", own=own).dense)
    context = dense.cosine(seen(rows, edges, context="smooth").dense)
    alone = dense.cosine(torch.from_numpy(rows))
    there = torch.from_numpy(np.abs(rows).sum(1) > 0)  # a row of zeros has no direction of its own
    expected = (own**2 * alone + context) / (own**2 + 1)
    assert torch.allclose(both[there][:, there], expected[there][:, there], atol=1e-5)


def test_a_manifold_tells_two_rings_apart():
    """Ten nodes in each ring, the rings joined by one weak edge."""
    ring = np.roll(np.eye(10), 1, axis=1)
    matrix = np.kron(np.eye(2), ring + ring.T).astype(np.float32)
    matrix[0, 10] = matrix[10, 0] = 0.01
    graph = Graph.from_scipy(with_self_loops(sp.csr_matrix(matrix))).normalised()
    similarity = dense.cosine(manifold(graph, 2))
    assert similarity[:10, :10].min() > 0.9
    assert similarity[:10, 10:].max() < 0.1
    assert torch.equal(manifold(graph, 2), manifold(graph, 2))


def test_more_directions_than_nodes(rows):
    assert torch.isfinite(seen(rows, context="manifold", directions=64).dense).all()
    assert torch.isfinite(seen(rows, context="topics", directions=64).dense).all()
    assert torch.isfinite(seen(rows, context="words", directions=64).dense).all()


def test_a_rare_word_says_more_than_a_common_one():
    rows = torch.zeros(10, 3)
    rows[:, 0] = 1  # everyone's
    rows[[0, 1], 1] = 1
    rows[[2, 3, 4, 5, 6], 2] = 1
    similarity = dense.cosine(words(rows, fit_topics(rows, 1), 0.55))
    assert similarity[0, 1] > similarity[0, 2]
    assert similarity[0, 1] > dense.cosine(rows)[0, 2]


def test_topics_bring_together_what_shares_no_feature():
    """Words 0, 1 and words 2, 3 go together; the first and last rows share none."""
    rows = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0],
                         [0, 0, 1, 0], [0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1.0]])  # fmt: skip
    similarity = dense.cosine(topics(rows, fit_topics(rows, 2)))
    assert similarity[0, 3] > 0.9
    assert abs(similarity[0, 7]) < 0.1


def test_narrowing_keeps_similarities_as_far_as_it_can():
    rng = np.random.default_rng(0)
    rows = torch.from_numpy((rng.normal(size=(50, 4)) @ rng.normal(size=(4, 30))).astype("f4"))
    narrow = onto(rows, directions(rows, 4))  # their rank
    assert narrow.shape == (50, 4)
    assert torch.allclose(dense.cosine(narrow), dense.cosine(rows), atol=1e-4)


def test_an_mlp_learner_s_input_is_narrowed(rows, edges):
    assert seen(rows, edges, kind="mlp", context="smooth", width=5).shape == (NODES, 5)
    assert seen(rows, edges, context="smooth", own=1.0, width=5).shape == (NODES, 2 * DIM)


def test_smoothing_leaves_its_input_alone(rows, edges):
    before = torch.from_numpy(rows.copy())
    given = Graph.from_scipy(with_self_loops(edges)).normalised()
    smoothed(torch.from_numpy(rows), given, 3, 0.1)
    assert torch.equal(before, torch.from_numpy(rows))
