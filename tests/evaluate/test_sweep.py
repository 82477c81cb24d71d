import json

from gsl_scale.config_file import make_config
from gsl_scale.evaluate.classify import Task
from gsl_scale.ingest.write import write_data
from gsl_scale.store.artifact import Artifact

SHORT = ["--set", "train.steps=2", "--set", "evaluate.seeds=1", "--set", "evaluate.epochs=5",
         "--set", "evaluate.cluster_runs=1"]  # fmt: skip


def test_compares_by_validation_and_keeps_cells(gsl, tmp_path):
    call = ["sweep", "configs/wine.yaml", "--grid", "knn.k=5,10", "--seeds", 1, "--out", tmp_path]
    table = json.loads(gsl(*call, *SHORT, "--json").out)
    assert [entry["settings"] for entry in table] == [["knn.k=5"], ["knn.k=10"]]
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert "Best by validation: knn.k=" in gsl(*call, *SHORT).out
    assert kept == {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}


def test_blind_task_holds_no_test_label(tmp_path):
    write_data(make_config({"data": {"source": "sklearn", "name": "wine"}}), tmp_path / "wine")
    task = Task.load(Artifact.open(tmp_path / "wine"))
    blind = task.blind()
    assert (blind.labels[task.test] == -1).all()
    assert (blind.labels[task.valid] == task.labels[task.valid]).all()
    assert (blind.test == task.valid).all()


def test_grid_without_values_is_refused(gsl):
    done = gsl("sweep", "configs/wine.yaml", "--grid", "knn.k")
    assert done.code == 2 and "Write KEY=A,B,C" in done.err
