"""Where nodes lie: an order in which nodes that are joined are close to each other.

The seeds of a batch are shared out among ranks in this order. The neighbourhoods of a rank's seeds
then overlap, and what it reads and computes is little more than its part of the whole. Which nodes
are in a batch does not depend on it.
"""

import io
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gsl_scale.memory import hand_back_memory
from gsl_scale.store.links import LinkTable
from gsl_scale.store.manifest import write_durably
from gsl_scale.store.nodes import NodeTable

_LEVELS = 8  # cuts in half, one within the other
_ROUNDS = 2  # of smoothing; more than two cut hardly fewer edges
_SAMPLE = 20_000
_AT_ONCE = 16_384

Vectors = npt.NDArray[np.float32]


def kept_places(path: Path, rows: NodeTable, links: LinkTable) -> npt.NDArray[np.int32]:
    """Those of an earlier attempt, or found now and put there."""
    with suppress(OSError, ValueError, EOFError):  # not there, or not readable
        before = np.lib.format.open_memmap(path, mode="r")
        if before.shape == (links.num_nodes,) and before.dtype == np.int32:
            return np.array(before)
    found = places(rows, links)
    hand_back_memory()
    packed = io.BytesIO()
    np.save(packed, found)
    write_durably(path, packed.getvalue())
    return found


def places(rows: NodeTable, links: LinkTable) -> npt.NDArray[np.int32]:
    """The cell of every node: cut at the median of the direction that changes least along links,
    then each half along the next, and so on.

    The directions are sought among those in which rows vary most, smoothed over the graph: the
    first steps of a spectral partition.
    """
    root = np.sqrt(links.degrees(np.arange(links.num_nodes))).astype(np.float32)[:, None]
    even = root / np.linalg.norm(root)  # tells no node from another
    found = _most_varied(rows) * root
    for _ in range(_ROUNDS):
        found = _smoothed(found - even * (even.T @ found), links, root)
    basis, _ = np.linalg.qr(found - even * (even.T @ found))
    _, turned = np.linalg.eigh(basis.T @ _smoothed(basis, links, root))
    return _cells((basis @ turned[:, ::-1]) / root)


def _most_varied(rows: NodeTable) -> Vectors:
    """Where every node lies along the first principal directions."""
    num_nodes, dim = rows.shape
    chosen = np.random.default_rng(0).choice(num_nodes, min(num_nodes, _SAMPLE), replace=False)
    sample = _unit(rows.rows(np.sort(chosen)))
    _, directions = np.linalg.eigh(np.cov(sample, rowvar=False).reshape(dim, dim))
    directions = directions[:, ::-1][:, :_LEVELS].astype(np.float32)
    return _in_blocks(num_nodes, lambda at, end: _unit(rows.read(at, end)) @ directions)


def _smoothed(values: Vectors, links: LinkTable, root: Vectors) -> Vectors:
    """Averaged over neighbours, each as much as D^-1/2 G D^-1/2 says."""
    spread = values / root

    def average(at: int, end: int) -> Vectors:
        counts, dst, _ = links.rows(np.arange(at, end))
        ends = np.append(0, np.cumsum(counts))
        graph = sp.csr_matrix((np.ones(len(dst), np.float32), dst, ends), (end - at, len(values)))
        mean: Vectors = graph @ spread / root[at:end]
        return mean

    return _in_blocks(len(values), average)


def _cells(along: Vectors) -> npt.NDArray[np.int32]:
    num_nodes, levels = along.shape
    cell = np.zeros(num_nodes, np.int32)
    for level in range(levels):
        order = np.lexsort((along[:, level], cell))
        within = np.empty(num_nodes, np.int64)
        sizes = np.bincount(cell, minlength=1 << level)
        starts = np.cumsum(sizes) - sizes
        within[order] = np.arange(num_nodes) - starts[cell[order]]
        cell = (2 * cell + (2 * within >= sizes[cell])).astype(np.int32)
    return cell


def _in_blocks(num_nodes: int, rows_of: Callable[[int, int], Vectors]) -> Vectors:
    starts = range(0, num_nodes, _AT_ONCE)
    return np.concatenate([rows_of(at, min(at + _AT_ONCE, num_nodes)) for at in starts])


def _unit(rows: npt.NDArray[np.floating]) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Vectors = (rows / np.maximum(lengths, 1e-12)).astype(np.float32)
    return unit
