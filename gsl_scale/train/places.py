"""Where nodes lie: an order in which nodes that are alike are close to each other.

The seeds of a batch are shared out among ranks in this order. The neighbourhoods of a rank's seeds
then overlap, and what it reads and computes is little more than its part of the whole. Which nodes
are in a batch does not depend on it.
"""

import numpy as np
import numpy.typing as npt

from gsl_scale.store.nodes import NodeTable

_LEVELS = 8  # cuts in half, one within the other
_SAMPLE = 20_000
_AT_ONCE = 65_536


def places(rows: NodeTable) -> npt.NDArray[np.int32]:
    """The cell of every node: cut at the median of the direction that varies most, then each half
    along the next, and so on."""
    num_nodes, dim = rows.shape
    chosen = np.random.default_rng(0).choice(num_nodes, min(num_nodes, _SAMPLE), replace=False)
    sample = _unit(rows.rows(np.sort(chosen)))
    _, directions = np.linalg.eigh(np.cov(sample, rowvar=False).reshape(dim, dim))
    directions = directions[:, ::-1][:, :_LEVELS].astype(np.float32)
    along = np.concatenate(
        [
            _unit(rows.read(at, min(at + _AT_ONCE, num_nodes))) @ directions
            for at in range(0, num_nodes, _AT_ONCE)
        ]
    )
    cell = np.zeros(num_nodes, np.int32)
    for level in range(directions.shape[1]):
        order = np.lexsort((along[:, level], cell))
        within = np.empty(num_nodes, np.int64)
        sizes = np.bincount(cell, minlength=1 << level)
        starts = np.cumsum(sizes) - sizes
        within[order] = np.arange(num_nodes) - starts[cell[order]]
        cell = (2 * cell + (2 * within >= sizes[cell])).astype(np.int32)
    return cell


def _unit(rows: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: npt.NDArray[np.float32] = (rows / np.maximum(lengths, 1e-12)).astype(np.float32)
    return unit
