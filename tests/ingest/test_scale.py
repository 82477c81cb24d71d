import numpy as np
import pytest

from gsl_scale.errors import InputError
from gsl_scale.ingest.scale import rescaled, scaled
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
    assert "features standardised, far values drawn in" in found.notes[0]
    alike = read(scaled(source(rows), "standard"))
    assert np.allclose(alike.mean(axis=0), 0, atol=1e-3)
    assert np.allclose(alike.std(axis=0), [1, 1, 1, 0], atol=1e-3)
    assert np.allclose(read(found), np.arcsinh(alike), atol=1e-6)
    assert scaled(source(rows), "none").notes == ()
    later = rescaled(source(rows[:7]), found.facts["scaling"])
    assert np.allclose(np.concatenate(list(later())), read(found)[:7], atol=1e-6)


def test_a_far_value_is_drawn_in_and_stays_the_farthest():
    rows = np.random.default_rng(0).normal(size=(500, 2)) * [1, 1000]
    rows[3, 1] = 1e5
    standard, drawn_in = (read(scaled(source(rows), scale)) for scale in ("standard", "asinh"))
    assert standard[3, 1] > 20 > 5 > drawn_in[3, 1] == drawn_in.max()


def test_auto_leaves_like_columns_alone():
    rows = np.random.default_rng(0).random((50, 8)) * np.arange(8)
    assert (read(scaled(source(rows), "auto")) == rows.astype(np.float32)).all()
    assert read(scaled(source(rows), "standard")).std() == pytest.approx((7 / 8) ** 0.5, abs=0.01)


def test_missing_values_stay_missing():
    rows = np.array([[1, 1e6], [np.nan, 2e6], [3, 5e6], [2, np.inf]])
    found = read(scaled(source(rows), "standard"))
    assert np.isnan(found[1, 0]) and np.isinf(found[3, 1])
    assert np.isfinite(found[[0, 2]]).all()


def test_logarithms_of_amounts():
    rows = np.random.default_rng(0).lognormal([0, 5, 10], 1.5, (400, 3)).astype(np.float32)
    found = scaled(source(rows), "log")
    assert "logarithms" in found.notes[0]
    expected = np.log1p(10 * rows / rows.mean(axis=0))
    expected = (expected - expected.mean(axis=0)) / expected.std(axis=0)
    assert np.allclose(read(found), expected, atol=1e-3)
    # Whatever the unit, and for rows that come later.
    assert np.allclose(read(scaled(source(rows * [1, 1e3, 1e-3]), "log")), expected, atol=1e-3)
    later = rescaled(source(rows[:7]), found.facts["scaling"])
    assert np.allclose(np.concatenate(list(later())), expected[:7], atol=1e-3)


def test_a_column_of_zeros_and_missing_values_have_logarithms_too():
    rows = np.array([[1, 0], [np.nan, 0], [3, 0], [0, 0]])
    found = read(scaled(source(rows), "log"))
    assert np.isnan(found[1, 0]) and np.isfinite(found[[0, 2, 3]]).all()
    assert (found[:, 1] == 0).all()


def test_negative_numbers_have_no_logarithm():
    rows = np.ones((9, 2))
    rows[7, 1] = -3
    with pytest.raises(InputError, match=r"found -3 in column 1, row 7") as refused:
        scaled(source(rows), "log")
    assert "data.scale=standard" in str(refused.value)
