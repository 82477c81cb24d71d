"""Every mistake in a user's own files that we say we find."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp

from tests.ingest.files import X, csv, frame


class TestRefusals:
    """What was found, where, and what to do."""

    @pytest.mark.parametrize(
        ("lines", "expected"),
        [
            (["a,b", "1,2", "3,", "4,5"], "1 missing or NaN values (line 3 column 'b')"),
            (["a,b", "1,2", "nan,4", "4,5"], "1 missing or NaN values (line 3 column 'a')"),
            (["a,b", "1,2", "3,inf", "4,5"], "1 infinite values (line 3 column 'b')"),
            (["a,b", "1,2", "3,1e60", "4,5"], "1 infinite values (line 3 column 'b')"),
            (["a,b", "1,2", "3,4;5", "4,5"], "'b' (line 3 holds '4;5')"),
            (["a,b", "1,2", "3;4", "4,5"], "line 3: expected 2 columns separated by ',', found 1: '3;4'"),
            (["a,b", "1,2", "3,4,5"], "line 3: expected 2 columns separated by ',', found 3"),
            (["a,town", "1,Rome", "3,Oslo"], "1 of 2 columns are not numbers: 'town' (line 2 holds 'Rome')"),
            (["a,b"], "has 0 rows and 2 feature columns"),
            (["a,b", "1,2"], "There is 1 node; a graph needs at least 2"),
            (["a,a", "1,2", "3,4"], "two columns called 'a'"),
            (["id,a", "x,1", "y,2", "x,3"], "1 ids appear more than once (first: 'x')"),
            (["id,a", "x,1", ",2", "z,3"], "1 rows have no id (first: row 1)"),
        ],
    )  # fmt: skip
    def test_feature_csv(self, refusal, tmp_path, lines, expected):
        csv(tmp_path / "x.csv", *lines)
        assert expected in refusal(features="x.csv")

    @pytest.mark.parametrize(
        ("lines", "expected"),
        [
            (["src,dst", "0,1", "1,9"], "1 name a node that has no features (line 3 (1 -> 9)); known nodes are 0..3"),
            (["src,dst", "0,1", "-1,2"], "1 name a node that has no features (line 3 (-1 -> 2))"),
            (["src,dst", "0,1", "1,"], "1 name a node that has no features (line 3"),
            (["src,dst", "0,1", "1,x"], "line 3: column 'dst' holds 'x', expected a whole number"),
            (["src,dst,weight", "0,1,1", "1,2,-3"], "1 have a negative weight (line 3)"),
            (["src,dst,weight", "0,1,1", "1,2,"], "1 have a missing or infinite weight (line 3)"),
            (["src,dst,weight", "0,1,1", "1,2,much"], "column 'weight' holds 'much'"),
            (["src", "0", "1"], "has one column ('src'), expected two"),
        ],
    )  # fmt: skip
    def test_edge_csv(self, refusal, tmp_path, lines, expected):
        np.save(tmp_path / "x.npy", X)
        csv(tmp_path / "e.csv", *lines)
        assert expected in refusal(features="x.npy", edges="e.csv")

    def test_all_refusals_at_once(self, refusal, tmp_path):
        csv(tmp_path / "x.csv", "a,b", "1,nan", "inf,2", "3,4")
        csv(tmp_path / "e.csv", "src,dst,weight", "0,7,1", "0,1,-1")
        text = refusal(features="x.csv", edges="e.csv")
        for found in ("missing or NaN", "infinite", "no features", "negative weight"):
            assert found in text

    @pytest.mark.parametrize(
        ("array", "expected"),
        [
            (np.ones(4), "has shape (4,), expected two dimensions"),
            (np.ones((2, 2, 2)), "has shape (2, 2, 2)"),
            (np.ones((4, 0)), "has shape (4, 0)"),
            (np.array([["a", "b"], ["c", "d"]]), "expected numbers"),
            (np.array([[1, None], [2, 3]], object), "holds Python objects"),
            (np.full((3, 2), np.nan), "6 missing or NaN values (row 0 column 0"),
        ],
    )
    def test_feature_arrays(self, refusal, tmp_path, array, expected):
        np.save(tmp_path / "x.npy", array)
        assert expected in refusal(features="x.npy")

    @pytest.mark.parametrize(
        ("array", "expected"),
        [
            (np.zeros((3, 3), int), "expected whole numbers of shape (edges, 2) or (2, edges)"),
            (np.zeros((3, 2)), "holds float64"),
        ],
    )
    def test_edge_arrays(self, refusal, tmp_path, array, expected):
        np.save(tmp_path / "x.npy", X)
        np.save(tmp_path / "e.npy", array)
        assert expected in refusal(features="x.npy", edges="e.npy")

    def test_edge_matrix_of_another_size(self, refusal, tmp_path):
        np.save(tmp_path / "x.npy", X)
        sp.save_npz(tmp_path / "e.npz", sp.eye(5, format="csr"))
        assert "is a 5 × 5 matrix, the features have 4 rows" in refusal(
            features="x.npy", edges="e.npz"
        )

    def test_files(self, refusal, tmp_path):
        assert "does not exist" in refusal(features="none.csv")
        assert "no file matches" in refusal(features="none/*.parquet")
        (tmp_path / "empty.csv").touch()
        assert "is empty (0 bytes)" in refusal(features="empty.csv")
        (tmp_path / "blank.csv").write_text("\n\n")
        assert "has no line with text" in refusal(features="blank.csv")
        (tmp_path / "folder").mkdir()
        assert "holds no .parquet file" in refusal(features="folder")
        (tmp_path / "x.xlsx").write_text("x")
        assert "of no kind that can be read" in refusal(features="x.xlsx")
        (tmp_path / "latin.csv").write_bytes("a,b\n1,é\n".encode("latin-1"))
        assert "not readable text" in refusal(features="latin.csv")
        (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n" * 100)[:30])
        assert "not readable text" in refusal(features="cut.csv.gz")

    def test_truncated_and_false_parquet(self, refusal, tmp_path):
        frame().to_parquet(tmp_path / "x.parquet")
        whole = (tmp_path / "x.parquet").read_bytes()
        (tmp_path / "x.parquet").write_bytes(whole[: len(whole) // 2])
        assert "cannot be read as Parquet" in refusal(features="x.parquet")
        (tmp_path / "x.parquet").write_text("a,b\n1,2\n")
        assert "cannot be read as Parquet" in refusal(features="x.parquet")

    def test_parts_of_different_tables(self, refusal, tmp_path):
        (tmp_path / "parts").mkdir()
        frame().to_parquet(tmp_path / "parts/0.parquet")
        frame().rename(columns={"a": "z"}).to_parquet(tmp_path / "parts/1.parquet")
        assert "Files of one table share their columns" in refusal(features="parts")

    def test_truncated_npy_and_npz(self, refusal, tmp_path):
        np.save(tmp_path / "x.npy", X)
        whole = (tmp_path / "x.npy").read_bytes()
        (tmp_path / "x.npy").write_bytes(whole[:-8])
        assert "cannot be read" in refusal(features="x.npy")
        (tmp_path / "x.npy").write_bytes(whole[:20])
        assert "cannot be read" in refusal(features="x.npy")
        (tmp_path / "x.npz").write_bytes(b"PK not a zip")
        assert "cannot be read" in refusal(features="x.npz")
        np.savez(tmp_path / "y.npz", other=X)
        assert "has the arrays other" in refusal(features="y.npz")

    def test_labels(self, refusal, tmp_path):
        np.save(tmp_path / "x.npy", X)
        np.save(tmp_path / "l.npy", [0, 1])
        assert "has 2 rows, the features have 4" in refusal(features="x.npy", labels="l.npy")
        np.save(tmp_path / "l.npy", np.eye(4))
        assert "expected one label per node" in refusal(features="x.npy", labels="l.npy")
        csv(tmp_path / "l.csv", "id,label", "0,a", "9,b")
        assert "names 1 nodes that have no features (first: 9)" in refusal(
            features="x.npy", labels="l.csv"
        )
        csv(tmp_path / "s.csv", "label,part", "a,train", "b,exam", "a,test", "b,test")
        assert "the split column holds 'exam'" in refusal(
            features="x.npy", labels="s.csv", split_column="part"
        )

    def test_columns_that_are_not_there(self, refusal, tmp_path):
        frame().to_csv(tmp_path / "x.csv", index=False)
        assert "there is no column 'name'" in refusal(features="x.csv", id_column="name")
        assert "Found: a, b" in refusal(features="x.csv", feature_columns=["c"])
        np.save(tmp_path / "x.npy", X)
        assert "it has no named columns" in refusal(features="x.npy", id_column="name")

    def test_float16_overflow(self, refusal, tmp_path):
        np.save(tmp_path / "x.npy", X * 1e6)
        assert "too large for the stored type" in refusal(features="x.npy", dtype="float16")
