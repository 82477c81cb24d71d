"""Efficiency falls for the reasons the model has, and for no others."""

import pytest

from gsl_scale.plan.simulate import simulate
from tests.plan.cases import case, cluster, costs

WORKERS = (1, 2, 4, 8)


def played(costs_=None, *sets, **update):
    planned = case(
        "run.shards=8", "train.steps=1000", "contrast.batch=8192", *sets, nodes=2_000_000
    )
    return simulate(planned, cluster(**update), costs_ or costs(), WORKERS)


def test_a_perfect_cluster_loses_little():
    found = played(bandwidth=1e15, latency=0.0)
    assert found[0].efficiency == found[0].step_efficiency == 1
    assert found[-1].step_efficiency > 0.7  # what is left is a step's fixed cost
    assert all(one.sending == pytest.approx(0, abs=1e-6) and one.waiting == 0 for one in found)


def test_a_slow_network_costs_efficiency():
    fast, slow = (played(bandwidth=b)[-1] for b in (1e10, 1e7))
    assert slow.sending > 100 * fast.sending
    assert slow.step_efficiency < fast.step_efficiency / 2


def test_everyone_waits_for_the_slowest():
    uneven = costs(jitter=[1.0, 1.0, 1.0, 1.5])
    one, *_, eight = played(uneven, bandwidth=1e15, latency=0.0)
    assert one.waiting == 0 < eight.waiting
    assert eight.step_efficiency < played(bandwidth=1e15, latency=0.0)[-1].step_efficiency


def test_fewer_shards_than_workers_leave_some_without_work():
    few = played(None, "run.shards=2")
    assert few[1].refresh == pytest.approx(few[-1].refresh, rel=0.05)
    many = played(None, "run.shards=64")
    assert many[-1].refresh < 0.5 * few[-1].refresh


def test_rows_that_no_node_can_keep_are_read_at_every_step():
    assert played(memory=2**40)[0].reading == 0
    assert played(memory=2**28)[0].reading > 0


def test_the_same_seed_gives_the_same_simulation():
    assert played() == played()
