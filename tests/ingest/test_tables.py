"""A user's own files, in every form we say we read."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from gsl_scale.store import Artifact
from tests.ingest.files import X, csv, frame

PAIRS = [(0, 1), (1, 2), (3, 0)]
BOTH = [(0, 1), (0, 3), (1, 0), (1, 2), (2, 1), (3, 0)]


def pairs(store: Artifact) -> list[tuple[int, int]]:
    edges = store.edges().read()
    return list(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))


def codes(store: Artifact) -> dict[str, int]:
    return {f["code"]: f["count"] for f in store.manifest.facts["findings"]}


class TestFeatureFiles:
    def check(self, store: Artifact) -> None:
        assert np.allclose(store.nodes().read(), X)

    def test_csv(self, ingest):
        frame().to_csv("x.csv", index=False)
        self.check(ingest(features="x.csv"))

    def test_csv_without_header(self, ingest):
        frame().to_csv("x.csv", index=False, header=False)
        self.check(ingest(features="x.csv"))

    @pytest.mark.parametrize("separator", [";", "|", "\t", " "])
    def test_other_separators_are_found(self, ingest, separator):
        frame().to_csv("x.csv", index=False, sep=separator)
        self.check(ingest(features="x.csv"))

    def test_tsv_and_gzip(self, ingest):
        frame().to_csv("x.tsv.gz", index=False, sep="\t")
        self.check(ingest(features="x.tsv.gz"))

    def test_byte_order_mark_and_windows_lines(self, ingest, tmp_path):
        text = "\ufeff" + frame().to_csv(index=False, lineterminator="\r\n")
        (tmp_path / "x.csv").write_text(text, newline="")
        store = ingest(features="x.csv", feature_columns=["a", "b"])
        self.check(store)

    def test_parquet(self, ingest):
        frame().to_parquet("x.parquet")
        self.check(ingest(features="x.parquet"))

    def test_parquet_folder_and_glob_in_order_of_name(self, ingest, tmp_path):
        (tmp_path / "parts").mkdir()
        frame()[:1].to_parquet("parts/0.parquet")
        frame()[1:].to_parquet("parts/1.parquet")
        self.check(ingest(features="parts"))
        self.check(ingest(features="parts/*.parquet"))

    def test_parquet_with_one_column_of_vectors(self, ingest):
        table = pa.table({"id": ["a", "b", "c", "d"], "vector": list(X)})
        pq.write_table(table, "x.parquet")
        self.check(ingest(features="x.parquet"))

    def test_npy(self, ingest):
        np.save("x.npy", X.astype(np.float64))
        self.check(ingest(features="x.npy"))
        np.save("x.npy", np.asfortranarray(X))
        self.check(ingest(features="x.npy"))

    @pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
    def test_npz(self, ingest, save):
        save("x.npz", features=X)
        self.check(ingest(features="x.npz"))

    def test_npz_csr(self, ingest):
        sp.save_npz("x.npz", sp.csr_matrix(X))
        self.check(ingest(features="x.npz"))
        csr = sp.csr_matrix(X)
        np.savez("y.npz", attr_data=csr.data, attr_indices=csr.indices, attr_indptr=csr.indptr,
                 attr_shape=csr.shape)  # fmt: skip
        self.check(ingest(features="y.npz"))

    def test_columns_are_chosen(self, ingest):
        frame().assign(town="x").to_csv("x.csv", index=False)
        store = ingest(features="x.csv", feature_columns=["b", "a"])
        assert np.allclose(store.nodes().read(), X[:, ::-1])

    def test_float16(self, ingest):
        np.save("x.npy", X)
        assert ingest(features="x.npy", dtype="float16").nodes().read().dtype == np.float16


class TestEdgeFiles:
    @pytest.fixture(autouse=True)
    def features(self, ingest):
        np.save("x.npy", X)

    def test_csv_and_names(self, ingest):
        pd.DataFrame(PAIRS, columns=["from", "to"]).to_csv("e.csv", index=False)
        store = ingest(features="x.npy", edges="e.csv")
        assert pairs(store) == BOTH
        assert codes(store)["one-way-edges"] == 3

    def test_extra_columns_in_any_order(self, ingest):
        rows = pd.DataFrame(PAIRS, columns=["dst", "src"]).assign(when="2020", weight=0.5)
        rows[["when", "dst", "weight", "src"]].to_csv("e.csv", index=False)
        store = ingest(features="x.npy", edges="e.csv")
        assert pairs(store) == BOTH
        assert set(store.edges().read().weight) == {0.5}

    def test_parquet(self, ingest):
        pd.DataFrame(PAIRS, columns=["source", "target"]).to_parquet("e.parquet")
        assert pairs(ingest(features="x.npy", edges="e.parquet")) == BOTH

    @pytest.mark.parametrize(
        "array", [np.array(PAIRS), np.array(PAIRS).T, np.array(PAIRS, np.int32)]
    )
    def test_npy(self, ingest, array):
        np.save("e.npy", array)
        assert pairs(ingest(features="x.npy", edges="e.npy")) == BOTH

    def test_npz(self, ingest):
        np.savez("e.npz", edge_index=np.array(PAIRS).T)
        assert pairs(ingest(features="x.npy", edges="e.npz")) == BOTH
        src, dst = np.array(PAIRS).T
        sp.save_npz("m.npz", sp.csr_matrix((np.ones(3), (src, dst)), (4, 4)))
        assert pairs(ingest(features="x.npy", edges="m.npz")) == BOTH

    def test_repairs_are_counted(self, ingest, tmp_path):
        lines = ["src,dst,weight", "0,1,1", "1,0,3", "0,1,2", "2,2,1", "2,3,0"]
        (tmp_path / "e.csv").write_text("\n".join(lines))
        store = ingest(features="x.npy", edges="e.csv")
        assert pairs(store) == [(0, 1), (1, 0)]
        assert store.edges().read().weight.tolist() == [3.0, 3.0]
        assert codes(store) == {
            "self-loops": 1,
            "zero-weights": 1,
            "duplicate-edges": 1,
            "isolated-nodes": 2,
        }


class TestIds:
    def test_strings_in_any_order_are_mapped_and_kept(self, ingest):
        frame().assign(name=["dee", "cy", "bo", "al"]).to_csv("x.csv", index=False)
        pd.DataFrame([("al", "dee"), ("bo", "cy")]).to_csv("e.csv", index=False, header=False)
        store = ingest(features="x.csv", edges="e.csv", id_column="name")
        assert store.columns("ids")["id"].to_pylist() == ["dee", "cy", "bo", "al"]
        assert pairs(store) == [(0, 3), (1, 2), (2, 1), (3, 0)]

    def test_the_first_line_is_an_edge_or_names(self, ingest, tmp_path):
        np.save("x.npy", np.ones((4, 1)) + np.arange(4)[:, None])
        (tmp_path / "e.csv").write_text("0,1\n1,2\n")
        store = ingest(features="x.npy", edges="e.csv")
        assert pairs(store) == [(0, 1), (1, 0), (1, 2), (2, 1)]
        assert "the first line (0,1) was read as data" in str(store.manifest.facts["findings"])

    def test_names_that_pandas_gives_to_columns_without_any(self, ingest):
        pd.DataFrame(np.ones((5, 3))).to_csv("x.csv", index=False)
        assert ingest(features="x.csv").nodes().shape == (5, 3)

    def test_numbers_with_gaps(self, ingest):
        frame().assign(id=[70, 7, 700, 7000])[["id", "a", "b"]].to_csv("x.csv", index=False)
        pd.DataFrame([(7, 7000)], columns=["src", "dst"]).to_csv("e.csv", index=False)
        store = ingest(features="x.csv", edges="e.csv")
        assert store.columns("ids")["id"].to_pylist() == [70, 7, 700, 7000]
        assert pairs(store) == [(1, 3), (3, 1)]

    def test_leading_zeros_stay_text(self, ingest):
        frame().assign(id=["007", "7", "08", "8"])[["id", "a", "b"]].to_csv("x.csv", index=False)
        pd.DataFrame([("007", "8")], columns=["src", "dst"]).to_csv("e.csv", index=False)
        store = ingest(features="x.csv", edges="e.csv")
        assert store.columns("ids")["id"].to_pylist() == ["007", "7", "08", "8"]
        assert pairs(store) == [(0, 3), (3, 0)]

    def test_row_numbers_need_no_mapping(self, ingest):
        frame().assign(id=range(4))[["id", "a", "b"]].to_csv("x.csv", index=False)
        assert "ids" not in ingest(features="x.csv")

    def test_integer_ids_in_parquet_against_text_in_edges(self, ingest):
        pa_table = pa.table({"id": [10, 20, 30, 40], "a": X[:, 0], "b": X[:, 1]})
        pq.write_table(pa_table, "x.parquet")
        pq.write_table(pa.table({"src": ["10"], "dst": ["40"]}), "e.parquet")
        assert pairs(ingest(features="x.parquet", edges="e.parquet")) == [(0, 3), (3, 0)]


class TestLabels:
    def test_in_the_features(self, ingest):
        frame().assign(kind=["cat", "dog", "", "cat"]).to_csv("x.csv", index=False)
        store = ingest(features="x.csv", label_column="kind")
        assert store.columns("labels")["label"].to_pylist() == [0, 1, None, 0]
        assert store.manifest.facts["classes"] == ["cat", "dog"]
        assert store.nodes().shape == (4, 2)

    def test_by_id_in_another_file_with_a_split(self, ingest):
        frame().assign(id=list("wxyz")).to_csv("x.csv", index=False)
        rows = {"id": ["z", "w", "y"], "label": [10, 9, 10], "part": ["train", "val", "test"]}
        pd.DataFrame(rows).to_csv("l.csv", index=False)
        store = ingest(features="x.csv", id_column="id", labels="l.csv", split_column="part")
        assert store.columns("labels")["label"].to_pylist() == [0, None, 1, 1]
        assert store.columns("labels")["split"].to_pylist() == ["valid", None, "test", "train"]
        assert store.manifest.facts["classes"] == ["9", "10"]

    def test_arrays_with_index_split(self, ingest):
        np.save("x.npy", X)
        np.savez("l.npz", labels=np.array([2, 0, 2, -1]), train=[0], valid=[1], test=[2])
        store = ingest(features="x.npy", labels="l.npz")
        assert store.columns("labels")["label"].to_pylist() == [1, 0, 1, None]
        assert store.columns("labels")["split"].to_pylist() == ["train", "valid", "test", None]

    def test_a_drawn_split(self, ingest):
        np.save("x.npy", np.repeat(X, 10, 0))
        np.save("l.npy", np.repeat([0, 1, 0, 1], 10))
        store = ingest(features="x.npy", labels="l.npy", split={"train": 4, "valid": 6})
        split = store.columns("labels")["split"].to_pylist()
        assert [split.count(name) for name in ("train", "valid", "test")] == [4, 6, 30]


class TestOptionalRepairs:
    def test_fill_missing(self, ingest, tmp_path):
        csv(tmp_path / "x.csv", "a,b", "1,", "nan,4", "4,5")
        store = ingest(features="x.csv", fill_missing=-1)
        assert store.nodes().read().tolist() == [[1, -1], [-1, 4], [4, 5]]
        assert codes(store)["missing-features"] == 2

    def test_drop_unknown_nodes(self, ingest, tmp_path):
        np.save(tmp_path / "x.npy", X)
        csv(tmp_path / "e.csv", "src,dst", "0,1", "0,9")
        store = ingest(features="x.npy", edges="e.csv", unknown_nodes="drop")
        assert pairs(store) == [(0, 1), (1, 0)]
        assert codes(store)["unknown-nodes"] == 1

    def test_zero_rows_and_constant_columns_are_noted(self, ingest, tmp_path):
        np.save(tmp_path / "x.npy", np.array([[0, 0, 0], [1, 0, 2], [2, 0, 1]]))
        assert codes(ingest(features="x.npy")) == {"zero-rows": 1, "constant-columns": 1}
