"""The checks on input. Each finding is repaired, noted or refused, and says how many and where.

Checks wrap the streams on their way to the writer, so nothing is read twice and nothing is kept.
Refusals are collected, so that a person sees all of them at once.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gsl_scale.errors import InputError
from gsl_scale.ingest.source import EdgeBlock, Rows, Source
from gsl_scale.store.edges import ShuffleCounts


@dataclass(frozen=True)
class Finding:
    """One kind of oddity: what, how many, what was or should be done."""

    outcome: Literal["repaired", "noted", "refused"]
    code: str
    count: int
    text: str

    def __str__(self) -> str:
        return f"{self.outcome}: {self.text}"


@dataclass
class Findings:
    found: list[Finding] = field(default_factory=list)

    def repaired(self, code: str, count: int, text: str) -> None:
        self._add("repaired", code, count, text)

    def noted(self, code: str, count: int, text: str) -> None:
        self._add("noted", code, count, text)

    def refused(self, code: str, count: int, text: str) -> None:
        self._add("refused", code, count, text)

    def _add(
        self, outcome: Literal["repaired", "noted", "refused"], code: str, count: int, text: str
    ) -> None:
        if count:
            self.found.append(Finding(outcome, code, count, text))

    def raise_if_refused(self) -> None:
        refused = [finding.text for finding in self.found if finding.outcome == "refused"]
        if refused:
            raise InputError("\n".join(refused), "Nothing was written.")

    def to_json(self) -> list[dict[str, Any]]:
        return [asdict(finding) for finding in self.found]


class _First:
    """The first few places of something, and how many there were."""

    def __init__(self, most: int = 3) -> None:
        self.most, self.count = most, 0
        self.places: list[Any] = []

    def add(self, places: npt.NDArray[Any], count: int) -> None:
        self.count += count
        for place in places[: self.most - len(self.places)]:
            self.places.append(place)

    def named(self, names: list[str]) -> str:
        more = ", ..." if self.count > len(names) else ""
        return ", ".join(names) + more


def _cells(mask: npt.NDArray[np.bool_], at: int) -> npt.NDArray[np.int64]:
    """(row, column) of the first few marked cells of a block that begins at row `at`."""
    rows = np.flatnonzero(mask.any(axis=1))[:3]
    cells = np.argwhere(mask[rows])
    return np.column_stack([rows[cells[:, 0]] + at, cells[:, 1]])


def checked_features(
    source: Source, findings: Findings, fill_missing: float | None = None, dtype: str = "float32"
) -> Iterator[Rows]:
    """Pass features through as `dtype`; afterwards `findings` knows what was odd about them."""
    missing, infinite, zero = _First(), _First(), _First()
    low = np.full(source.num_features, np.inf)
    high = np.full(source.num_features, -np.inf)
    at = 0
    for rows in source.features():
        with np.errstate(over="ignore"):  # what does not fit becomes infinite, and is found
            block = rows.astype(dtype, copy=False)
        finite = np.isfinite(block)
        if not finite.all():
            nan = np.isnan(block)
            missing.add(_cells(nan, at), int(nan.sum()))
            infinite.add(_cells(~finite & ~nan, at), int((~finite & ~nan).sum()))
            block = np.where(nan, np.dtype(dtype).type(fill_missing or 0.0), block)
        empty = ~block.any(axis=1)
        zero.add(np.flatnonzero(empty) + at, int(empty.sum()))
        np.minimum(low, block.min(axis=0, initial=np.inf), out=low)
        np.maximum(high, block.max(axis=0, initial=-np.inf), out=high)
        at += len(block)
        yield block
    _report_features(source, findings, missing, infinite, zero, fill_missing)
    constant = np.flatnonzero(low == high)
    findings.noted(
        "constant-columns",
        len(constant),
        f"{len(constant):,} of {source.num_features:,} feature columns never change "
        f"(first: {source.feature_name(int(constant[0])) if len(constant) else ''}); "
        "kept, they tell nodes apart in nothing.",
    )


def _report_features(
    source: Source,
    findings: Findings,
    missing: _First,
    infinite: _First,
    zero: _First,
    fill_missing: float | None,
) -> None:
    def cells(first: _First) -> str:
        return first.named(
            [
                f"{source.name_row(row)} column {source.feature_name(col)}"
                for row, col in first.places
            ]
        )

    if fill_missing is None:
        findings.refused(
            "missing-features",
            missing.count,
            f"Features: {missing.count:,} missing or NaN values ({cells(missing)}). A similarity "
            "with them is undefined. Fill them in, drop those rows, or set "
            "data.fill_missing (--fill-missing 0).",
        )
    else:
        findings.repaired(
            "missing-features",
            missing.count,
            f"{missing.count:,} missing feature values set to {fill_missing:g} ({cells(missing)}).",
        )
    findings.refused(
        "infinite-features",
        infinite.count,
        f"Features: {infinite.count:,} infinite values ({cells(infinite)}), or too large for "
        "the stored type. Replace or rescale them.",
    )
    findings.noted(
        "zero-rows",
        zero.count,
        f"{zero.count:,} of {source.num_nodes:,} nodes have only zeros as features "
        f"({zero.named([source.name_row(row) for row in zero.places])}); kept, similar to no one.",
    )


def checked_edges(
    source: Source, findings: Findings, unknown_nodes: str = "refuse"
) -> Iterator[EdgeBlock]:
    """Pass on edges that can be stored: known ends, no self-loop, a positive weight."""
    assert source.edges is not None
    unknown, negative, invalid = _First(), _First(), _First()
    loops = zeros = at = 0
    for block in source.edges():
        src, dst, weight, written = block
        known = (src >= 0) & (src < source.num_nodes) & (dst >= 0) & (dst < source.num_nodes)
        if not known.all():
            bad = np.flatnonzero(~known)
            ends = written or (src, dst)
            places = [
                f"{source.name_edge(at + int(row))} ({ends[0][row]} -> {ends[1][row]})"
                for row in bad[:3]
            ]
            unknown.add(np.array(places, dtype=object), len(bad))
        loop = known & (src == dst)
        loops += int(loop.sum())
        keep = known & ~loop
        if weight is not None:
            with np.errstate(invalid="ignore"):
                below, wrong, zero = weight < 0, ~np.isfinite(weight), weight == 0
            negative.add(np.flatnonzero(below) + at, int(below.sum()))
            invalid.add(np.flatnonzero(wrong) + at, int(wrong.sum()))
            zeros += int((zero & keep).sum())
            keep &= ~(below | wrong | zero)
            weight = weight[keep]
        at += len(src)
        yield EdgeBlock(src[keep], dst[keep], weight)
    _report_edges(source, findings, unknown, negative, invalid, unknown_nodes)
    findings.repaired("self-loops", loops, f"{loops:,} self-loops dropped (added where needed).")
    findings.repaired("zero-weights", zeros, f"{zeros:,} edges of weight 0 dropped: no edge.")


def _report_edges(
    source: Source,
    findings: Findings,
    unknown: _First,
    negative: _First,
    invalid: _First,
    unknown_nodes: str,
) -> None:
    if unknown_nodes == "drop":
        findings.repaired(
            "unknown-nodes",
            unknown.count,
            f"{unknown.count:,} edges dropped that name a node without features "
            f"({unknown.named(unknown.places)}).",
        )
    else:
        known = (
            "the ids of the features" if source.ids is not None else f"0..{source.num_nodes - 1}"
        )
        findings.refused(
            "unknown-nodes",
            unknown.count,
            f"Edges: {unknown.count:,} name a node that has no features "
            f"({unknown.named(unknown.places)}); known nodes are {known}. Add those nodes, give "
            "the right id column (--id-column), or set data.unknown_nodes=drop.",
        )
    findings.refused(
        "negative-weights",
        negative.count,
        f"Edges: {negative.count:,} have a negative weight "
        f"({negative.named([source.name_edge(row) for row in negative.places])}). A weight is a "
        "strength above 0. Drop or rescale them.",
    )
    findings.refused(
        "invalid-weights",
        invalid.count,
        f"Edges: {invalid.count:,} have a missing or infinite weight "
        f"({invalid.named([source.name_edge(row) for row in invalid.places])}). Fill them in.",
    )


def note_shuffle(findings: Findings, counts: ShuffleCounts) -> None:
    """What merging the edges found."""
    findings.repaired(
        "duplicate-edges",
        counts.duplicates,
        f"{counts.duplicates:,} repeated edges merged (the largest weight is kept).",
    )
    findings.repaired(
        "one-way-edges",
        counts.one_way,
        f"{counts.one_way:,} edges were given in one direction only; both are stored.",
    )


def note_isolated(findings: Findings, isolated: int, num_nodes: int) -> None:
    findings.noted(
        "isolated-nodes", isolated, f"{isolated:,} of {num_nodes:,} nodes have no edge; kept."
    )
