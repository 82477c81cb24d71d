import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsl_scale.load import load_graph
from gsl_scale.store import Draft, EdgeShuffle, ShardPlan

NODES = 9
# Few different weights, so that there are many ties.
EDGES = st.lists(
    st.tuples(
        st.integers(0, NODES - 1), st.integers(0, NODES - 1), st.sampled_from([0.25, 0.5, 1])
    ),
    max_size=50,
)


def stored(folder, edges, num_shards, kind="graph"):
    with Draft(folder, kind, ShardPlan(NODES, num_shards)) as draft:
        shuffle = EdgeShuffle(draft, mirror=kind == "graph")
        kept = np.array([edge for edge in edges if edge[0] != edge[1]], float).reshape(-1, 3)
        shuffle.append(*kept[:, :2].astype(np.int64).T, kept[:, 2].astype(np.float32))
        draft.add_table("edges", shuffle.finish())
        draft.publish()
    return folder


def heaviest(matrix, k):
    """Slow and plain: each row's k largest, among equals the lower column."""
    keep = np.zeros_like(matrix, bool)
    for row in range(len(matrix)):
        there = [column for column in range(len(matrix)) if matrix[row, column]]
        keep[row, sorted(there, key=lambda c: (-matrix[row, c], c))[:k]] = True
    return keep


@settings(deadline=None, max_examples=60)
@given(edges=EDGES, num_shards=st.integers(1, NODES), k=st.integers(1, 4))
def test_the_k_heaviest_of_either_end(tmp_path_factory, edges, num_shards, k):
    folder = stored(tmp_path_factory.mktemp("s") / "s", edges, num_shards)
    whole = load_graph(folder).to_scipy().toarray()
    graph = load_graph(folder, top_k=k)
    found = graph.to_scipy().toarray()
    keep = heaviest(whole, k)
    assert (found == np.where(keep | keep.T, whole, 0)).all()
    assert graph.num_edges == np.count_nonzero(found) // 2
    assert ((found > 0).any(axis=1) == (whole > 0).any(axis=1)).all()  # no one loses all edges


@settings(deadline=None, max_examples=20)
@given(edges=EDGES, k=st.integers(1, 4))
def test_the_k_heaviest_of_candidates(tmp_path_factory, edges, k):
    folder = stored(tmp_path_factory.mktemp("s") / "s", edges, 2, kind="candidates")
    whole = load_graph(folder).to_scipy().toarray()
    found = load_graph(folder, top_k=k).to_scipy().toarray()
    assert (found == np.where(heaviest(whole, k), whole, 0)).all()


@pytest.mark.parametrize("threshold", [0.0, 0.25, 0.3, 0.5, 2.0])
def test_threshold(tmp_path, threshold):
    edges = [(0, 1, 0.25), (1, 2, 0.5), (2, 3, 1.0), (0, 3, 0.5)]
    folder = stored(tmp_path / "s", edges, 3)
    whole = load_graph(folder).to_scipy().toarray()
    graph = load_graph(folder, threshold=threshold)
    assert (graph.to_scipy().toarray() == np.where(whole >= threshold, whole, 0)).all()
    assert (graph.weights >= threshold).all()
    both = load_graph(folder, threshold=threshold, top_k=1)
    assert both.num_edges <= graph.num_edges
    assert "the 1 heaviest of each node" in repr(both)
