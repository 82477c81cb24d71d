"""Columns in different units (age in years, income in cents) and skewed amounts, made alike."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypedDict

import numpy as np

from gsl_scale.errors import InputError
from gsl_scale.ingest.source import Rows, Source

# Largest column spread over the median one, from which on 'auto' scales. Pixels, counts and
# embeddings are below it; columns in different units are far above.
_FAR = 20.0
_BEND = 10.0  # 'log' is log(1 + x / unit), where the unit is the column's mean over this


class Scaling(TypedDict, total=False):
    """Kept as a fact of the data, for rows that come later. Lists have a number per column."""

    unit: list[float]  # of logarithms
    mean: list[float]
    spread: list[float]
    drawn_in: bool  # asinh, after the others


def scaled(source: Source, scale: str) -> Source:
    """The source with mean 0 and spread 1 in every column, if asked for or called for: with `log`
    of the logarithms, with `asinh` far values drawn in afterwards (3 becomes 1.8, 30 becomes 4.1).
    """
    if scale == "none":
        return source
    scaling: Scaling = {}
    if scale == "log":
        mean, _ = _moments(source)
        scaling["unit"] = np.where(mean > 0, mean / _BEND, 1.0).tolist()
    mean, spread = _moments(replace(source, features=rescaled(source, scaling)))
    alive = spread[spread > 0]
    ratio = float(alive.max() / np.median(alive)) if len(alive) else 1.0
    if scale == "auto":
        if ratio < _FAR:
            return source
        scale = "asinh"
    scaling["mean"] = mean.astype(np.float32).tolist()
    scaling["spread"] = np.where(spread > 0, spread, 1.0).astype(np.float32).tolist()
    how = "standardised"
    if scale == "asinh":
        scaling["drawn_in"] = True
        how += ", far values drawn in"
    note = (
        f"features {how}: one column spreads {ratio:,.0f} times as far as the median one "
        "(data.scale=none keeps them as they are)."
    )
    if scale == "log":
        note = "features are standardised logarithms (data.scale=log)."
    return replace(
        source,
        features=rescaled(source, scaling),
        notes=(*source.notes, note),
        facts={**source.facts, "scaling": scaling},
    )


def rescaled(source: Source, scaling: Scaling) -> Callable[[], Iterator[Rows]]:
    """The features as `scaling` says."""
    unit, mean, spread = (
        np.array(scaling.get(key, ()), np.float32) for key in ("unit", "mean", "spread")
    )

    def blocks() -> Iterator[Rows]:
        first = 0
        for block in source.features():
            rows = block
            if len(unit):
                _require_amounts(source, rows, first)
                rows = np.log1p(rows / unit)
            if len(mean):
                rows = (rows - mean) / spread
            if scaling.get("drawn_in"):
                rows = np.arcsinh(rows)
            first += len(block)
            yield rows

    return blocks


def _require_amounts(source: Source, rows: Rows, first: int) -> None:
    negative = np.argwhere(rows < 0)
    if len(negative):
        row, column = (int(at) for at in negative[0])
        raise InputError(
            f"Features: data.scale=log takes amounts, 0 or more; found {rows[row, column]:g} in "
            f"column {source.feature_name(column)}, {source.name_row(first + row)}.",
            "A negative number has no logarithm.",
            "Use data.scale=standard, or leave that column out.",
        )


def _moments(source: Source) -> tuple[np.ndarray, np.ndarray]:
    """Mean and spread of each column, without missing and infinite values."""
    count, total, squares = (np.zeros(source.num_features) for _ in range(3))
    for rows in source.features():
        finite = np.isfinite(rows)
        block = np.where(finite, rows, 0.0).astype(np.float64)
        count += finite.sum(axis=0)
        total += block.sum(axis=0)
        squares += (block * block).sum(axis=0)
    mean = total / np.maximum(count, 1)
    return mean, np.sqrt(np.maximum(squares / np.maximum(count, 1) - mean**2, 0.0))
