"""The rule for ties, and that it holds however the search is cut."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsl_scale.knn.exact import ExactIndex, all_neighbours
from gsl_scale.knn.neighbours import joined, pair_similarity, unit_rows


def by_the_rule(rows, k):
    """Most similar first, among equals the lower id, never oneself."""
    unit = unit_rows(rows)
    n = len(unit)
    which, ids = np.repeat(np.arange(n), n), np.tile(np.arange(n), n)
    similarity = pair_similarity(unit, unit, which, ids).reshape(n, n)
    np.fill_diagonal(similarity, -np.inf)
    order = np.argsort(-similarity, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(similarity, order, 1)


def sharded(unit, k, num_shards, batch):
    """Every shard of the index searched on its own, and the best of all."""
    cuts = np.linspace(0, len(unit), num_shards + 1).astype(int)
    shards = [ExactIndex(unit[a:b], a) for a, b in pairwise(cuts) if b > a]
    found = []
    for at in range(0, len(unit), batch):
        answers = [shard.search(unit[at : at + batch], at, k) for shard in shards]
        found.append(joined(answers, axis=1).best(k))
    return joined(found, axis=0)


@settings(deadline=None, max_examples=60)
@given(
    num_nodes=st.integers(2, 150),
    dim=st.integers(1, 6),
    levels=st.sampled_from([1, 2, 3, 1000]),  # few levels: ties and zero rows in masses
    num_shards=st.integers(1, 4),
    batch=st.integers(1, 160),
    seed=st.integers(0, 99),
)
def test_ties_go_to_the_lower_id_however_it_is_cut(num_nodes, dim, levels, num_shards, batch, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, levels + 1, (num_nodes, dim)).astype(np.float32)
    k = int(rng.integers(1, min(num_nodes, 12)))
    ids, similarity = by_the_rule(rows, k)
    found = sharded(unit_rows(rows), k, num_shards, batch)
    assert (found.ids == ids).all()
    assert (found.similarity == similarity).all()  # the very bits
    whole = all_neighbours(rows, k, batch)
    assert (whole.ids == np.sort(ids, axis=1)).all()


@pytest.mark.parametrize("dim", [1, 64])
def test_masses_of_one_vector(dim):
    rows = np.ones((20_000, dim), np.float32)
    found = all_neighbours(rows, 5)
    assert (found.ids[7:] == np.arange(5)).all()
    assert (found.ids[2] == [0, 1, 3, 4, 5]).all()
    assert np.allclose(found.similarity, 1)


def test_rows_of_zeros_have_no_direction():
    rows = np.zeros((50, 4), np.float32)
    rows[10:] = np.random.default_rng(0).normal(size=(40, 4))
    found = all_neighbours(rows, 3)
    assert (found.similarity[:10] == 0).all()
    assert (found.ids[5] == [0, 1, 2]).all()
