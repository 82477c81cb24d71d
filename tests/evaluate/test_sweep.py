import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from gsl_scale.config_file import load_config, make_config
from gsl_scale.evaluate.classify import Task
from gsl_scale.ingest.write import write_data
from gsl_scale.store.artifact import Artifact
from tests.conftest import ROOT

SHORT = ["--set", "train.steps=2", "--set", "evaluate.seeds=1", "--set", "evaluate.epochs=5",
         "--set", "evaluate.cluster_runs=1", "--seeds", 1]  # fmt: skip
LABEL_FREE = ["--objective", "label-free"]


def write_people(folder, labels=None):
    """90 nodes of three kinds, 12 of them labelled for training and 30 for validation."""
    rng = np.random.default_rng(0)
    kind = np.arange(90) % 3
    rows = rng.normal(size=(3, 6))[kind] + 0.4 * rng.normal(size=(90, 6))
    folder.mkdir()
    lines = [",".join(map(str, row)) for row in rows]
    (folder / "features.csv").write_text("\n".join(["a,b,c,d,e,f", *lines]))
    data = {"source": "tables", "features": "features.csv"}
    if labels != "none":
        split = np.array(["train"] * 12 + ["valid"] * 30 + ["test"] * 48)
        turned = {"test": split == "test", "all": split != "", None: split == ""}[labels]
        kind = np.where(turned, (kind + 1) % 3, kind)
        lines = [f"{label},{part}" for label, part in zip(kind, split, strict=True)]
        (folder / "labels.csv").write_text("\n".join(["label,split", *lines]))
        data |= {"labels": "labels.csv", "label_column": "label", "split_column": "split"}
    (folder / "people.yaml").write_text(json.dumps({"data": data, "knn": {"k": 5}}))
    return folder / "people.yaml"


@pytest.fixture
def people(tmp_path):
    return write_people(tmp_path / "people")


def test_equal_accuracies_are_told_apart_by_the_loss(gsl, people, tmp_path):
    """And not by the order in which settings were named."""
    found = []
    for values in ("8,12,15", "15,12,8"):
        call = ["sweep", people, "--grid", f"knn.k={values}", *SHORT, "--set", "evaluate.epochs=60"]
        found.append(json.loads(gsl(*call, "--out", tmp_path / "out", "--json").out)["settings"])
    assert len({entry["score"] for entry in found[0]}) < len(found[0])  # or it could not fail
    assert found[0] == found[1]
    assert found[0] == sorted(found[0], key=lambda entry: (-entry["score"], entry["loss"]))


def files(out):
    return {path: path.stat().st_mtime_ns for path in (out / "trials").iterdir()}


def test_compares_by_validation_and_keeps_trials(gsl, tmp_path):
    call = ["sweep", "configs/wine.yaml", "--grid", "knn.k=5,10", "--out", tmp_path, *SHORT]
    table = json.loads(gsl(*call, "--json").out)
    assert {*map(tuple, (entry["settings"] for entry in table["settings"]))} == {
        ("knn.k=5",), ("knn.k=10",)
    }  # fmt: skip
    scores = [entry["score"] for entry in table["settings"]]
    assert scores == sorted(scores, reverse=True)
    assert table == json.loads((tmp_path / "sweep.json").read_text())
    kept = files(tmp_path)
    assert len(kept) == 2
    shown = gsl(*call)
    assert f"Best by validation: {table['settings'][0]['settings'][0]}" in shown.out
    assert files(tmp_path) == kept


@pytest.mark.parametrize("objective", ["validation", "label-free"])
def test_run_takes_the_best_as_it_is(gsl, people, tmp_path, objective):
    out = tmp_path / "sweep"
    call = ["sweep", people, "--grid", "knn.k=4,8", "--grid", "anchor.tau=0.9", "--out", out]
    table = json.loads(gsl(*call, *SHORT, "--objective", objective, "--json").out)
    best = load_config(out / "best.yaml")
    assert best == load_config(people, ["train.steps=2", "evaluate.seeds=1", "evaluate.epochs=5",
        "evaluate.cluster_runs=1", *table["settings"][0]["settings"]])  # fmt: skip
    assert gsl("run", out / "best.yaml", "--out", tmp_path / "run").code == 0
    assert load_config(tmp_path / "run/config.yaml") == best


def test_several_configs_have_a_best_one_each(gsl, people, tmp_path):
    call = ["sweep", people, "--config", "configs/wine.yaml", "--grid", "knn.k=5,10"]
    table = json.loads(gsl(*call, *SHORT, *LABEL_FREE, "--out", tmp_path, "--json").out)
    assert [*table["settings"][0]["configs"]] == ["people", "wine"]
    assert load_config(tmp_path / "best-wine.yaml").data.name == "wine"
    assert load_config(tmp_path / "best-people.yaml").data.source == "tables"


@pytest.mark.parametrize(("objective", "turned"), [("validation", "test"), ("label-free", "all")])
def test_labels_that_must_not_matter_do_not(gsl, tmp_path, objective, turned):
    found = []
    for name, labels in (("true", None), ("turned", turned)):
        config = write_people(tmp_path / name, labels)
        call = ["sweep", config, "--grid", "knn.k=4,8", "--objective", objective, *SHORT]
        table = json.loads(gsl(*call, "--out", tmp_path / f"{name}-out", "--json").out)
        found.append(table["settings"])
    assert found[0] == found[1]


