"""Standardising features, for columns in different units (age in years, income in cents)."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from gsl_scale.ingest.source import Rows, Source

# Largest column spread over the median one, from which on 'auto' standardises. Pixels, counts and
# embeddings are below it; columns in different units are far above.
_FAR = 20.0


def scaled(source: Source, scale: str) -> Source:
    """The source with mean 0 and spread 1 in every column, if asked for or called for."""
    if scale == "none":
        return source
    mean, spread = _moments(source)
    alive = spread[spread > 0]
    ratio = float(alive.max() / np.median(alive)) if len(alive) else 1.0
    if scale == "auto" and ratio < _FAR:
        return source
    note = (
        f"features standardised: one column spreads {ratio:,.0f} times as far as the median one "
        "(data.scale=none keeps them as they are)."
    )
    divisor = np.where(spread > 0, spread, 1.0).astype(np.float32)
    centre = mean.astype(np.float32)

    scaling = {"mean": centre.tolist(), "spread": divisor.tolist()}
    facts = {**source.facts, "scaling": scaling}  # for rows that come later
    return replace(
        source, features=standardised(source, scaling), notes=(*source.notes, note), facts=facts
    )


def standardised(source: Source, scaling: dict[str, list[float]]) -> Callable[[], Iterator[Rows]]:
    """The features less their mean, divided by their spread."""
    centre, divisor = (np.array(scaling[name], np.float32) for name in ("mean", "spread"))
    return lambda: ((rows - centre) / divisor for rows in source.features())


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
