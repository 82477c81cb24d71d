import json
from pathlib import Path

from gsl_scale.config import AUTO
from gsl_scale.evaluate.reproduce import ROWS, asked

SHORT = ["--set", "train.steps=2", "--set", "train.refresh=1", "--set", "evaluate.seeds=1",
         "--set", "evaluate.epochs=5", "--set", "evaluate.cluster_runs=1"]  # fmt: skip


def test_cells_are_kept_and_the_table_is_whole(gsl, tmp_path):
    call = ["reproduce", "--only", "wine", "--seeds", 2, "--out", tmp_path, *SHORT]
    (row,) = json.loads(gsl(*call, "--json").out)
    assert (row["row"], row["paper"], row["seeds"]) == ("wine", 98.2, 2)
    assert 0 < row["label_free"]["mean"] <= 100
    assert "given_graph" not in row
    cells = {path: path.stat().st_mtime_ns for path in tmp_path.glob("wine-seed*.json")}
    assert len(cells) == 4  # the row's and the preset's
    assert len(json.loads(next(iter(cells)).read_text())["curve"]) == 3  # start, step 1, step 2
    assert "wine" in gsl(*call).out
    assert {path: path.stat().st_mtime_ns for path in cells} == cells
    gsl(*call, "--set", "knn.k=5")
    assert len(list(tmp_path.glob("wine-*"))) == 8  # another config, other cells


def test_a_row_with_settings_of_its_own_has_another_preset(gsl, tmp_path):
    call = ["reproduce", "--only", "digits", "--seeds", 1, "--out", tmp_path, *SHORT]
    (row,) = json.loads(gsl(*call, "--json").out)
    found = [json.loads(path.read_text()) for path in tmp_path.glob("digits-seed*.json")]
    means = [cell["label_free"]["mean"] for cell in found]
    assert len(found) == 2
    assert sorted(means) == sorted([row["label_free"]["mean"], row["preset"]["mean"]])


def test_the_preset_knows_nothing_of_what_a_row_sets(tmp_path):
    (wine,) = (row for row in ROWS if row.config == "wine")
    ask = asked(wine, 0, Path("configs"), tmp_path, ["train.steps=2"])
    assert (ask.config.data.scale, ask.config.knn.k, ask.config.learner.own) == ("log", 40, 0.5)
    assert ask.preset.data.scale == "auto"
    assert ask.preset.knn.k == ask.preset.learner.own == AUTO
    assert ask.preset.data.split_seed == ask.config.data.split_seed
    assert ask.preset.train.steps == ask.config.train.steps == 2


def test_a_graph_is_judged_as_often_as_the_authors_do(gsl, tmp_path):
    call = ["reproduce", "--only", "wine", "--seeds", 1, "--out", tmp_path, *SHORT]
    gsl(*call, "--set", "train.steps=12", "--set", "train.refresh=6")
    curve = json.loads(next(tmp_path.glob("wine-seed*.json")).read_text())["curve"]
    assert [step for step, _, _ in curve] == [0, 5, 6, 10, 12]


def test_a_row_that_is_not_in_the_table(gsl, tmp_path):
    found = gsl("reproduce", "--only", "wines", "--out", tmp_path)
    assert found.code == 2
    assert "no row wines" in found.err and "wine, cancer" in found.err


def test_the_same_table_on_ray_workers(gsl, ray_here, tmp_path):
    call = ["reproduce", "--only", "wine", "--only", "cancer", "--seeds", 1, "--json", *SHORT]
    threads = ["--set", "run.threads=1"]
    tables = [
        json.loads(gsl(*call, *threads, *more, "--out", tmp_path / str(len(more))).out)
        for more in ([], ["--set", "run.workers=2"])
    ]
    assert tables[0] == tables[1]


def test_every_row_has_its_config():
    for row in ROWS:
        assert Path(f"configs/{row.config}.yaml").exists()
