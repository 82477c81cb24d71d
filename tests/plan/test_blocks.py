"""Expected sizes against blocks that are drawn, and messages against what a model has."""

import numpy as np
import pytest
import scipy.sparse as sp

from gsl_scale.graph.sample import hop
from gsl_scale.plan.blocks import distinct, messages, num_parameters, view
from gsl_scale.train.step import Model
from tests.links import linked
from tests.plan.cases import case

NODES, DEGREE = 3000, 12


@pytest.fixture(scope="module")
def links(tmp_path_factory):
    rng = np.random.default_rng(0)
    dst = np.sort(
        np.stack([rng.choice(NODES, DEGREE, replace=False) for _ in range(NODES)]), axis=1
    )
    indptr = np.arange(0, NODES * DEGREE + 1, DEGREE)
    matrix = sp.csr_matrix((np.ones(dst.size, np.float32), dst.ravel(), indptr), (NODES, NODES))
    return linked(matrix, tmp_path_factory.mktemp("links") / "graph")


@pytest.mark.parametrize("fanout", [[4, 3], [100, 100]])
def test_blocks_are_as_large_as_expected(links, fanout):
    planned = case(f"contrast.fanout={fanout}", "contrast.batch=200", nodes=NODES)
    expected = view(planned, DEGREE)
    share, (first, second) = planned.config.contrast.drop_edges, fanout
    seeds = np.sort(np.random.default_rng(1).choice(NODES, 200, replace=False))
    outer = hop(links, seeds, share, first, key=1)
    inner = hop(links, outer.nodes, share, second, key=1)
    assert len(outer.value) == pytest.approx(expected.outer, rel=0.1)
    assert len(outer.nodes) == pytest.approx(expected.hidden, rel=0.1)
    assert len(inner.value) == pytest.approx(expected.inner, rel=0.1)
    assert len(inner.nodes) == pytest.approx(expected.inputs, rel=0.1)


def test_no_more_nodes_than_there_are():
    assert distinct(1e12, 50) == pytest.approx(50)
    assert distinct(3, 10**9) == pytest.approx(3)


@pytest.mark.parametrize("kind", ["mlp", "attentive"])
def test_the_model_is_as_large_as_planned(kind):
    planned = case(f"learner.kind={kind}", "learner.context=none", "learner.width=0", features=20)
    model = Model(planned.config, 20, 20)
    assert num_parameters(planned) == sum(p.numel() for p in model.parameters())


def test_one_worker_sends_nothing():
    assert messages(case("run.workers=1")) == []
    two = messages(case("run.workers=2"))
    assert sum(two[4:]) == pytest.approx(4 * num_parameters(case()))
