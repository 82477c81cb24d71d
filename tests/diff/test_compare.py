"""Against a slow and plain comparison of sets."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from gsl_scale.diff.compare import diff
from gsl_scale.errors import InputError

PAIRS = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda p: p[0] != p[1]), min_size=1, max_size=25
)  # fmt: skip


def write(folder, name, pairs, columns=("src", "dst"), **more):
    path = folder / name
    frame = pd.DataFrame(pairs, columns=columns).assign(**more)
    frame.to_parquet(path) if name.endswith("parquet") else frame.to_csv(path, index=False)
    return str(path)


def as_set(pairs):
    return {frozenset(pair) for pair in pairs}


@settings(deadline=None, max_examples=50)
@given(old=PAIRS, new=PAIRS, labels=st.lists(st.integers(0, 2), min_size=8, max_size=8))
def test_sets_of_edges(tmp_path_factory, old, new, labels):
    folder = tmp_path_factory.mktemp("d")
    files = [write(folder, f"{name}.parquet", pairs) for name, pairs in (("o", old), ("n", new))]
    pd.DataFrame({"id": range(8), "label": labels}).to_csv(folder / "l.csv", index=False)
    before, after = as_set(old), as_set(new)
    if not set().union(*before) & set().union(*after):
        with pytest.raises(InputError, match="No node of"):
            diff(*files)
        return
    report = diff(*files, labels=str(folder / "l.csv"), num_listed=8)
    fates = {"kept": before & after, "dropped": before - after, "added": after - before}
    assert {name: report["edges"][name] for name in fates} == {n: len(f) for n, f in fates.items()}
    assert report["jaccard"] == pytest.approx(len(before & after) / len(before | after))
    for name, edges in {"old": before, "new": after, **fates}.items():
        same = [len({labels[end] for end in edge}) == 1 for edge in edges]
        assert report["homophily"][name]["edges"] == len(edges)
        assert report["homophily"][name]["share"] == (
            pytest.approx(np.mean(same)) if same else None
        )
    both = set().union(*before) & set().union(*after)
    assert report["match"]["both"] == len(both)
    listed = report["nodes"]["changed_most"]
    assert {row["id"] for row in listed} == both
    for row in listed:
        mine = [{edge for edge in side if row["id"] in edge} for side in (before, after)]
        assert (row["old_edges"], row["new_edges"]) == (len(mine[0]), len(mine[1]))
        assert row["kept_edges"] == len(mine[0] & mine[1])
        assert row["jaccard"] == pytest.approx(len(mine[0] & mine[1]) / len(mine[0] | mine[1]))
    order = [row["jaccard"] for row in listed]
    assert order == sorted(order)
    least = [row["jaccard"] for row in report["nodes"]["changed_least"]]
    assert least == sorted(least, reverse=True)
    degree = {node: sum(node in e for e in after) - sum(node in e for e in before) for node in both}
    assert report["degree"]["more"] == sum(shift > 0 for shift in degree.values())
    assert report["degree"]["shift"]["mean"] == pytest.approx(np.mean(list(degree.values())))


def test_a_graph_and_itself(learned_run, tmp_path):
    report = diff(str(learned_run), str(learned_run / "graph"))
    assert report["jaccard"] == 1.0
    assert report["edges"]["dropped"] == report["edges"]["added"] == 0
    assert report["weight"]["kept"]["heavier"] == report["weight"]["kept"]["lighter"] == 0
    assert report["degree"]["same"] == report["match"]["both"] == 60
    assert report["homophily"] is None


@pytest.mark.parametrize("kind", ["parquet", "csv", "npz"])
def test_every_export_is_the_same_graph(gsl, learned_run, tmp_path, kind):
    gsl("export", learned_run, "--format", kind, "--out", tmp_path / f"g.{kind}")
    report = diff(str(learned_run), str(tmp_path / f"g.{kind}"))
    assert report["jaccard"] == 1.0
    assert report["match"]["how"] == "by id"
    assert report["weight"]["kept"]["mean_change"] == pytest.approx(0, abs=1e-6)


def test_bare_parts_of_a_store_have_its_ids(learned_run):
    report = diff(str(learned_run / "knn"), str(learned_run / "graph/edges"))
    assert report["match"] == {"how": "by id", "both": 60, "only_old": 0, "only_new": 0}
    assert 0.5 < report["jaccard"] <= 1


def test_weights_of_kept_edges(tmp_path):
    old = write(tmp_path, "o.csv", [("a", "b"), ("b", "c"), ("c", "d")], weight=[0.5, 0.5, 0.5])
    new = write(tmp_path, "n.csv", [("b", "a"), ("a", "b"), ("c", "b")], weight=[0.25, 1, 0.25])
    kept = diff(old, new)["weight"]["kept"]
    assert (kept["heavier"], kept["lighter"], kept["same"]) == (1, 1, 0)
    assert kept["mean_change"] == pytest.approx((0.5 - 0.25) / 2)


def test_nodes_that_only_one_graph_has(tmp_path):
    old = write(tmp_path, "o.csv", [("a", "b"), ("b", "c")])
    new = write(tmp_path, "n.csv", [("a", "b"), ("b", "x"), ("y", "x")])
    report = diff(old, new)
    assert report["match"] == {"how": "by id", "both": 2, "only_old": 1, "only_new": 2}
    assert (report["edges"]["dropped_with_node"], report["edges"]["added_with_node"]) == (1, 2)
    assert "Only 2 of 5 nodes are in both" in report["notes"][-1]


def test_numbers_match_text_that_reads_the_same(tmp_path):
    old = write(tmp_path, "o.csv", [(7, 8), (8, 10)])
    new = write(tmp_path, "n.csv", [("7", "8"), ("8", "x")])
    report = diff(old, new)
    assert report["match"]["both"] == 2
    assert "compared with text" in report["match"]["how"]
    assert report["edges"]["kept"] == 1


def test_matrices_without_ids_match_by_number(tmp_path):
    sp.save_npz(tmp_path / "a.npz", sp.csr_matrix(np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]])))
    np.savez(tmp_path / "b.npz", indptr=[0, 1, 1, 2, 2], indices=[1, 3], shape=[4, 4])
    report = diff(str(tmp_path / "a.npz"), str(tmp_path / "b.npz"))
    assert report["match"] == {"how": "by number", "both": 3, "only_old": 0, "only_new": 1}
    assert (report["edges"]["kept"], report["edges"]["added"]) == (1, 1)


def test_a_headless_file_loses_no_edge(tmp_path):
    (tmp_path / "o.csv").write_text("a,b\nb,c\nc,a\n")
    report = diff(str(tmp_path / "o.csv"), str(tmp_path / "o.csv"))
    assert report["edges"]["kept"] == 3
    assert any("no header line" in note for note in report["notes"])


def test_homophily_by_node(tmp_path):
    old = write(tmp_path, "o.csv", [("a", "b"), ("a", "c"), ("d", "c")])
    new = write(tmp_path, "n.csv", [("a", "b"), ("d", "b"), ("d", "c")])
    labels = tmp_path / "l.csv"
    labels.write_text("who,kind\na,x\nb,x\nc,y\nd,\nzoe,y\n")
    found = diff(old, new, labels=str(labels), id_column="who", label_column="kind")
    assert found["homophily"]["labelled"] == 3
    assert found["homophily"]["chance"] == pytest.approx((2 / 3) ** 2 + (1 / 3) ** 2)
    assert found["homophily"]["old"] == {"edges": 2, "share": 0.5, "weighted": 0.5}
    [gained] = found["nodes"]["homophily_gained"]
    assert (gained["id"], gained["old_homophily"], gained["new_homophily"]) == ("a", 0.5, 1.0)
    assert found["nodes"]["homophily_lost"] == []


def test_labels_by_row(learned_run, tmp_path):
    np.save(tmp_path / "y.npy", np.arange(60) % 3)
    report = diff(str(learned_run / "knn"), str(learned_run), labels=str(tmp_path / "y.npy"))
    assert report["homophily"]["labelled"] == 60
    assert report["homophily"]["new"]["share"] > 0.6  # features are drawn around three centres
    np.save(tmp_path / "short.npy", np.zeros(7))
    with pytest.raises(InputError, match="7 rows and no ids; the graphs have 60 and 60 nodes"):
        diff(str(learned_run), str(learned_run), labels=str(tmp_path / "short.npy"))


def test_mistakes(tmp_path):
    good = write(tmp_path, "o.csv", [("a", "b")])
    for path, expected in (
        (str(tmp_path / "none.csv"), "does not exist"),
        (write(tmp_path, "w.csv", [("a", "b")], weight=[-1]), "negative weight"),
        (write(tmp_path, "z.csv", [("x", "y")]), "No node of"),
        (str(tmp_path), "holds no .parquet file"),
    ):
        with pytest.raises(InputError, match=expected):
            diff(good, path)
    sp.save_npz(tmp_path / "wide.npz", sp.csr_matrix(np.ones((2, 3))))
    with pytest.raises(InputError, match="as many columns as rows"):
        diff(good, str(tmp_path / "wide.npz"))
    (tmp_path / "l.csv").write_text("id,label\nq,1\n")
    with pytest.raises(InputError, match="names no node of either graph"):
        diff(good, good, labels=str(tmp_path / "l.csv"))
