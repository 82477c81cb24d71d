"""What the learned graph makes of damage done on purpose; needs no labels."""

from typing import Any

import numpy as np
import scipy.sparse as sp


def repair(before: sp.csr_matrix, damaged: sp.csr_matrix, learned: sp.csr_matrix) -> dict[str, Any]:
    """Edges that were deleted: how many are back? Edges that were added: do they weigh less?"""
    old, given = _ones(before), _ones(damaged)
    genuine = old.multiply(given).tocsr()
    deleted, added = _ones(old - genuine), _ones(given - genuine)
    of_genuine, of_added = (_weights(learned, edges) for edges in (genuine, added))
    pairs = learned.shape[0] * (learned.shape[0] - 1)
    return {
        "deleted": deleted.nnz // 2,
        "found_again": deleted.multiply(_ones(learned)).nnz // 2,
        "found_by_chance": learned.nnz / pairs,
        "added": added.nnz // 2,
        "added_dropped": int((of_added == 0).sum()) // 2,
        "added_weight": _mean(of_added),
        "genuine_weight": _mean(of_genuine),
        "told_apart": _told_apart(of_genuine, of_added),
    }


def said(found: dict[str, Any]) -> str:
    """For a person to read."""
    parts = ["The given edges were damaged on purpose."]
    if found["deleted"]:
        share = found["found_again"] / found["deleted"]
        parts.append(
            f"Of {found['deleted']:,} deleted edges {found['found_again']:,} ({share:.1%}) are in "
            f"the learned graph, which joins {found['found_by_chance']:.2%} of all pairs of nodes."
        )
    if found["added"]:
        parts.append(
            f"{found['added']:,} added edges weigh {found['added_weight']:.2f} there on average "
            f"({found['added_dropped']:,} are gone), genuine ones {found['genuine_weight']:.2f}."
        )
    if found["told_apart"] is not None:
        parts.append(
            f"A genuine edge weighs more than an added one in {found['told_apart']:.0%} of cases "
            "(50% is chance)."
        )
    return " ".join(parts)


def _ones(matrix: sp.csr_matrix) -> sp.csr_matrix:
    """Where there are edges."""
    found = sp.csr_matrix(matrix, copy=True)
    found.eliminate_zeros()
    found.data = np.ones(found.nnz, np.float32)
    return found


def _weights(learned: sp.csr_matrix, edges: sp.csr_matrix) -> np.ndarray:
    """Of these edges in the learned graph; 0 where it has none."""
    where = edges.tocoo()
    if not edges.nnz:  # SciPy answers an empty question with a matrix
        return np.zeros(0, np.float32)
    return np.asarray(learned[where.row, where.col]).ravel()


def _mean(weights: np.ndarray) -> float:
    return float(weights.mean()) if len(weights) else 0.0


def _told_apart(genuine: np.ndarray, added: np.ndarray) -> float | None:
    """How often a genuine edge weighs more than an added one, ties counting half (AUC)."""
    if not len(genuine) or not len(added):
        return None
    ordered = np.sort(genuine)
    below = [np.searchsorted(ordered, added, side) for side in ("left", "right")]
    return float(1.0 - np.mean(below) / len(genuine))
