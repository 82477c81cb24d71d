import numpy as np
import pytest

from gsl_scale.ingest.scale import scaled
from gsl_scale.ingest.source import Source


def source(rows):
    blocks = np.array_split(rows.astype(np.float32), 3)
    return Source(len(rows), rows.shape[1], lambda: iter(blocks))


def read(one):
    return np.concatenate(list(one.features()))


def test_auto_standardises_columns_in_different_units():
    rng = np.random.default_rng(0)
    rows = np.column_stack(
        [rng.normal(40, 10, 300), rng.normal(5e4, 2e4, 300), rng.random(300), np.ones(300)]
    )
    found = scaled(source(rows), "auto")
    assert "features standardised" in found.notes[0]
    assert np.allclose(read(found).mean(axis=0), 0, atol=1e-3)
    assert np.allclose(read(found).std(axis=0), [1, 1, 1, 0], atol=1e-3)
    assert scaled(source(rows), "none").notes == ()


def test_auto_leaves_like_columns_alone():
    rows = np.random.default_rng(0).random((50, 8)) * np.arange(8)
    assert (read(scaled(source(rows), "auto")) == rows.astype(np.float32)).all()
    assert read(scaled(source(rows), "standard")).std() == pytest.approx((7 / 8) ** 0.5, abs=0.01)


def test_missing_values_stay_missing():
    rows = np.array([[1, 1e6], [np.nan, 2e6], [3, 5e6], [2, np.inf]])
    found = read(scaled(source(rows), "standard"))
    assert np.isnan(found[1, 0]) and np.isinf(found[3, 1])
    assert np.isfinite(found[[0, 2]]).all()
