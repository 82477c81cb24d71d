"""Approximate search: what the gate promises, and what happens where it cannot."""

import numpy as np
import pytest

from gsl_scale.config import Knn, Run
from gsl_scale.errors import ConfigError
from gsl_scale.knn.approximate import ApproximateIndex
from gsl_scale.knn.exact import all_neighbours
from gsl_scale.knn.finder import Finder
from gsl_scale.knn.gate import RecallError
from gsl_scale.knn.plan import choose


def clustered(num_nodes, dim=16, clusters=40, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(clusters, dim))
    rows = centres[rng.integers(0, clusters, num_nodes)] + noise * rng.normal(size=(num_nodes, dim))
    return rows.astype(np.float32)


def recall(found, rows, k):
    truth = all_neighbours(rows, k).ids
    return np.mean([len(np.intersect1d(a, b)) / k for a, b in zip(found.ids, truth, strict=True)])


@pytest.mark.parametrize("index", ["ivf", "hnsw", "IVF64,Flat", "IVF64,SQ8", "HNSW16"])
@pytest.mark.parametrize("dim", [15, 16])
def test_finds_what_it_promises(index, dim):
    rows = clustered(4000, dim)
    found = Finder(Knn(k=10, index=index, sample=400), Run())(rows)
    assert recall(found, rows, 10) > 0.98
    assert (found.ids != np.arange(4000)[:, None]).all()
    assert (np.diff(found.ids, axis=1) > 0).all()


def test_lists_are_kept_from_one_search_to_the_next():
    rows = clustered(4000)
    find = Finder(Knn(k=10, index="ivf", sample=400), Run())
    find(rows)
    first = find._centroids
    assert recall(find(rows + 0.01), rows + 0.01, 10) > 0.98
    assert np.einsum("ij,ij->i", first, find._centroids).mean() > 0.99


def test_vectors_without_clusters_are_noticed():
    rows = np.random.default_rng(0).normal(size=(4000, 64)).astype(np.float32)
    coarse = "IVF64,PQ4x4fs"
    with pytest.raises(RecallError, match="knn.recall asks for 0.99") as error:
        Finder(Knn(k=10, index=coarse), Run())(rows)
    assert "knn.index=exact" in error.value.next_step


def test_auto_turns_to_exact_search_instead(monkeypatch):
    monkeypatch.setattr("gsl_scale.knn.plan._AFFORDABLE", {"cpu": 0})
    rows = np.random.default_rng(0).normal(size=(2000, 64)).astype(np.float32)
    found = Finder(Knn(k=10), Run())(rows)
    assert recall(found, rows, 10) == 1


def test_lists_that_hold_too_few_are_made_up_for():
    rows = np.concatenate([clustered(3000), np.eye(16, dtype=np.float32)[:2] * -50])
    found = Finder(Knn(k=30, index="IVF256,Flat", recall=0.5), Run())(rows)
    assert (found.ids >= 0).all() and np.isfinite(found.similarity).all()


def test_masses_of_one_vector_pass_the_gate():
    found = Finder(Knn(k=5, index="ivf", sample=100), Run())(np.ones((3000, 8), np.float32))
    assert np.allclose(found.similarity, 1, atol=1e-5)
    assert (found.ids != np.arange(3000)[:, None]).all()


def test_vectors_stay_where_they_are_if_there_is_room():
    rows = np.random.default_rng(0).normal(size=(3000, 8)).astype(np.float32)
    plan = choose(3000, 8, Knn(k=5, index="IVF16,PQ4x4fs"), Run(), 0)
    index = ApproximateIndex.train(rows, plan)
    index.reserve(3000)
    index.add(rows[:500])
    address = index.rows.ctypes.data
    index.add(rows[500:])
    assert index.rows.ctypes.data == address
    assert (index.rows == rows).all()


def test_a_string_that_faiss_does_not_know_is_refused():
    with pytest.raises(ConfigError, match="FAISS cannot make 'nonsense'"):
        Finder(Knn(k=5, index="nonsense"), Run())(clustered(100))


def test_the_choice_follows_size_and_memory():
    assert choose(10_000, 128, Knn(), Run()).exact
    large = choose(1_000_000, 128, Knn(), Run(memory=2))
    assert large.index == "IVF4000,PQ64x4fs" and large.pieces == 1
    assert 0.4e9 < large.bytes < 2e9
    small = choose(1_000_000, 128, Knn(), Run(memory=0.5))
    assert small.pieces == 3 and small.bytes < 0.5 * 2**30
    covered = [node for piece in range(3) for node in range(*small.bounds(piece))]
    assert covered == list(range(1_000_000))
    assert choose(10_000, 128, Knn(index="hnsw"), Run()).index == "HNSW32"
