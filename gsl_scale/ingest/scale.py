"""Standardising features, for columns in different units (age in years, income in cents)."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from sklearn.preprocessing import PowerTransformer

from gsl_scale.ingest.source import Rows, Source

# Largest column spread over the median one, from which on 'auto' standardises. Pixels, counts and
# embeddings are below it; columns in different units are far above.
_FAR = 20.0
_SAMPLE = 50_000  # rows, about, that the exponents are fitted on


def scaled(source: Source, scale: str) -> Source:
    """The source with mean 0 and spread 1 in every column, if asked for or called for.

    `power`, which is what `auto` does if it does anything, also bends each column as likelihood
    says (Yeo-Johnson): amounts are skewed, and a few large ones would drown the rest.
    """
    if scale == "none":
        return source
    spread = _moments(source)[1]
    alive = spread[spread > 0]
    ratio = float(alive.max() / np.median(alive)) if len(alive) else 1.0
    if scale == "auto" and ratio < _FAR:
        return source
    done = "standardised"
    if scale != "standard":
        done = "made less skewed and standardised"
        source = replace(source, features=_bent(source))
    note = (
        f"features {done}: one column spreads {ratio:,.0f} times as far as the median one "
        "(data.scale=none keeps them as they are, standard only standardises)."
    )
    return replace(source, features=_standard(source), notes=(*source.notes, note))


def _standard(source: Source) -> Callable[[], Iterator[Rows]]:
    mean, spread = _moments(source)
    divisor = np.where(spread > 0, spread, 1.0).astype(np.float32)
    centre = mean.astype(np.float32)
    return lambda: ((rows - centre) / divisor for rows in source.features())


def _bent(source: Source) -> Callable[[], Iterator[Rows]]:
    """Each column, in units of its median size, with the exponent that makes it most normal.

    What is not a number stays what it is, for the checks that come after to name.
    """
    stride = max(1, source.num_nodes // _SAMPLE)
    sample = _finite(np.concatenate([block[::stride] for block in source.features()]))
    size = np.nan_to_num(np.nanmedian(np.abs(sample), axis=0))
    size[size == 0] = 1.0
    bend = PowerTransformer("yeo-johnson", standardize=False).fit(sample / size)

    def bent(rows: Rows) -> Rows:
        found = bend.transform(_finite(rows) / size)
        return np.where(np.isfinite(rows), found, rows)

    return lambda: (bent(rows) for rows in source.features())


def _finite(rows: Rows) -> np.ndarray:
    return np.where(np.isfinite(rows), rows, np.nan).astype(np.float64)


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
