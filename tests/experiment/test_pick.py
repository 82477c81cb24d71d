import numpy as np
import pytest
import scipy.sparse as sp
import torch

from gsl_scale.errors import UserError
from gsl_scale.evaluate.classify import Task
from gsl_scale.experiment.pick import pick_nodes, weights_among


@pytest.fixture
def task():
    """60 nodes of three classes, the first 24 labelled."""
    labels = torch.arange(60) % 3
    return Task(labels, torch.arange(24), torch.arange(24, 30), torch.arange(30, 60), 3)


def joined(pairs):
    src, dst = np.array(pairs + [(b, a) for a, b in pairs]).T
    return sp.csr_matrix((np.ones(len(src), np.float32), (src, dst)), shape=(60, 60))


def test_most_edges_to_the_own_class(task):
    # 59 (class 2) has three neighbours of its class, 58 (class 1) three of class 2.
    graph = joined([(59, 2), (59, 5), (59, 8), (58, 11), (58, 14), (58, 17)])
    groups = pick_nodes(task, ["ant", "bee", "cow"], (), graph)
    assert [group.name for group in groups] == ["bee L", "bee U", "cow L", "cow U"]
    assert [len(group.nodes) for group in groups] == [8, 10, 8, 10]
    assert 59 in groups[3].nodes and 58 not in groups[1].nodes
    for group, number in zip(groups, (1, 1, 2, 2), strict=True):
        assert (task.labels[torch.from_numpy(group.nodes)] == number).all()
        assert (group.nodes < 24).all() == group.name.endswith("L")


def test_classes_by_name_or_number(task):
    graph = joined([(0, 1)])
    for asked in (("ant", "cow"), ("0", "2")):
        names = [group.name for group in pick_nodes(task, ["ant", "bee", "cow"], asked, graph)]
        assert names == ["ant L", "ant U", "cow L", "cow U"]
    with pytest.raises(UserError, match="There is no class dog"):
        pick_nodes(task, ["ant", "bee", "cow"], ("dog",), graph)


def test_weights_by_place():
    graph = joined([(4, 9), (9, 11)])
    assert weights_among(graph, np.array([9, 4])) == [(0, 1, 1.0), (1, 0, 1.0)]
