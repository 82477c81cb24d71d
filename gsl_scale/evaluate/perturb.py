"""Damage to a graph or to features, on purpose, to see what refinement repairs.

Uniform, of an exact rate, and drawn from counters: the fate of an edge or of a value depends on
(seed, where it is) alone. Rates are nested: what a lower one takes away or adds, a higher one of
the same seed does too, so that a curve over rates follows one damage as it grows. Graphs are
undirected, without self-loops; what is given is never modified.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from gsl_scale.config_data import Perturb
from gsl_scale.errors import InputError
from gsl_scale.graph.random import mixed

Ids = npt.NDArray[np.int64]
Rows = npt.NDArray[Any]

_DELETE, _ADD_SRC, _ADD_DST, _WEIGHT, _REWIRE, _MASK, _DROP = range(7)
_DRAWN = 1 << 16  # pairs at a time


class _Edges(NamedTuple):
    """Each edge once, from its lower end; `number` tells them apart and is in order."""

    number: Ids
    weight: npt.NDArray[np.float32]


def delete_edges(graph: sp.csr_matrix, rate: float, seed: int = 0) -> sp.csr_matrix:
    """Without this share of its edges."""
    edges = _edges(graph)
    return _graph(_without(edges, _chosen(edges.number, rate, seed, _DELETE)), graph.shape[0])


def add_edges(graph: sp.csr_matrix, rate: float, seed: int = 0) -> sp.csr_matrix:
    """With new edges between nodes that had none, as many as this share of those it has; each
    weighs what some edge of the graph weighs."""
    edges = _edges(graph)
    added = _absent(edges, _count(rate, len(edges.number)), graph.shape[0], seed)
    return _graph(_joined(edges, added), graph.shape[0])


def rewire_edges(graph: sp.csr_matrix, rate: float, seed: int = 0) -> sp.csr_matrix:
    """With this share of its edges between other nodes, where the graph had none."""
    edges = _edges(graph)
    gone = _chosen(edges.number, rate, seed, _REWIRE)
    added = _absent(edges, len(gone), graph.shape[0], seed)
    return _graph(_joined(_without(edges, gone), added), graph.shape[0])


def mask_features(rows: Rows, rate: float, seed: int = 0) -> Rows:
    """With this share of the columns set to 0, the same ones in every row."""
    masked = np.array(rows)
    columns = np.arange(rows.shape[1], dtype=np.int64)
    masked[:, _chosen(columns, rate, seed, _MASK)] = 0
    return masked


def drop_features(rows: Rows, rate: float, seed: int = 0, first: int = 0) -> Rows:
    """With this share of the values of each row set to 0; zeros do not count. `first` is the
    number of the first row, so that rows may come in blocks."""
    row, column = np.nonzero(rows)
    numbers = (row + first) * rows.shape[1] + column
    order = np.lexsort((_bits(numbers, seed, _DROP), row))
    place = np.arange(len(row)) - np.searchsorted(row, row)  # in its row, once ordered
    wanted = np.floor(rate * np.bincount(row, minlength=len(rows)) + 0.5).astype(np.int64)
    gone = order[place < wanted[row]]
    dropped = np.array(rows)
    dropped[row[gone], column[gone]] = 0
    return dropped


def perturb_edges(graph: sp.csr_matrix, how: Perturb) -> sp.csr_matrix:
    """All that is asked for: deleted, then rewired, then added; each a share of what is left."""
    for change, rate in (
        (delete_edges, how.delete),
        (rewire_edges, how.rewire),
        (add_edges, how.add),
    ):
        if rate:
            graph = change(graph, rate, how.seed)
    return graph


def perturb_rows(rows: Rows, how: Perturb, first: int = 0) -> Rows:
    """Features, masked and dropped; `first` as in `drop_features`."""
    if how.mask_features:
        rows = mask_features(rows, how.mask_features, how.seed)
    return drop_features(rows, how.drop_features, how.seed, first) if how.drop_features else rows


def said(how: Perturb) -> str:
    """What was done, for a person to read."""
    done = {
        "edges deleted": how.delete,
        "edges rewired": how.rewire,
        "edges added": how.add,
        "columns masked": how.mask_features,
        "values dropped": how.drop_features,
    }
    parts = [f"{rate:.0%} of {what}" for what, rate in done.items() if rate]
    return f"damaged on purpose (data.perturb, seed {how.seed}): {', '.join(parts) or 'nothing'}."


def _count(rate: float, total: int) -> int:
    return int(np.floor(rate * total + 0.5))


def _bits(numbers: Ids, seed: int, use: int) -> Ids:
    """Random numbers from (seed, use, number) alone."""
    return mixed(torch.from_numpy(np.ascontiguousarray(numbers)), seed * 8 + use + 1).numpy()


def _chosen(numbers: Ids, rate: float, seed: int, use: int) -> Ids:
    """Places of the share of numbers that comes first in a random order."""
    order = np.argsort(_bits(numbers, seed, use), kind="stable")
    return order[: _count(rate, len(numbers))]


def _edges(graph: sp.csr_matrix) -> _Edges:
    upper = sp.triu(graph, k=1, format="coo")
    number = upper.row.astype(np.int64) * graph.shape[0] + upper.col
    order = np.argsort(number)
    return _Edges(number[order], upper.data[order].astype(np.float32))


def _graph(edges: _Edges, num_nodes: int) -> sp.csr_matrix:
    low, high = np.divmod(edges.number, num_nodes)
    src, dst = np.concatenate([low, high]), np.concatenate([high, low])
    weight = np.concatenate([edges.weight, edges.weight])
    return sp.csr_matrix((weight, (src, dst)), shape=(num_nodes, num_nodes))


def _without(edges: _Edges, gone: Ids) -> _Edges:
    kept = np.ones(len(edges.number), bool)
    kept[gone] = False
    return _Edges(edges.number[kept], edges.weight[kept])


def _joined(one: _Edges, other: _Edges) -> _Edges:
    return _Edges(
        np.concatenate([one.number, other.number]), np.concatenate([one.weight, other.weight])
    )


def _absent(edges: _Edges, wanted: int, num_nodes: int, seed: int) -> _Edges:
    """The first pairs of a random sequence that are no edge, no self-loop and not there before."""
    room = num_nodes * (num_nodes - 1) // 2 - len(edges.number)
    if wanted > room:
        raise InputError(
            f"{wanted:,} edges cannot be added: of {num_nodes:,} nodes with {len(edges.number):,} "
            f"edges only {room:,} pairs have none.",
            next_step="Give a lower rate (data.perturb.add or data.perturb.rewire).",
        )
    found, at = np.empty(0, np.int64), 0
    while len(found) < wanted:
        numbers = np.arange(at, at + _DRAWN, dtype=np.int64)
        ends = [_bits(numbers, seed, use) % num_nodes for use in (_ADD_SRC, _ADD_DST)]
        low, high = np.minimum(*ends), np.maximum(*ends)
        drawn = (low * num_nodes + high)[low < high]
        found = np.concatenate([found, drawn[~np.isin(drawn, edges.number)]])
        found = found[np.sort(np.unique(found, return_index=True)[1])]  # first of each, in order
        at += _DRAWN
    found = found[:wanted]
    if not wanted:
        return _Edges(found, np.empty(0, np.float32))
    like = _bits(np.arange(wanted, dtype=np.int64), seed, _WEIGHT) % len(edges.number)
    return _Edges(found, edges.weight[like])
