import numpy as np

from gsl_scale.evaluate import cluster
from gsl_scale.evaluate.cluster import cluster_scores


def test_clear_clusters_score_100_whatever_they_are_called():
    labels = np.array([2, 0, 1] * 20)
    rows = np.eye(3, dtype=np.float32)[(labels + 1) % 3] * 5
    rows += 0.01 * np.random.default_rng(0).normal(size=rows.shape).astype(np.float32)
    labels[:5] = -1  # unknown: not counted
    scores = cluster_scores(rows, labels, 3, runs=2)
    assert {name: round(score["mean"], 6) for name, score in scores.items()} == {
        "C-ACC": 100.0,
        "NMI": 100.0,
        "F1": 100.0,
        "ARI": 100.0,
    }


def test_noise_scores_near_chance():
    rng = np.random.default_rng(0)
    scores = cluster_scores(
        rng.normal(size=(300, 4)).astype(np.float32), rng.integers(0, 3, 300), 3, 2
    )
    assert scores["C-ACC"]["mean"] < 50
    assert abs(scores["ARI"]["mean"]) < 5


def test_many_rows_are_clustered_too(monkeypatch):
    """By FAISS instead of scikit-learn."""
    monkeypatch.setattr(cluster, "_LARGE", 3000)
    labels = np.arange(3000) % 3
    rows = np.eye(3, dtype=np.float32)[labels] * 5
    rows += 0.1 * np.random.default_rng(0).normal(size=rows.shape).astype(np.float32)
    found = cluster.kmeans(rows, 3, seed=1)
    assert cluster_scores(rows, labels, 3, runs=1)["NMI"]["mean"] > 99.9
    assert (found == cluster.kmeans(rows, 3, seed=1)).all()
