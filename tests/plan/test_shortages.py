"""What does not fit is said, and doing as told makes it fit."""

import re

import pytest

from gsl_scale.plan.forecast import forecast
from gsl_scale.plan.shortages import shortages
from tests.plan.cases import case, cluster, costs

LARGE = {"nodes": 20_000_000, "features": 128}


def lacking(*sets, fatal=True, **update):
    found = forecast(case(*sets, **LARGE), cluster(**update), costs())
    return [one for one in shortages(found) if one.fatal == fatal]


def test_enough_of_everything():
    found = forecast(case("run.workers=4", "run.shards=8"), cluster(disk=1e12), costs())
    assert shortages(found) == []


def test_an_index_that_is_too_large_is_cut():
    plain = ("run.workers=8", "run.shards=64", "learner.context=none", "learner.width=0",
             "run.memory=60")  # fmt: skip
    found = [one for one in lacking(*plain, memory=16 * 2**30) if one.what.startswith("train")]
    assert "each worker needs" in found[0].what
    told = re.search(r"run\.memory=[\d.]+", found[0].remedy).group()
    after = [one.what for one in lacking(*plain, told.rstrip("."), memory=16 * 2**30)]
    assert not any(what.startswith("train") for what in after)


def test_a_context_needs_all_rows_in_one_process():
    sets = ("run.workers=4", "run.shards=64", "run.memory=1", "learner.context=smooth")
    found = [one for one in lacking(*sets, memory=20 * 2**30) if "starts the workers" in one.what]
    assert "learner.context=none" in found[0].remedy
    sets = (*sets[:3], "learner.context=none", "learner.width=0")
    after = [one.what for one in lacking(*sets, memory=20 * 2**30)]
    assert not any("starts the workers" in what for what in after)


def test_an_evaluation_that_is_too_large_is_left_out():
    found = [one for one in lacking("run.workers=4") if one.what.startswith("evaluate")]
    assert "--until export" in found[0].remedy


def test_a_disk_that_is_too_small():
    assert any("The run folder grows to" in one.what for one in lacking(disk=1e9))


@pytest.mark.parametrize(
    ("sets", "told"),
    [
        (("run.workers=8", "run.shards=4"), "share 4 shards"),
        (("run.workers=8", "run.shards=2000"), "4,000,000 small files"),
    ],
)
def test_what_merely_takes_long(sets, told):
    assert any(told in one.what for one in lacking(*sets, fatal=False))


def test_a_network_that_is_too_slow():
    assert any(
        "spent sending" in one.what for one in lacking("run.workers=8", fatal=False, bandwidth=1e6)
    )


def test_an_index_in_more_pieces_than_there_need_be():
    found = lacking("run.workers=16", "run.shards=64", fatal=False, nodes=16, memory=32 * 2**30)
    told = next(one for one in found if "pieces" in one.what)
    assert told.remedy.startswith("Set run.memory=19.2")
