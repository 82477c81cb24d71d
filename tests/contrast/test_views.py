import numpy as np
import pytest
import scipy.sparse as sp
import torch

from gsl_scale.contrast.views import drop_edges, feature_mask, key_of, survivors
from gsl_scale.graph import Graph
from gsl_scale.graph.random import uniform


@pytest.fixture
def graph():
    matrix = sp.random(300, 300, 0.2, format="csr", dtype=np.float32, random_state=0)
    return Graph.from_scipy(matrix)


def test_a_mask_takes_its_share_of_features():
    for share in (0.0, 0.25, 0.9):
        mask = feature_mask(1000, share, key=5)
        assert int((mask == 0).sum()) == int(1000 * share)
        assert set(mask.tolist()) <= {0.0, 1.0}


def test_dropping_takes_its_share_keeps_the_sum_and_leaves_the_graph_alone(graph):
    before = graph.weights.clone()
    dropped = drop_edges(graph, 0.4, key=3)
    assert (graph.weights == before).all()
    assert dropped.num_edges / graph.num_edges == pytest.approx(0.6, abs=0.02)
    assert float(dropped.weights.sum()) == pytest.approx(float(before.sum()), rel=0.03)
    assert drop_edges(graph, 0.0, key=3) is graph


def test_the_same_key_gives_the_same_draw_and_others_do_not(graph):
    def fate(step, view):
        kept = drop_edges(graph, 0.5, key_of(0, step, view)).to_scipy()
        return torch.from_numpy(kept.toarray()[graph.to_scipy().nonzero()] > 0)

    fates = [fate(step, view) for step in (1, 2) for view in (0, 1)]
    assert (fates[0] == fate(1, 0)).all()
    for i in range(4):
        for j in range(i):
            assert float((fates[i] == fates[j]).float().mean()) == pytest.approx(0.5, abs=0.03)
    assert (feature_mask(64, 0.5, 1) == feature_mask(64, 0.5, 1)).all()
    assert not (feature_mask(64, 0.5, 1) == feature_mask(64, 0.5, 2)).all()


def test_an_edge_s_fate_does_not_depend_on_the_other_edges(graph):
    """So a shard or a mini-batch draws what the whole graph would."""
    matrix = graph.to_scipy()
    whole = drop_edges(graph, 0.5, key=9).to_scipy().toarray()
    half = matrix.multiply(sp.random(300, 300, 0.5, random_state=1) > 0).tocsr()
    some = drop_edges(Graph.from_scipy(half), 0.5, key=9).to_scipy()
    rows, columns = half.nonzero()
    assert np.allclose(some.toarray()[rows, columns], whole[rows, columns])


def test_survivors_are_their_share_and_follow_their_key():
    shape, nodes = torch.Size([1000, 50]), torch.arange(1000)
    alive = survivors(shape, 0.25, 1, nodes)
    assert alive.shape == shape
    assert float(alive.float().mean()) == pytest.approx(0.75, abs=0.01)
    assert torch.equal(alive, survivors(shape, 0.25, 1, nodes))
    assert not torch.equal(alive, survivors(shape, 0.25, 2, nodes))
    columns = alive.float().mean(0)
    assert columns.min() > 0.68 and columns.max() < 0.82
    assert abs(np.corrcoef(alive[:, 0], alive[:, 1])[0, 1]) < 0.1


def test_what_is_dropped_of_some_nodes_is_dropped_of_all():
    nodes = torch.tensor([7, 3, 99])
    whole = survivors(torch.Size([100, 13]), 0.5, 4, torch.arange(100))
    assert torch.equal(whole[nodes], survivors(torch.Size([3, 13]), 0.5, 4, nodes))


def test_uniform_is_uniform():
    drawn = uniform(torch.arange(200_000), key=7)
    assert drawn.min() >= 0 and drawn.max() < 1
    counts = torch.histc(drawn, 20, 0, 1) / 10_000
    assert counts.min() > 0.95 and counts.max() < 1.05
    neighbours = np.corrcoef(drawn[:-1], drawn[1:])[0, 1]
    assert abs(neighbours) < 0.01
