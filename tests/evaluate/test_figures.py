import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from gsl_scale.evaluate.figures import compared, figures, modularity


@pytest.fixture
def two_triangles():
    graph = nx.Graph([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)])
    graph.add_node(6)
    return sp.csr_matrix(nx.to_scipy_sparse_array(graph, nodelist=range(7), dtype=np.float32))


def test_figures(two_triangles):
    found = figures(two_triangles, np.array([0, 0, 0, 1, 1, 1, 1]))
    assert (found["edges"], found["isolated"], found["components"]) == (6, 1, 3)
    assert found["largest_component"] == 3
    assert found["degree"]["max"] == 2
    assert sum(found["degree_histogram"]["counts"]) == 7


def test_modularity_agrees_with_networkx():
    graph = nx.gnp_random_graph(40, 0.2, seed=1)
    rng = np.random.default_rng(0)
    for u, v in graph.edges:
        graph[u][v]["weight"] = float(rng.random())
    clusters = rng.integers(0, 4, 40)
    matrix = sp.csr_matrix(nx.to_scipy_sparse_array(graph, nodelist=range(40)))
    groups = [set(np.flatnonzero(clusters == c)) for c in range(4)]
    assert modularity(matrix, clusters) == pytest.approx(
        nx.community.modularity(graph, groups), abs=1e-6
    )


def test_the_fate_of_edges(two_triangles):
    other = two_triangles.tolil()
    other[0, 1] = other[1, 0] = 0
    other[2, 3] = other[3, 2] = 0.5
    other[2, 4] = other[4, 2] = 0.5
    after = sp.csr_matrix(other)
    after.eliminate_zeros()
    assert compared(two_triangles, after) == {"kept": 5, "dropped": 1, "added": 2}


def test_an_empty_graph():
    found = figures(sp.csr_matrix((4, 4), dtype=np.float32), np.zeros(4, np.int64))
    assert (found["edges"], found["components"], found["modularity"]) == (0, 4, 0.0)
