"""Nodes of two classes for the heatmap, labelled and not, as in the paper's figure."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gsl_scale.errors import UserError
from gsl_scale.evaluate.classify import Task

_EACH = 10  # labelled nodes of a class, and as many others


@dataclass(frozen=True)
class Group:
    name: str
    nodes: npt.NDArray[np.int64]


def pick_nodes(
    task: Task, names: list[str], classes: tuple[str, ...], before: sp.csr_matrix
) -> list[Group]:
    """Labelled (L) and other (U) nodes of each class: those with most edges to their own class in
    the graph before. Classes are named or numbered; without any, the last two."""
    labels = task.labels.numpy()
    known = [names[c] if c < len(names) else str(c) for c in range(task.num_classes)]
    groups = []
    for number in [_number(wanted, known) for wanted in classes or known[-2:]]:
        member = labels == number
        inside = np.asarray(before.astype(bool)[:, member].sum(axis=1)).ravel()
        labelled = np.zeros(len(labels), bool)
        labelled[task.train.numpy()] = True
        for mark, among in (("L", member & labelled), ("U", member & ~labelled)):
            nodes = np.flatnonzero(among)
            best = nodes[np.argsort(-inside[nodes], kind="stable")[:_EACH]]
            if len(best):
                groups.append(Group(f"{known[number]} {mark}", np.sort(best)))
    return groups


def _number(wanted: str, known: list[str]) -> int:
    if wanted in known:
        return known.index(wanted)
    if wanted.isdigit() and int(wanted) < len(known):
        return int(wanted)
    raise UserError(
        f"There is no class {wanted}.", next_step=f"Classes of this dataset: {', '.join(known)}."
    )


def weights_among(
    graph: sp.csr_matrix, nodes: npt.NDArray[np.int64]
) -> list[tuple[int, int, float]]:
    """(row, column, weight) by place among the nodes, where there is an edge."""
    found = sp.coo_matrix(graph[nodes][:, nodes])
    order = np.lexsort((found.col, found.row))
    return [
        (int(found.row[e]), int(found.col[e]), round(float(found.data[e]), 5))
        for e in order
        if found.data[e] > 0
    ]
