"""Any valid table of edges and ids goes in and comes out the same, for any shard count."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsl_scale.config_file import make_config
from gsl_scale.ingest.write import write_data
from gsl_scale.store import Artifact

NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), exclude_characters='"'),
    min_size=1, max_size=6,
).map(str.strip).filter(lambda name: name and name.lower() not in NULLS)  # fmt: skip
NULLS = {"", "nan", "null", "na", "n/a", "none", "#n/a", "-nan", "#n/a n/a", "#na", "-1.#ind",
         "-1.#qnan", "1.#ind", "1.#qnan"}  # fmt: skip
IDS = st.one_of(
    st.lists(NAMES, min_size=2, max_size=12, unique=True),
    st.lists(st.integers(-(2**62), 2**62), min_size=2, max_size=12, unique=True),
)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@settings(deadline=None, max_examples=60)
@given(ids=IDS, data=st.data())
def test_round_trip(tmp_path_factory, kind, ids, data):
    folder = tmp_path_factory.mktemp("t")
    node = st.sampled_from(ids)
    weights = st.floats(0.015625, 64, width=32)
    edges = data.draw(st.dictionaries(st.tuples(node, node), weights, min_size=1, max_size=20))
    num_shards = data.draw(st.integers(1, len(ids)))

    rows = np.arange(len(ids), dtype=np.float32) + 1
    write = pacsv.write_csv if kind == "csv" else pq.write_table
    write(pa.table({"id": ids, "a": rows}), folder / f"x.{kind}")
    src, dst = zip(*edges, strict=True)
    write(
        pa.table({"src": src, "dst": dst, "weight": pa.array(list(edges.values()), pa.float32())}),
        folder / f"e.{kind}",
    )
    tables = {"features": str(folder / f"x.{kind}"), "edges": str(folder / f"e.{kind}")}
    write_data(
        make_config({"data": {"source": "tables", **tables}, "run": {"shards": num_shards}}),
        folder / "store",
    )
    store = Artifact.open(folder / "store")
    found_ids = store.columns("ids")["id"].to_pylist() if "ids" in store else list(range(len(ids)))
    assert [str(one) for one in found_ids] == [str(one) for one in ids]
    read = store.edges().read()
    found = {
        (str(found_ids[u]), str(found_ids[v])): w
        for u, v, w in zip(*(column.tolist() for column in read), strict=True)
    }
    expected: dict[tuple[str, str], float] = {}
    for (u, v), weight in edges.items():
        for pair in ((str(u), str(v)), (str(v), str(u))):
            if u != v:
                expected[pair] = max(expected.get(pair, 0.0), weight)
    assert found == expected
    assert store.nodes().read()[:, 0].tolist() == rows.tolist()
    assert list(store.damage()) == []
