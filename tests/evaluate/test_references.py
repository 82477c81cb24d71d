"""Against the dense formulas of the papers."""

import json

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from gsl_scale.config import Evaluate
from gsl_scale.evaluate.references import diffused, wanted


@pytest.fixture
def graph():
    rng = np.random.default_rng(3)
    upper = np.triu(rng.random((40, 40)) < 0.12, 1) * rng.random((40, 40))
    upper[:, 39] = upper[39] = 0  # a node without edges
    return sp.csr_matrix((upper + upper.T).astype(np.float32))


def transition(graph):
    full = graph.toarray().astype(np.float64) + np.eye(len(graph.toarray()))
    scale = np.diag(full.sum(axis=1) ** -0.5)
    return scale @ full @ scale


def kept(dense, number):
    """The heaviest of each row, undirected, normalised."""
    border = np.sort(dense, axis=1)[:, -number][:, None]
    top = np.where((dense >= border) & (dense > 1e-12), dense, 0)
    both = (top + top.T) / 2
    scale = np.diag(both.sum(axis=1) ** -0.5)
    return scale @ both @ scale


@pytest.mark.parametrize("number", [5, 40])
def test_gdc(graph, number):
    dense = transition(graph)
    oracle = {
        "PPR": 0.15 * np.linalg.inv(np.eye(40) - 0.85 * dense),
        "heat": scipy.linalg.expm(-5.0 * (np.eye(40) - dense)),
    }
    found = diffused(graph, number, left=1e-9)
    assert list(found) == ["PPR", "heat"]
    for name, exact in oracle.items():
        assert np.allclose(found[name].to_scipy().toarray(), kept(exact, number), atol=1e-4), name


def test_what_is_left_out_of_a_diffusion_is_little(graph):
    short, long = diffused(graph, 40), diffused(graph, 40, left=1e-9)
    for name in short:
        assert abs(short[name].to_scipy() - long[name].to_scipy()).max() < 0.02, name


def test_more_nodes_than_a_block():
    ring = sp.csr_matrix(np.roll(np.eye(1100, dtype=np.float32), 1, axis=1))
    found = diffused(sp.csr_matrix(ring + ring.T), 3)["PPR"].to_scipy().toarray()
    for node in (0, 511, 512, 1099):
        joined = np.flatnonzero(found[node])
        assert set(joined) == {(node - 1) % 1100, node, (node + 1) % 1100}


def test_by_default_where_it_is_cheap():
    assert wanted(Evaluate(), 20_000) and not wanted(Evaluate(), 20_001)
    assert wanted(Evaluate(references=True), 10**6) and not wanted(Evaluate(references=False), 10)


def test_they_stand_in_the_table(gsl, tmp_path):
    short = ["--set", "train.steps=2", "--set", "evaluate.seeds=1", "--set", "evaluate.epochs=20",
             "--set", "evaluate.cluster_runs=1", "--set", "evaluate.weight_decay=[0.0005]"]  # fmt: skip
    run = tmp_path / "run"
    done = gsl("run", "configs/wine.yaml", "--out", run, *short)
    assert done.code == 0 and "kNN graph diffused (PPR)" in done.out
    metrics = json.loads((run / "metrics.json").read_text())
    assert {"GCN, kNN graph diffused (PPR)", "GCN, kNN graph diffused (heat)"} <= set(
        metrics["classification"]
    )
    assert "K-means, smoothed features" in metrics["clustering"]
    page = (run / "report.html").read_text()
    assert "kNN graph diffused (heat)" in page and "clusters of the smoothed features" in page
    without = json.loads(
        gsl("evaluate", run, *short, "--set", "evaluate.references=false", "--json").out
    )
    assert len(without["classification"]) == 4 and len(without["clustering"]) == 3
