import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsl_scale.errors import InputError
from gsl_scale.store import ShardPlan


@given(st.integers(1, 10_000), st.integers(1, 100))
def test_shards_cover_every_node_once(num_nodes, num_shards):
    plan = ShardPlan(num_nodes, min(num_shards, num_nodes))
    covered = [node for _, start, stop in plan for node in range(start, stop)]
    assert covered == list(range(num_nodes))
    sizes = [stop - start for _, start, stop in plan]
    assert max(sizes) - min(sizes) <= 1
    owner = plan.owner(np.arange(num_nodes))
    assert all((owner[start:stop] == shard).all() for shard, start, stop in plan)


def test_auto_follows_the_number_of_nodes():
    assert ShardPlan.choose(10).num_shards == 1
    assert ShardPlan.choose(169_343).num_shards == 2
    assert ShardPlan.choose(10, 4).num_shards == 4


def test_more_shards_than_nodes():
    with pytest.raises(InputError, match="3 nodes cannot be split into 4 shards"):
        ShardPlan(3, 4)
