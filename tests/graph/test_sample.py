"""Which edges a hop follows: unbiased, bounded, and the same whoever asks."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from gsl_scale.graph.sample import hop
from gsl_scale.store.links import LinkTable
from tests.links import linked

NODES = 120


@pytest.fixture(scope="module")
def matrix() -> sp.csr_matrix:
    found = sp.random(NODES, NODES, 0.1, format="lil", random_state=1, dtype=np.float32)
    found[7] = 1.0  # a hub
    found[50] = 0.0  # nobody
    return found.tocsr()


@pytest.fixture(scope="module")
def links(matrix, tmp_path_factory) -> LinkTable:
    return linked(matrix, tmp_path_factory.mktemp("links") / "graph")


def drawn(links, rows, **how) -> sp.csr_matrix:
    """The kept edges, scaled up, as rows of a whole matrix."""
    found = hop(links, rows, **how)
    weights = (found.value / found.chance).numpy()
    indptr, indices = found.pattern.indptr.numpy(), found.nodes[found.pattern.indices.numpy()]
    return sp.csr_matrix((weights, indices, indptr), (len(rows), NODES))


def test_all_edges_are_those_that_were_written(links, matrix):
    rows = np.array([0, 7, 41, 50, 119])
    assert abs(drawn(links, rows) - matrix[rows]).max() == 0
    assert (hop(links, rows).nodes[hop(links, rows).at] == rows).all()


@pytest.mark.parametrize("fanout", [None, 1, 4, 30])
def test_the_mean_over_many_draws_is_the_graph(links, matrix, fanout):
    rows = np.array([3, 7, 50, 80])
    draws = [drawn(links, rows, share=0.4, fanout=fanout, key=key) for key in range(1500)]
    mean = sum(draws) / len(draws)
    error = abs(mean - matrix[rows]).max(axis=1).toarray().ravel()
    spread = 4.5 * np.sqrt(np.maximum(1, np.diff(matrix[rows].indptr) / (fanout or 1)) / 1500)
    assert (error <= spread * max(1.0, abs(matrix).max())).all()


def test_no_row_is_longer_than_its_fanout_and_edges_are_distinct(links):
    rows = np.arange(NODES)
    for key in range(20):
        found = drawn(links, rows, share=0.0, fanout=5, key=key)
        assert np.diff(found.indptr).max() == 5
        assert (
            found.has_canonical_format or len(set(zip(*found.nonzero(), strict=True))) == found.nnz
        )


def test_a_node_s_edges_do_not_depend_on_who_else_is_asked_for(links):
    everyone, some = np.arange(NODES), np.array([2, 7, 33, 90])
    whole = drawn(links, everyone, share=0.5, fanout=3, key=9)[some]
    assert abs(whole - drawn(links, some, share=0.5, fanout=3, key=9)).max() == 0
    assert torch.equal(hop(links, some).is_loop, torch.from_numpy(
        np.repeat(some, links.degrees(some)) == hop(links, some).nodes[hop(links, some).pattern.indices]))  # fmt: skip
