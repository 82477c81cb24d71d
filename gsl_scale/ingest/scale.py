"""Standardising features, for columns in different units (age in years, income in cents)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from gsl_scale.ingest.source import Rows, Source

# Largest column spread over the median one, from which on 'auto' standardises. Pixels, counts and
# embeddings are below it; columns in different units are far above.
_FAR = 20.0
_BEND = 10.0  # log(1 + 10 x / mean): nearly linear below a tenth of the mean, a logarithm above


@dataclass(frozen=True)
class _Columns:
    """Of each column, without missing and infinite values."""

    mean: np.ndarray
    spread: np.ndarray
    lowest: np.ndarray


def scaled(source: Source, scale: str) -> Source:
    """The source with mean 0 and spread 1 in every column, if asked for or called for.

    `log`, which is what `auto` does if it does anything, first takes the logarithm of columns
    without a negative value: amounts are skewed, and a few large ones would drown the rest.
    """
    if scale == "none":
        return source
    columns = _columns(source)
    alive = columns.spread[columns.spread > 0]
    ratio = float(alive.max() / np.median(alive)) if len(alive) else 1.0
    if scale == "auto" and ratio < _FAR:
        return source
    done = "standardised"
    if scale != "standard":
        bent = (columns.lowest >= 0) & (columns.mean > 0)
        factor = np.where(bent, _BEND / np.where(bent, columns.mean, 1.0), 0.0)
        source = replace(source, features=_logarithms(source, factor.astype(np.float32)))
        columns = _columns(source)
        done = f"standardised, {bent.sum()} of {len(bent)} columns on a log scale"
    note = (
        f"features {done}: one column spreads {ratio:,.0f} times as far as the median one "
        "(data.scale=none keeps them as they are, standard leaves out logarithms)."
    )
    return replace(source, features=_standard(source, columns), notes=(*source.notes, note))


def _logarithms(source: Source, factor: np.ndarray) -> Callable[[], Iterator[Rows]]:
    def bend(rows: Rows) -> Rows:
        with np.errstate(invalid="ignore"):
            return np.where(factor > 0, np.log1p(rows * factor), rows)

    return lambda: (bend(rows) for rows in source.features())


def _standard(source: Source, columns: _Columns) -> Callable[[], Iterator[Rows]]:
    divisor = np.where(columns.spread > 0, columns.spread, 1.0).astype(np.float32)
    centre = columns.mean.astype(np.float32)
    return lambda: ((rows - centre) / divisor for rows in source.features())


def _columns(source: Source) -> _Columns:
    count, total, squares = (np.zeros(source.num_features) for _ in range(3))
    lowest = np.full(source.num_features, np.inf)
    for rows in source.features():
        finite = np.isfinite(rows)
        block = np.where(finite, rows, 0.0).astype(np.float64)
        count += finite.sum(axis=0)
        total += block.sum(axis=0)
        squares += (block * block).sum(axis=0)
        lowest = np.minimum(lowest, np.where(finite, rows, np.inf).min(axis=0, initial=np.inf))
    mean = total / np.maximum(count, 1)
    spread = np.sqrt(np.maximum(squares / np.maximum(count, 1) - mean**2, 0.0))
    return _Columns(mean, spread, lowest)
