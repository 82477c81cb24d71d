"""New nodes in a user's own files: names, columns, scale, labels."""

import json

import numpy as np
import pytest

from gsl_scale.store.artifact import Artifact


@pytest.fixture
def people(tmp_path, gsl):
    """Twenty people with ids, columns in different units and labels."""
    rng = np.random.default_rng(0)
    lines = ["name,age,income,club,part"]
    for i in range(20):
        part = "train" if i < 8 else "valid" if i < 12 else "test"
        income = 100_000 * (1 + i % 2) + rng.integers(0, 9000)
        lines.append(f"p{i},{20 + 30 * (i % 2) + rng.integers(0, 5)},{income},{'ab'[i % 2]},{part}")
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "knows.csv").write_text("from,to\np0,p2\np1,p3\np5,p7\np4,p6\n")
    done = gsl(
        "refine", "--features", tmp_path / "people.csv", "--edges", tmp_path / "knows.csv",
        "--id-column", "name", "--label-column", "club", "--out", tmp_path / "run",
        "--set", "data.split_column=part", "--set", "data.scale=standard", "--set", "train.steps=2",
        "--set", "evaluate.seeds=1", "--set", "evaluate.epochs=5",
    )  # fmt: skip
    assert done.code == 0, done.err
    return tmp_path


def write(path, text):
    path.write_text(text)
    return path


def test_from_files_to_a_run_that_can_be_evaluated_and_exported(people, gsl):
    # Columns in another order, one more of them, and no split: new nodes are for testing.
    new = write(
        people / "new.csv", "income,shoe,name,age,club\n101000,40,ann,21,a\n205000,41,bob,52,b\n"
    )
    edges = write(people / "new-knows.csv", "from,to\nann,p0\nbob,ann\np0,p1\n")
    done = gsl("extend", people / "run", "--features", new, "--edges", edges,
               "--out", people / "more", "--json")  # fmt: skip
    assert done.code == 0, done.err
    said = json.loads(done.out)
    assert (said["nodes"], said["new"], said["alone"]) == (22, 2, 0)
    assert [f["code"] for f in said["findings"]] == ["old-edges"]

    data, before = Artifact.open(people / "more/data"), Artifact.open(people / "run/data")
    mean, spread = (np.array(before.manifest.facts["scaling"][key]) for key in ("mean", "spread"))
    expected = (np.array([[21, 101000], [52, 205000]]) - mean) / spread
    assert np.allclose(data.nodes().read()[20:], expected, atol=1e-5)
    assert np.array_equal(data.nodes().read()[:20], before.nodes().read())
    assert data.columns("ids")["id"].to_pylist()[18:] == ["p18", "p19", "ann", "bob"]
    given = {tuple(edge) for edge in zip(*data.edges().read()[:2], strict=True)}
    assert {(20, 0), (0, 20), (20, 21), (21, 20)} <= given and (0, 1) not in given
    labels = data.columns("labels").slice(20).to_pylist()
    assert labels == [{"label": 0, "split": "test"}, {"label": 1, "split": "test"}]

    assert gsl("evaluate", people / "more").code == 0
    scores = json.loads((people / "more/metrics.json").read_text())["classification"]
    assert "GCN, learned graph" in scores
    assert gsl("export", people / "more", "--out", people / "graph.csv").code == 0
    assert '"ann"' in (people / "graph.csv").read_text()
    assert gsl("status", people / "more").code == 0


def test_refusals_name_what_is_wrong_and_write_nothing(people, gsl):
    def refused(text, *more):
        new = write(people / "new.csv", text)
        done = gsl("extend", people / "run", "--features", new, "--out", people / "more", *more)
        assert done.code == 2
        assert not (people / "more/config.yaml").exists()
        return done.err.replace("\n", " ")

    assert "'p3'" in refused("name,age,income\np3,30,100000\n")
    assert "lacks 1 of the 2 feature columns of the run (first: 'income')" in refused(
        "name,age\nann,30\n"
    )
    assert "--id-column" in refused("age,income\n30,100000\n")
    assert "1 missing or NaN values" in refused("name,age,income\nann,,100000\n")
    assert "would change what was learned" in refused(
        "name,age,income\nann,30,1\n", "--set", "knn.k=3"
    )
    edges = write(people / "bad.csv", "from,to\nann,nobody\n")
    assert "ann -> nobody" in refused("name,age,income\nann,30,1\n", "--edges", edges)
    filled = write(people / "new.csv", "name,age,income\nann,,100000\n")
    done = gsl("extend", people / "run", "--features", filled, "--fill-missing", 0,
               "--out", people / "more")  # fmt: skip
    assert done.code == 0, done.err


def test_nodes_without_names_are_numbered_on(tmp_path, gsl):
    rows = np.random.default_rng(0).normal(size=(20, 3)).round(2)
    header = "a,b,c"
    np.savetxt(tmp_path / "x.csv", rows, "%g", ",", header=header, comments="")
    out = ("--out", tmp_path / "run", "--set", "train.steps=1")
    assert gsl("refine", "--features", tmp_path / "x.csv", *out).code == 0
    new = write(tmp_path / "new.csv", "id,a,b,c\n7,1,2,3\n8,0,1,1\n")
    done = gsl("extend", tmp_path / "run", "--features", new, "--out", tmp_path / "more")
    assert done.code == 2 and "New nodes are numbered on: 20, 21" in done.err.replace("\n", " ")
    write(new, "id,a,b,c\n20,1,2,3\n21,0,1,1\n")
    assert gsl("extend", tmp_path / "run", "--features", new, "--out", tmp_path / "more").code == 0
    assert "ids" not in Artifact.open(tmp_path / "more/data")


def test_labels_in_a_file_of_their_own_keep_the_run_s_classes(people, gsl):
    new = write(people / "new.csv", "name,age,income\nann,21,101000\nbob,52,205000\n")
    labels = write(people / "labels.csv", "name,club,shoe\nbob,z,41\nann,b,40\n")
    done = gsl("extend", people / "run", "--features", new, "--labels", labels,
               "--label-column", "club", "--out", people / "more")  # fmt: skip
    assert done.code == 0, done.err
    data = Artifact.open(people / "more/data")
    assert data.manifest.facts["classes"] == ["a", "b", "z"]
    assert data.columns("labels")["label"].to_pylist()[20:] == [1, 2]
