import numpy as np
import pytest
import scipy.sparse as sp

from gsl_scale.report.change import compare, graph_before, rows_of
from gsl_scale.report.groups import Groups
from gsl_scale.store import Artifact
from gsl_scale.store.matrix import edges_matrix, symmetric


@pytest.fixture(params=[True, False], ids=["given", "inferred"])
def run(make_run, request):
    return make_run(given=request.param)


def opened(run):
    return [Artifact.open(run / name) for name in ("data", "knn", "graph", "metrics")]


def test_against_matrices(run):
    """Degrees, fates and weight within labels are those of the whole matrices."""
    data, knn, graph, metrics = opened(run)
    old = edges_matrix(data) if "edges" in data else symmetric(edges_matrix(knn))
    new, groups = edges_matrix(graph), Groups.find(data, metrics)
    with graph_before(run, data, knn) as before:
        change = compare(before, graph.edges(), groups)
        found = before.csr()
    n = data.manifest.num_nodes
    matrix = sp.csr_matrix((found.weight, found.dst, found.indptr), (n, n))
    assert abs(matrix - old).max() < 1e-6
    both = old.astype(bool).multiply(new.astype(bool))
    assert change.before.degree.tolist() == np.diff(old.indptr).tolist()
    assert change.after.degree.tolist() == np.diff(new.indptr).tolist()
    assert change.kept.tolist() == np.asarray(both.sum(axis=1)).ravel().tolist()
    fates = change.fates
    assert fates["kept"] == both.nnz // 2 > 0
    assert fates["added"] == (new.nnz - both.nnz) // 2
    assert fates["dropped"] == (old.nnz - both.nnz) // 2
    assert fates["kept_weight"] == pytest.approx(new.multiply(both).sum() / both.nnz)
    ends = new.tocoo()
    same = groups.of[ends.row] == groups.of[ends.col]
    assert change.after.same_group == pytest.approx(ends.data[same].sum() / ends.data.sum())
    assert change.after.between.sum() == pytest.approx(new.sum())
    assert change.after.weights.sum() == new.nnz
    assert not list(run.glob(".report-*"))  # nothing is left behind


def test_rows_of_some_nodes(run):
    graph = Artifact.open(run / "graph")
    nodes = np.array([0, 7, 29, 30, 59])
    rows, whole = rows_of(graph.edges(), nodes), edges_matrix(graph)
    for place, node in enumerate(nodes):
        cut = slice(rows.indptr[place], rows.indptr[place + 1])
        assert rows.dst[cut].tolist() == whole[node].indices.tolist()
        assert rows.weight[cut].tolist() == whole[node].data.tolist()


def test_small_groups_are_one(make_run):
    run = make_run(num_nodes=120, classes=tuple(f"c{i}" for i in range(14)))
    data, _, graph, metrics = opened(run)
    groups = Groups.find(data, metrics)
    change = compare(data.edges(), graph.edges(), groups)
    assert change.after.between.shape == (11, 11)  # ten and all others
    assert change.after.between.sum() == pytest.approx(edges_matrix(graph).sum())


def test_groups_without_labels(make_run):
    data, _, _, metrics = opened(make_run(classes=()))
    assert Groups.find(data, metrics).what == "cluster"
    assert Groups.find(data, None) is None
