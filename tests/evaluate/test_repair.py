import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

from gsl_scale.evaluate.repair import _told_apart, repair, said


def graph(*edges, num_nodes=6):
    matrix = np.zeros((num_nodes, num_nodes), np.float32)
    for a, b, weight in edges:
        matrix[a, b] = matrix[b, a] = weight
    return sp.csr_matrix(matrix)


def test_what_became_of_the_damage():
    before = graph((0, 1, 1), (1, 2, 1), (2, 3, 1))
    damaged = graph((0, 1, 1), (3, 4, 1), (4, 5, 1))  # two deleted, two added
    learned = graph((0, 1, 0.8), (1, 2, 0.6), (4, 5, 0.2), (0, 5, 0.1))
    found = repair(before, damaged, learned)
    assert (found["deleted"], found["found_again"]) == (2, 1)
    assert (found["added"], found["added_dropped"]) == (2, 1)
    assert found["added_weight"] == pytest.approx(0.1)
    assert found["genuine_weight"] == pytest.approx(0.8)
    assert found["told_apart"] == 1.0
    assert found["found_by_chance"] == pytest.approx(8 / 30)
    assert "Of 2 deleted edges 1 (50.0%) are in the learned graph" in said(found)
    assert "2 added edges weigh 0.10 there on average (1 are gone)" in said(found)


def test_only_deleted():
    found = repair(graph((0, 1, 1), (1, 2, 1)), graph((0, 1, 1)), graph((0, 1, 0.5)))
    assert found["told_apart"] is None and found["found_again"] == 0
    assert "added" not in said(found)


def test_told_apart_is_the_auc():
    rng = np.random.default_rng(0)
    genuine, added = rng.integers(0, 9, 50) / 9, rng.integers(0, 6, 30) / 9
    truth = np.repeat([1, 0], [50, 30])
    exact = roc_auc_score(truth, np.concatenate([genuine, added]))
    assert _told_apart(genuine, added) == pytest.approx(exact)


def test_a_run_on_a_damaged_graph_says_what_it_repaired(gsl, tmp_path):
    (tmp_path / "tiny.yaml").write_text(
        "data: {source: synthetic, nodes: 200, features: 16, communities: 4, degree: 5, mixing: 0}\n"
        "train: {steps: 3}\nevaluate: {seeds: 1, epochs: 10, cluster_runs: 1}\n"
    )
    run = tmp_path / "run"
    done = gsl("run", tmp_path / "tiny.yaml", "--out", run,
               "--set", "data.perturb.delete=0.3", "--set", "data.perturb.add=0.3")  # fmt: skip
    assert done.code == 0 and "The given edges were damaged on purpose." in done.out
    found = json.loads((run / "metrics.json").read_text())["repair"]
    assert found["told_apart"] > 0.7  # genuine edges stay within communities, added ones do not
    assert found["found_again"] / found["deleted"] > 2 * found["found_by_chance"]
    assert "damaged on purpose" in (run / "report.html").read_text()
    assert gsl("check", run).code == 0
    assert "undamaged" in gsl("show", run / "data").out
