import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsl_scale.store import ShardPlan
from gsl_scale.train import shards


class Counted:
    """Links of which only the number is known."""

    def __init__(self, degrees):
        self._degrees = np.array(degrees)

    def degrees(self, nodes):
        return self._degrees[nodes]


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch):
    monkeypatch.setattr(shards, "_AT_ONCE", 4)
    monkeypatch.setattr(shards, "_LINKS_AT_ONCE", 10)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40), st.integers(1, 5))
def test_every_node_once_and_not_too_many_links_at_a_time(degrees, num_shards):
    plan = ShardPlan(len(degrees), min(num_shards, len(degrees)))
    links = Counted(degrees)
    blocks = [one for shard, *_ in plan for one in shards.in_steps(plan, shard, links)]
    assert np.concatenate(blocks).tolist() == list(range(len(degrees)))
    for block in blocks:
        assert 1 <= len(block) <= 4
        assert len(block) == 1 or links.degrees(block).sum() <= 10


def test_without_links_only_rows_count():
    found = [block.tolist() for block in shards.in_steps(ShardPlan(10, 2), 1)]
    assert found == [[5, 6, 7, 8], [9]]
