import sys

import numpy as np
import pytest

from gsl_scale.store import mapped as module
from gsl_scale.store.mapped import let_go, mapped

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux")


@pytest.fixture
def rows(tmp_path):
    np.save(tmp_path / "rows.npy", np.arange(16 << 20, dtype=np.float32))  # 64 MiB
    return mapped(tmp_path / "rows.npy")


def resident():
    return module._resident() >> 20


def test_pages_that_are_let_go_of_come_back_when_looked_at(rows):
    before = resident()
    total = rows.sum(dtype=np.float64)
    view = rows[1000:2000]
    assert resident() - before > 50
    let_go(0)
    assert resident() - before < 10
    assert rows.sum(dtype=np.float64) == total
    assert (view == np.arange(1000, 2000)).all()


def test_few_pages_are_kept(rows):
    rows.sum()
    before = resident()
    let_go(2 * before << 20)
    assert resident() == before


def test_a_file_without_rows_is_read(tmp_path):
    np.save(tmp_path / "none.npy", np.empty((0, 3), np.float32))
    assert mapped(tmp_path / "none.npy").shape == (0, 3)
    let_go(0)


def test_maps_that_nobody_has_any_more_are_forgotten(tmp_path):
    np.save(tmp_path / "rows.npy", np.ones(10))
    count = len(module._maps)
    rows = mapped(tmp_path / "rows.npy")
    assert len(module._maps) == count + 1
    del rows
    assert len(module._maps) == count
