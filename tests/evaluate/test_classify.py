from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from gsl_scale.config import Evaluate
from gsl_scale.evaluate.accuracy import plain
from gsl_scale.evaluate.classify import (
    Classifier,
    Gcn,
    Score,
    Task,
    classify,
    logistic_regression,
)
from gsl_scale.graph import Graph
from gsl_scale.graph.features import Features
from gsl_scale.graph.weighted import with_self_loops

NODES = 150


@pytest.fixture
def task():
    order = torch.from_numpy(np.random.default_rng(0).permutation(NODES))
    return Task(torch.arange(NODES) % 3, order[:30], order[30:60], order[60:], 3)


def settings(**more):
    values = {"hidden": 16, "layers": 2, "epochs": 60, "seeds": 2, "weight_decay": (5e-4,), **more}
    return Classifier.choices(Evaluate(**values))


def graph_of(same, seed=0):
    """Edges inside classes with this probability, otherwise anywhere."""
    rng = np.random.default_rng(seed)
    src = np.repeat(np.arange(NODES), 8)
    inside = (src % 3) + 3 * rng.integers(0, NODES // 3, len(src))
    dst = np.where(rng.random(len(src)) < same, inside, rng.integers(0, NODES, len(src)))
    matrix = sp.csr_matrix((np.ones(len(src), np.float32), (src, dst)), (NODES, NODES))
    return Graph.from_scipy(with_self_loops(sp.csr_matrix(matrix + matrix.T))).normalised()


def test_tells_a_good_graph_from_a_bad_one(task):
    features = Features.from_dense(np.random.default_rng(1).normal(size=(NODES, 20)))
    good, bad = (classify(graph_of(same), features, task, settings(), 2) for same in (0.95, 0.0))
    assert good["mean"] > bad["mean"] + 20


def test_without_a_graph_it_is_a_perceptron(task):
    rows = np.eye(3)[np.arange(NODES) % 3] + 0.1 * np.random.default_rng(0).normal(size=(NODES, 3))
    assert classify(None, Features.from_dense(rows), task, settings(), 1)["mean"] > 95
    assert logistic_regression(Features.from_dense(rows), task)["mean"] > 95


def test_validation_picks_the_weight_decay(task):
    rows = np.eye(3)[np.arange(NODES) % 3] + 0.1
    found = classify(None, Features.from_dense(rows), task, settings(weight_decay=(100.0, 5e-4)), 1)
    assert found["weight_decay"] == 5e-4


@pytest.mark.parametrize(("valid", "trained"), [(30, 2 * 3 + 2), (1000, 2 + 4)])
def test_few_validation_nodes_are_asked_thrice(task, monkeypatch, valid, trained):
    """Of one classifier each, luck would pick the weight decay; of three, hardly."""
    asked = []
    luck = {0: 0.9, 1: 0.1, 2: 0.1}

    def drawn(graph, features, task, how, seed):
        asked.append((how.weight_decay, seed))
        return Score(luck.get(seed, 0.1) if how.weight_decay == 1.0 else 0.5, how.weight_decay)

    monkeypatch.setattr("gsl_scale.evaluate.classify.train_gcn", drawn)
    judged = replace(task, valid=torch.arange(valid))
    found = classify(
        None, Features.from_dense(np.eye(3)), judged, settings(weight_decay=(1.0, 2.0)), 5
    )
    assert len(asked) == trained
    assert found["weight_decay"] == (2.0 if valid < 1000 else 1.0)
    assert found["mean"] == 100 * found["weight_decay"]


def test_the_test_set_decides_nothing(task):
    """Other labels on the test nodes change the score, not the classifier."""
    rows = np.eye(3)[np.arange(NODES) % 3] + 0.3 * np.random.default_rng(0).normal(size=(NODES, 3))
    features = Features.from_dense(rows)
    labels = task.labels.clone()
    labels[task.test] = (labels[task.test] + 1) % 3
    twisted = Task(labels, task.train, task.valid, task.test, 3)
    one, other = (classify(None, features, t, settings(), 2) for t in (task, twisted))
    assert one["valid"] == other["valid"]
    assert one["mean"] > 80 > 20 > other["mean"]


def test_features_passed_on_beforehand_give_the_same(task):
    """A graph of which no edge is dropped passes narrow features on once, not at every epoch."""
    graph = graph_of(0.9)
    features = Features.from_dense(np.random.default_rng(1).normal(size=(NODES, 8)))
    model = Gcn([8, 16, 3], dropout=0.0)
    passed = Features(graph @ features.dense, None)
    torch.testing.assert_close(model(graph, features), model(graph, passed, passed=True))


def test_large_graphs_are_validated_rarely(task, monkeypatch):
    """After five epochs and after the last; dropout is drawn in another way, too."""
    monkeypatch.setattr("gsl_scale.evaluate.classify._LARGE", NODES)
    looks = []
    counted = replace(task, accuracy=lambda *both: looks.append(1) or plain(*both))
    features = Features.from_dense(np.random.default_rng(1).normal(size=(NODES, 20)))
    how = settings(epochs=7, drop_edges=0.0)
    assert classify(graph_of(0.95), features, counted, how, 1)["mean"] > 50
    assert len(looks) == 2 * 2  # of validation and test
