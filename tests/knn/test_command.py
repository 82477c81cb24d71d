"""`gsl-scale knn` as a person meets it."""

import json

import numpy as np
import pandas as pd
import pytest


def save(folder, rows):
    np.save(folder / "x.npy", np.asarray(rows, np.float32))
    return folder / "x.npy"


def test_neighbours_of_a_file(gsl, tmp_path):
    rows = np.random.default_rng(0).normal(size=(60, 4))
    done = gsl("knn", save(tmp_path, rows), "--k", 5, "--out", tmp_path / "out")
    assert done.code == 0 and "60 rows, 5 neighbours each, cosine, exact" in done.out
    edges = pd.read_parquet(tmp_path / "out/knn/edges")
    assert (edges.groupby("src").size() == 5).all() and (edges.src != edges.dst).all()
    again = gsl("knn", save(tmp_path, rows), "--k", 5, "--out", tmp_path / "out", "--json")
    facts = json.loads(again.out)
    assert (facts["rows"], facts["k"], facts["index"]) == (60, 5, "exact")


def test_own_ids_come_back(gsl, tmp_path):
    (tmp_path / "people.csv").write_text("name,a,b\nann,1,0\nbob,1,0.1\ncy,0,1\n")
    run = gsl("knn", tmp_path / "people.csv", "--k", 1, "--id-column", "name",
              "--out", tmp_path / "out")  # fmt: skip
    assert run.code == 0
    done = gsl("export", tmp_path / "out/knn", "--out", tmp_path / "near.csv")
    assert "3 rows, one for each neighbour" in done.out
    near = pd.read_csv(tmp_path / "near.csv").set_index("src").dst
    assert near.to_dict() == {"ann": "bob", "bob": "ann", "cy": "bob"}


def test_an_approximate_search_says_what_it_found(gsl, tmp_path):
    rows = np.random.default_rng(0).normal(size=(3000, 4))
    done = gsl("knn", save(tmp_path, rows), "--k", 5, "--index", "ivf", "--out", tmp_path / "out")
    assert done.code == 0 and "on 1,000 rows that were checked" in done.out


@pytest.mark.parametrize(
    ("rows", "k", "said"),
    [
        (np.ones((5, 3)), 5, "knn.k is 5, and there are only 5 nodes"),
        (np.ones((1, 3)), 1, "There is 1 node; a graph needs at least 2"),
        (np.full((6, 2), np.nan), 2, "missing"),
    ],
)
def test_what_cannot_be_searched(gsl, tmp_path, rows, k, said):
    done = gsl("knn", save(tmp_path, rows), "--k", k, "--out", tmp_path / "out")
    assert done.code == 2 and said in done.err
    assert not (tmp_path / "out/knn").exists()


def test_one_column_and_rows_of_zeros(gsl, tmp_path):
    rows = [[1], [2], [-1], [0], [3]]
    assert gsl("knn", save(tmp_path, rows), "--k", 2, "--out", tmp_path / "out").code == 0
    edges = pd.read_parquet(tmp_path / "out/knn/edges")
    assert edges[edges.src == 4].dst.tolist() == [0, 1]  # all point the same way: the lower rows
    assert edges[edges.src == 3].weight.tolist() == [0, 0]
