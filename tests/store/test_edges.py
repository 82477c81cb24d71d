import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from gsl_scale.errors import CorruptError
from gsl_scale.store import Artifact, Draft, EdgeShuffle, ShardPlan

NODES = 12
EDGES = st.lists(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1), st.floats(0.125, 8, width=32)),
    max_size=60,
)


def stored(folder, edges, num_shards, *, mirror=False, blocks=1):
    with Draft(folder, "edges", ShardPlan(NODES, num_shards)) as draft:
        shuffle = EdgeShuffle(draft, mirror=mirror)
        for block in np.array_split(np.array(edges, float).reshape(-1, 3), blocks):
            src, dst = block[:, :2].astype(np.int64).T
            shuffle.append(src, dst, block[:, 2].astype(np.float32))
        draft.add_table("edges", shuffle.finish())
        draft.publish()
    return Artifact.open(folder).edges(), shuffle.counts


@settings(deadline=None, max_examples=60)
@given(edges=EDGES, num_shards=st.integers(1, NODES), blocks=st.integers(1, 5))
def test_what_goes_in_comes_out_for_any_shard_count(tmp_path_factory, edges, num_shards, blocks):
    table, counts = stored(tmp_path_factory.mktemp("e") / "s", edges, num_shards, blocks=blocks)
    expected: dict[tuple[int, int], float] = {}
    for src, dst, weight in edges:
        expected[src, dst] = max(expected.get((src, dst), 0.0), weight)
    read = table.read()
    found = list(zip(read.src.tolist(), read.dst.tolist(), read.weight.tolist(), strict=True))
    assert found == [(*pair, weight) for pair, weight in sorted(expected.items())]
    assert counts.duplicates == len(edges) - len(expected)
    assert len(table) == len(expected)


@settings(deadline=None, max_examples=40)
@given(edges=EDGES, num_shards=st.integers(1, NODES))
def test_mirrored_edges_are_symmetric(tmp_path_factory, edges, num_shards):
    table, counts = stored(tmp_path_factory.mktemp("e") / "s", edges, num_shards, mirror=True)
    csr = table.csr()
    dense = sp.csr_matrix((csr.weight, csr.dst, csr.indptr), (NODES, NODES)).toarray()
    assert (dense == dense.T).all()
    given_pairs = {(src, dst) for src, dst, _ in edges}
    assert counts.one_way == sum((dst, src) not in given_pairs for src, dst in given_pairs)


@settings(deadline=None, max_examples=40)
@given(edges=EDGES, bounds=st.tuples(st.integers(0, NODES), st.integers(0, NODES)))
def test_any_range_of_nodes(tmp_path_factory, edges, bounds):
    table, _ = stored(tmp_path_factory.mktemp("e") / "s", edges, 4)
    start, stop = sorted(bounds)
    whole, some = table.read(), table.read(start, stop)
    inside = (whole.src >= start) & (whole.src < stop)
    assert all((a == b[inside]).all() for a, b in zip(some, whole, strict=True))
    csr = table.csr(start, stop)
    assert len(csr.indptr) == stop - start + 1
    assert csr.indptr[-1] == len(csr.dst) == inside.sum()


def test_reads_only_the_row_groups_of_a_range(tmp_path, monkeypatch):
    monkeypatch.setattr("gsl_scale.store.parquet.ROWS_PER_GROUP", 4)
    edges = [(i, j, 1.0) for i in range(NODES) for j in range(NODES)]
    table, _ = stored(tmp_path / "s", edges, 1)
    read = table.read(3, 5)
    assert read.src.tolist() == [3] * NODES + [4] * NODES


def test_a_flipped_byte_is_found_by_reading(tmp_path):
    rng = np.random.default_rng(0)
    edges = np.column_stack([rng.integers(0, NODES, (5000, 2)), rng.random(5000)])
    table, _ = stored(tmp_path / "s", edges, 1)
    path = tmp_path / "s/edges/part-00000.parquet"
    good = path.read_bytes()
    bad = bytearray(good)
    bad[len(bad) // 3] ^= 0x10
    path.write_bytes(bytes(bad))
    with pytest.raises(CorruptError, match=r"part-00000.parquet is damaged"):
        table.read()


def test_a_missing_part_is_named(tmp_path):
    table, _ = stored(tmp_path / "s", [(0, 1, 1.0)], 2)
    (tmp_path / "s/edges/part-00001.parquet").unlink()
    with pytest.raises(CorruptError, match=r"part-00001.parquet is missing"):
        table.read()


def test_spills_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("gsl_scale.store.edges._SPILL_AT", 16)
    edges = [(i % NODES, (i * 7) % NODES, 1.0) for i in range(200)]
    table, _ = stored(tmp_path / "s", edges, 5)
    assert len(table) == len({edge[:2] for edge in edges})
