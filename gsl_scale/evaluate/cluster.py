"""Node clustering by K-means, against the labels: C-ACC, NMI, macro-F1, ARI."""

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from sklearn import metrics
from sklearn.cluster import KMeans

MEASURES = ("C-ACC", "NMI", "F1", "ARI")
_MOST_WITHOUT_LABELS = 10
_STARTS = 10  # of which K-means keeps the best
_LARGE = 100_000  # rows from which on FAISS finds the clusters, from a sample and one start
_PER_CLUSTER = 256  # rows of the sample, at least


def cluster_scores(
    rows: npt.NDArray[np.float32], labels: npt.NDArray[np.int64], num_classes: int, runs: int
) -> dict[str, dict[str, float]]:
    """Mean and spread over `runs` K-means with seeds 0, 1, ...; unlabelled nodes do not count."""
    known = labels >= 0
    scores = [
        _score(labels[known], kmeans(rows, num_classes, seed)[known], num_classes)
        for seed in range(runs)
    ]
    columns = np.array(scores) * 100
    return {
        name: {"mean": float(column.mean()), "std": float(column.std())}
        for name, column in zip(MEASURES, columns.T, strict=True)
    }


def kmeans(rows: npt.NDArray[np.float32], clusters: int, seed: int) -> npt.NDArray[np.int64]:
    if len(rows) < _LARGE:
        found = KMeans(clusters, n_init=_STARTS, random_state=seed).fit_predict(rows)
        return np.asarray(found, dtype=np.int64)
    import faiss

    rows = np.ascontiguousarray(rows, np.float32)
    sample = max(_PER_CLUSTER, _LARGE // clusters)
    means = faiss.Kmeans(rows.shape[1], clusters, seed=seed, max_points_per_centroid=sample)
    means.train(rows)
    return np.asarray(means.index.search(rows, 1)[1], dtype=np.int64).ravel()


def clusters_without_labels(num_nodes: int) -> int:
    """How many are looked for where nothing says how many there are."""
    return min(_MOST_WITHOUT_LABELS, 1 + num_nodes // 20)


def _score(
    labels: npt.NDArray[np.int64], clusters: npt.NDArray[np.int64], num_classes: int
) -> tuple[float, ...]:
    """Clusters have no names: accuracy and F1 take the naming that fits best (Hungarian)."""
    together = np.zeros((num_classes, num_classes), np.int64)
    np.add.at(together, (clusters, labels), 1)
    _, name = linear_sum_assignment(-together)
    named = name[clusters]
    return (
        metrics.accuracy_score(labels, named),
        metrics.normalized_mutual_info_score(labels, clusters),
        metrics.f1_score(labels, named, average="macro"),
        metrics.adjusted_rand_score(labels, clusters),
    )
