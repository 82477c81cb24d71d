import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from gsl_scale.config_file import make_config
from gsl_scale.errors import InputError
from gsl_scale.evaluate.perturb import (
    add_edges,
    delete_edges,
    drop_features,
    mask_features,
    perturb_rows,
    rewire_edges,
)
from gsl_scale.ingest.write import write_data
from gsl_scale.store import Artifact
from gsl_scale.store.matrix import edges_matrix

EDGE_DAMAGE = [delete_edges, add_edges, rewire_edges]
rates = st.floats(0, 0.95)
seeds = st.integers(0, 2**40)


@st.composite
def graphs(draw):
    """Undirected, weighted, sparse enough that every edge could be put elsewhere."""
    num_nodes = draw(st.integers(10, 30))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    upper = np.triu(rng.random((num_nodes, num_nodes)) < 0.2, 1) * rng.random(2 * (num_nodes,))
    return sp.csr_matrix((upper + upper.T).astype(np.float32))


def pairs(graph):
    upper = sp.triu(graph, 1).tocoo()
    return set(zip(upper.row.tolist(), upper.col.tolist(), strict=True))


def rounded(number):
    return int(np.floor(number + 0.5))


@settings(max_examples=60, deadline=None)
@given(graphs(), rates, seeds, st.sampled_from(EDGE_DAMAGE))
def test_damage_is_undirected_seeded_and_leaves_the_graph_alone(graph, rate, seed, damage):
    before = graph.copy()
    damaged = damage(graph, rate, seed)
    assert (graph != before).nnz == 0
    assert (damaged != damaged.T).nnz == 0
    assert not damaged.diagonal().any()
    assert (damaged != damage(graph, rate, seed)).nnz == 0
    assert damaged.dtype == np.float32
    assert set(damaged.data.tolist()) <= set(graph.data.tolist())  # weights that there were


@settings(max_examples=60, deadline=None)
@given(graphs(), rates, seeds)
def test_the_rate_is_exact(graph, rate, seed):
    old = pairs(graph)
    wanted = rounded(rate * len(old))
    deleted, added = pairs(delete_edges(graph, rate, seed)), pairs(add_edges(graph, rate, seed))
    assert deleted <= old and len(old - deleted) == wanted
    assert added >= old and len(added - old) == wanted
    rewired = pairs(rewire_edges(graph, rate, seed))
    assert len(rewired) == len(old) and len(rewired - old) == wanted


@settings(max_examples=40, deadline=None)
@given(graphs(), rates, rates, seeds)
def test_rates_are_nested(graph, one, other, seed):
    low, high = sorted((one, other))
    assert pairs(delete_edges(graph, low, seed)) >= pairs(delete_edges(graph, high, seed))
    assert pairs(add_edges(graph, low, seed)) <= pairs(add_edges(graph, high, seed))


def test_all_edges_are_equally_likely_to_go():
    ring = sp.csr_matrix(np.roll(np.eye(12, dtype=np.float32), 1, axis=1))
    graph = sp.csr_matrix(ring + ring.T)
    gone = sp.csr_matrix((12, 12), dtype=np.float32)
    for seed in range(400):
        gone = gone + (graph - delete_edges(graph, 0.25, seed))
    counts = gone.data / 2  # 100 expected, with a standard deviation of 8.7
    assert len(gone.data) == 24
    assert np.all(np.abs(gone.data - 100) < 45) and counts.sum() == 1200


def test_new_edges_reach_everywhere():
    path = sp.diags_array([np.ones(19)], offsets=[1], format="csr", dtype=np.float32)
    graph = sp.csr_matrix(path + path.T)
    found = {}
    for seed in range(300):
        for pair in pairs(add_edges(graph, 0.5, seed)) - pairs(graph):
            found[pair] = found.get(pair, 0) + 1
    assert len(found) == 20 * 19 // 2 - 19  # every pair that was free
    assert max(found.values()) < 45  # 17.5 expected


def test_where_there_is_no_room():
    full = sp.csr_matrix(1 - np.eye(5, dtype=np.float32))
    with pytest.raises(
        InputError, match="1 edges cannot be added: of 5 nodes with 10 edges only 0"
    ):
        add_edges(full, 0.1)
    assert add_edges(full, 0.0).nnz == 20


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.integers(1, 20), rates, seeds, st.integers(1, 7))
def test_features(num_rows, dim, rate, seed, cut):
    rows = np.random.default_rng(seed).integers(0, 3, (num_rows, dim)).astype(np.float32)
    before = rows.copy()
    masked = mask_features(rows, rate, seed)
    dropped = drop_features(rows, rate, seed)
    assert np.array_equal(rows, before)
    hidden = (masked == 0).all(axis=0)
    assert hidden.sum() >= rounded(rate * dim)
    assert np.array_equal(masked[:, ~hidden], rows[:, ~hidden])
    lost = (rows != 0).sum(axis=1) - (dropped != 0).sum(axis=1)
    assert lost.tolist() == [rounded(rate * (row != 0).sum()) for row in rows]
    assert np.array_equal(dropped[dropped != 0], rows[dropped != 0])
    # Rows that come in blocks have the same fate.
    config = make_config(
        {
            "data": {
                "source": "synthetic",
                "nodes": 9,
                "perturb": {"drop_features": rate, "seed": seed},
            }
        }
    )
    blocks = [
        perturb_rows(rows[at : at + cut], config.data.perturb, at) for at in range(0, num_rows, cut)
    ]
    assert np.array_equal(np.concatenate(blocks), dropped if rate else rows)


SYNTHETIC = {"source": "synthetic", "nodes": 300, "degree": 4, "features": 16}


def ingested(folder, **perturb):
    data = {**SYNTHETIC, "perturb": perturb} if perturb else SYNTHETIC
    write_data(make_config({"data": data, "run": {"shards": 3}}), folder)
    return Artifact.open(folder)


def test_ingest_damages_what_it_stores(tmp_path):
    clean = ingested(tmp_path / "clean")
    damaged = ingested(tmp_path / "damaged", delete=0.5, mask_features=0.25, seed=7)
    damaged.verify()
    given, left = edges_matrix(clean), edges_matrix(damaged)
    assert (left != delete_edges(given, 0.5, 7)).nnz == 0
    rows = np.array(clean.nodes().read())
    assert np.array_equal(damaged.nodes().read(), mask_features(rows, 0.25, 7))
    notes = [found["text"] for found in damaged.manifest.facts["findings"]]
    said = "damaged on purpose (data.perturb, seed 7): 50% of edges deleted, 25% of columns masked."
    assert said in notes
    isolated = int((np.diff(left.indptr) == 0).sum())
    assert any(f"{isolated} of 300 nodes have no edge" in note for note in notes)


def test_no_damage_asked_for_is_the_same_data(tmp_path):
    clean = ingested(tmp_path / "clean").manifest
    assert ingested(tmp_path / "same", delete=0.0).manifest.content == clean.content
    assert "data.perturb" not in clean.config  # runs of before there was such a key stay valid


def test_damage_to_a_graph_that_is_not_there(gsl):
    done = gsl("check", "configs/quickstart.yaml", "--set", "data.perturb.delete=0.3")
    assert done.code == 2 and "There are no edges to delete" in done.err
    done = gsl("check", "configs/quickstart.yaml", "--set", "data.perturb.delet=0.3")
    assert done.code == 2 and "did you mean data.perturb.delete?" in done.err
    done = gsl("check", "configs/quickstart.yaml", "--set", "data.perturb.drop_features=0.3")
    assert done.code == 0 and "30% of values dropped" in done.out
