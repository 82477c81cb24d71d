"""Figures of a graph that need no labels, alone and against the given one."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

_QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


def figures(graph: sp.csr_matrix, clusters: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Size, degrees, weights, components, and modularity of a partition found without labels."""
    degree = np.diff(graph.indptr)
    components, member = connected_components(graph, directed=False)
    return {
        "edges": graph.nnz // 2,
        "degree": quantiles(degree),
        "degree_histogram": histogram(degree.astype(float)),
        "weight": quantiles(graph.data),
        "weight_histogram": histogram(graph.data),
        "isolated": int((degree == 0).sum()),
        "components": int(components),
        "largest_component": int(np.bincount(member).max()),
        "modularity": modularity(graph, clusters),
    }


def compared(given: sp.csr_matrix, learned: sp.csr_matrix) -> dict[str, Any]:
    """The fate of edges: kept, dropped from the given graph, added by the learned one."""
    before, after = given.astype(bool), learned.astype(bool)
    kept = before.multiply(after).nnz // 2
    return {"kept": kept, "dropped": before.nnz // 2 - kept, "added": after.nnz // 2 - kept}


def modularity(graph: sp.csr_matrix, clusters: npt.NDArray[np.int64]) -> float:
    """Share of weight inside clusters, less what chance would put there."""
    total = float(graph.sum())
    if total == 0:
        return 0.0
    member = sp.csr_matrix(
        (np.ones(len(clusters), np.float64), (np.arange(len(clusters)), clusters))
    )
    inside = float((member.T @ graph.astype(np.float64) @ member).diagonal().sum())
    strength = np.asarray(member.T @ np.asarray(graph.sum(axis=1), np.float64)).ravel()
    return inside / total - float(np.square(strength / total).sum())


def histogram(values: npt.NDArray[Any], bins: int = 20) -> dict[str, list[float]]:
    if not len(values):
        return {"counts": [], "borders": []}
    counts, borders = np.histogram(values, bins)
    return {"counts": counts.tolist(), "borders": borders.tolist()}


def quantiles(values: npt.NDArray[Any]) -> dict[str, float]:
    if not len(values):
        return {}
    found = np.quantile(values, _QUANTILES)
    names = ("min", "lower", "median", "upper", "max")
    return {"mean": float(values.mean()), **dict(zip(names, found.tolist(), strict=True))}
