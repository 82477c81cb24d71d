import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsl_scale.config import Knn, Run
from gsl_scale.errors import InputError
from gsl_scale.knn.exact import ExactIndex
from gsl_scale.knn.search import search_knn
from gsl_scale.store import Artifact
from tests.knn.data import write_store


def candidates(folder, rows, k, num_shards=1, batch=64, knn=None, run=None):
    data = write_store(folder, rows, num_shards)
    settings = Knn(k=k, **(knn or {}))
    where = Run(batch=batch, **(run or {}))
    search_knn(data, folder / "knn", settings, where, config={"k": k})
    return Artifact.open(folder / "knn").edges().read()


def exact(rows, k):
    """The slow way: all similarities, self excluded, the k largest."""
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    similarity = unit @ unit.T
    np.fill_diagonal(similarity, -np.inf)
    return -np.sort(-similarity, axis=1)[:, :k]


@settings(deadline=None, max_examples=25)
@given(num_nodes=st.integers(3, 60), k=st.integers(1, 2), num_shards=st.integers(1, 3),
       batch=st.integers(1, 70), seed=st.integers(0, 99))  # fmt: skip
def test_agrees_with_the_slow_way(tmp_path_factory, num_nodes, k, num_shards, batch, seed):
    rows = np.random.default_rng(seed).normal(size=(num_nodes, 5)).astype(np.float32)
    edges = candidates(tmp_path_factory.mktemp("k"), rows, k, num_shards, batch)
    assert (edges.src == np.repeat(np.arange(num_nodes), k)).all()
    assert (edges.src != edges.dst).all()
    found = -np.sort(-edges.weight.reshape(-1, k), axis=1)
    assert np.allclose(found, exact(rows, k), atol=1e-5)


def test_masses_of_duplicates_and_zero_rows(tmp_path):
    rows = np.ones((40, 3), np.float32)
    rows[::10] = 0
    edges = candidates(tmp_path, rows, 5)
    assert (edges.src != edges.dst).all()
    assert len(set(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))) == 200
    assert set(np.round(edges.weight[edges.src % 10 == 0], 6)) == {0.0}


@pytest.mark.parametrize("k", [4, 5])
def test_k_as_large_as_the_graph(tmp_path, k):
    with pytest.raises(InputError, match=f"knn.k is {k}, and there are only 4 nodes"):
        candidates(tmp_path, np.eye(4, dtype=np.float32), k)


def test_finished_shards_are_not_searched_again(tmp_path, monkeypatch):
    rows = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)
    expected = candidates(tmp_path, rows, 3, num_shards=3)
    calls = []
    real = ExactIndex.search

    def breaks_down(self, some, start, k):
        calls.append(start)
        if start == 20 and calls.count(20) == 1:
            raise RuntimeError("power cut")
        return real(self, some, start, k)

    monkeypatch.setattr(ExactIndex, "search", breaks_down)
    (tmp_path / "again").mkdir()
    with pytest.raises(RuntimeError):
        candidates(tmp_path / "again", rows, 3, num_shards=3)
    data = Artifact.open(tmp_path / "again/data")
    search_knn(data, tmp_path / "again/knn", Knn(k=3), Run(batch=64), config={"k": 3})
    assert calls == [0, 10, 20, 20]
    found = Artifact.open(tmp_path / "again/knn").edges().read()
    assert all((a == b).all() for a, b in zip(found, expected, strict=True))