def test_labels_of_validation_do_matter(gsl, tmp_path):
    """Otherwise the test above could not fail."""
    found = []
    for name, labels in (("true", None), ("turned", "all")):
        config = write_people(tmp_path / name, labels)
        labelled = (tmp_path / name / "labels.csv").read_text().splitlines()
        if name == "turned":  # the training labels as they were
            original = (tmp_path / "true" / "labels.csv").read_text().splitlines()
            mixed = [*original[:13], *labelled[13:]]
            (tmp_path / name / "labels.csv").write_text("\n".join(mixed))
        call = ["sweep", config, "--grid", "knn.k=4", *SHORT, "--set", "evaluate.epochs=50"]
        out = tmp_path / f"{name}-out"
        found.append(json.loads(gsl(*call, "--out", out, "--json").out)["settings"][0]["score"])
    assert found[0] > found[1] + 20


def test_data_without_labels(gsl, tmp_path):
    config = write_people(tmp_path / "people", "none")
    call = ["sweep", config, "--grid", "knn.k=4", *SHORT, "--out", tmp_path / "sweep"]
    refused = gsl(*call)
    assert refused.code == 2 and "--objective label-free" in refused.err
    assert "Best by label-free: knn.k=4" in gsl(*call, *LABEL_FREE).out


def test_changed_input_is_tried_again(gsl, people, tmp_path):
    call = ["sweep", people, "--grid", "knn.k=4", *SHORT, *LABEL_FREE, "--out", tmp_path / "sweep"]
    gsl(*call)
    features = people.parent / "features.csv"
    features.write_text(features.read_text().replace("0.", "0.5"))
    gsl(*call)
    assert len(files(tmp_path / "sweep")) == 2


def test_a_setting_that_cannot_be_does_not_stop_the_others(gsl, people, tmp_path):
    call = ["sweep", people, *SHORT, *LABEL_FREE, "--out", tmp_path / "sweep"]
    done = gsl(*call, "--grid", "knn.k=4,500")
    assert done.code == 0 and "knn.k=500 could not be tried" in done.out
    alone = gsl(*call, "--grid", "knn.k=500")
    assert alone.code == 1 and "None of 1 settings" in alone.err


def test_what_makes_no_sense_is_refused(gsl, people, tmp_path):
    done = gsl("sweep", "configs/wine.yaml", "--grid", "knn.k")
    assert done.code == 2 and "Write KEY=A,B,C" in done.err
    done = gsl("sweep", people, "--grid", "knn.k=5", "--objective", "loss")
    assert done.code == 2 and "There are: validation, label-free" in done.err
    assert "found none" in gsl("sweep", "--grid", "knn.k=5").err
    assert "same name" in gsl("sweep", people, people, "--grid", "knn.k=5").err
    unknown = gsl("sweep", people, "--grid", "knn.q=5", "--out", tmp_path / "sweep")
    assert unknown.code == 2 and "unknown key; did you mean" in unknown.err


def test_blind_task_holds_no_test_label(tmp_path):
    write_data(make_config({"data": {"source": "sklearn", "name": "wine"}}), tmp_path / "wine")
    task = Task.load(Artifact.open(tmp_path / "wine"))
    blind = task.blind()
    assert (blind.labels[task.test] == -1).all()
    assert (blind.labels[task.valid] == task.labels[task.valid]).all()
    assert (blind.test == task.valid).all()


def test_killed_under_tune_and_resumed(gsl, ray_here, people, tmp_path):
    """By the entry point of the job; trials that were finished are not run again."""
    grid = ["--grid", "knn.k=3,4,5,6,7", *SHORT, *LABEL_FREE]
    alone, out = tmp_path / "alone", tmp_path / "tuned"
    undisturbed = json.loads(gsl("sweep", people, *grid, "--out", alone, "--json").out)
    words = ["--config", people, *grid, "--workers", 2, "--out", out]
    job = subprocess.Popen(
        [sys.executable, "-m", "jobs.sweep", *map(str, words)],
        env=os.environ | {"RAY_ADDRESS": ray_here.address}, cwd=ROOT, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while not list(out.glob("trials/*.json")):
        assert job.poll() is None
        time.sleep(0.05)
    os.kill(job.pid, signal.SIGKILL)
    job.wait()
    time.sleep(1)  # its workers end with it
    finished = files(out)
    assert 1 <= len(finished) < 5 and not (out / "sweep.json").exists()
    again = gsl("sweep", *words, "--json")
    assert again.code == 0
    now = files(out)
    assert len(now) == 5 and {path: now[path] for path in finished} == finished
    table = json.loads(again.out)
    assert table["settings"] == undisturbed["settings"]
    assert not (out / ".ray").exists()


def test_what_cannot_be_tried_under_tune(gsl, ray_here, people, tmp_path):
    call = ["sweep", people, "--grid", "knn.k=4,500", *SHORT, *LABEL_FREE, "--workers", 2]
    done = gsl(*call, "--out", tmp_path / "sweep")
    assert done.code == 0 and "knn.k=500 could not be tried" in done.out
