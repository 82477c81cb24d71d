import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsl_scale.errors import CorruptError, InputError
from gsl_scale.store import Artifact, Draft, ShardPlan
from gsl_scale.store.nodes import write_columns, write_rows


def stored(folder, rows, num_shards, num_blocks=1, dtype="float32"):
    with Draft(folder, "data", ShardPlan(len(rows), num_shards)) as draft:
        blocks = np.array_split(rows, num_blocks)
        draft.add_table("features", write_rows(draft, "features", blocks, rows.shape[1], dtype))
        draft.publish()
    return Artifact.open(folder).nodes()


@settings(deadline=None, max_examples=40)
@given(num_nodes=st.integers(1, 40), num_shards=st.integers(1, 8), num_blocks=st.integers(1, 9))
def test_rows_survive_any_cut(tmp_path_factory, num_nodes, num_shards, num_blocks):
    rows = np.random.default_rng(0).random((num_nodes, 3), np.float32)
    folder = tmp_path_factory.mktemp("n") / "s"
    table = stored(folder, rows, min(num_shards, num_nodes), num_blocks)
    assert table.shape == rows.shape
    assert (table.read() == rows).all()
    assert (
        table.read(num_nodes // 3, num_nodes // 2 + 1) == rows[num_nodes // 3 : num_nodes // 2 + 1]
    ).all()
    wanted = np.random.default_rng(1).integers(0, num_nodes, 10)
    assert (table.rows(wanted) == rows[wanted]).all()


def test_a_shard_is_a_view_of_the_file(tmp_path):
    table = stored(tmp_path / "s", np.ones((10, 2), np.float32), 2)
    assert isinstance(table.read(0, 5).base, np.memmap)
    assert not table.read(0, 5).flags.writeable


def test_float16(tmp_path):
    table = stored(tmp_path / "s", np.full((4, 2), 0.5, np.float32), 1, dtype="float16")
    assert table.read().dtype == np.float16


@pytest.mark.parametrize("given_rows", [3, 6])
def test_a_source_that_miscounted(tmp_path, given_rows):
    with (
        pytest.raises(InputError, match="5 rows were counted"),
        Draft(tmp_path / "s", "data", ShardPlan(5, 2)) as draft,
    ):
        write_rows(draft, "features", [np.ones((given_rows, 1), np.float32)], 1, "float32")
    assert list(tmp_path.iterdir()) == []


def test_columns(tmp_path):
    ids = pa.table({"id": list("abcdefg")})
    with Draft(tmp_path / "s", "data", ShardPlan(7, 3)) as draft:
        draft.add_table("ids", write_columns(draft, "ids", [ids[:4], ids[4:]]))
        draft.publish()
    assert Artifact.open(tmp_path / "s").columns("ids")["id"].to_pylist() == list("abcdefg")


def test_a_part_cut_short(tmp_path):
    table = stored(tmp_path / "s", np.ones((100, 4), np.float32), 1)
    path = tmp_path / "s/features/part-00000.npy"
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(CorruptError, match=r"part-00000.npy cannot be read"):
        table.read()
