"""Experiments end to end, on small data."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

import pytest

from tests.conftest import ROOT

SHORT = [
    word
    for key in ("train.steps=4", "train.refresh=2", "evaluate.seeds=2", "evaluate.epochs=10",
                "evaluate.weight_decay=[0.0005]", "contrast.batch=64", "anchor.c=1", "run.threads=1")
    for word in ("--set", key)
]  # fmt: skip


@pytest.fixture
def tiny(tmp_path):
    file = tmp_path / "tiny.yaml"
    file.write_text(
        "data: {source: synthetic, nodes: 240, features: 12, communities: 3, degree: 4, noise: 6}\n"
    )
    return file


def table(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def cells_of(out):
    return {path: path.stat().st_mtime_ns for path in (out / "cells").glob("*.json")}


def test_tau(gsl, tiny, tmp_path):
    out = tmp_path / "out"
    call = ["experiment", "tau", tiny, "--values", "1,0.9", "--seeds", 2, "--out", out, *SHORT]
    done = gsl(*call)
    assert done.code == 0 and "over 2 trainings" in done.out
    rows = table(out / "tau-tiny.csv")
    assert [(row["tau"], row["seed"], row["steps"]) for row in rows] == [
        ("1.0", "0", "4"), ("0.9", "0", "4"), ("1.0", "1", "4"), ("0.9", "1", "4"),
    ]  # fmt: skip
    summary = json.loads((out / "tau-tiny.json").read_text())
    for row in summary["rows"]:
        same = [float(cell["learned graph"]) for cell in rows if float(cell["tau"]) == row["tau"]]
        assert row["learned graph"]["mean"] == pytest.approx(sum(same) / 2, abs=0.01)
        assert row["learned graph"]["std"] == pytest.approx(abs(same[0] - same[1]) / 2, abs=0.01)
    curves = table(out / "tau-tiny-curves.csv")
    assert [row["step"] for row in curves[:3]] == ["0", "2", "4"]
    assert curves[0]["loss"] == "" and float(curves[1]["loss"]) > 0
    assert curves[0]["test"] == curves[3]["test"]  # before training tau makes no difference
    ET.fromstring((out / "tau-tiny.svg").read_text())
    page = (out / "report.html").read_text()
    assert 'id="tau-tiny"' in page and page.count("<svg") == 3 and "://" not in page
    before = cells_of(out)
    assert len(before) == 4
    again = gsl(*call)
    assert "4 of 4 cells are there already" in again.err
    assert cells_of(out) == before


def test_robustness_shares_what_is_the_same(gsl, tiny, tmp_path):
    out = tmp_path / "out"
    done = gsl(
        "experiment", "robustness", tiny, "--values", "0,0.5", "--out", out, *SHORT, "--json"
    )
    summary = json.loads(done.out)
    assert [(row["damage"], row["rate"]) for row in summary["rows"]] == [
        ("delete", 0.0), ("delete", 0.5), ("add", 0.0), ("add", 0.5),
    ]  # fmt: skip
    intact = [row for row in summary["rows"] if row["rate"] == 0]
    assert intact[0]["learned graph"] == intact[1]["learned graph"]
    assert len({row["kNN graph"]["mean"] for row in summary["rows"]}) == 1
    kinds = [path.name.rsplit("-", 1)[0] for path in cells_of(out)]
    assert kinds.count("tiny-learned-graph") == 3  # intact, deleted, added
    assert kinds.count("tiny-given-graph") == 3
    assert kinds.count("tiny-kNN-graph") == 1


def test_the_others(gsl, tiny, tmp_path):
    out = tmp_path / "out"
    for name, more in (
        ("features-mask", ["--values", "0.1,0.8"]),
        ("edge-drop", ["--values", "0,0.9", "--seeds", 1]),
        ("neighbours", ["--values", "3,6", "--seeds", 1]),
        ("heatmap", ["--classes", "0,2"]),
    ):
        done = gsl("experiment", name, "--config", tiny, "--out", out, *more, *SHORT)
        assert done.code == 0, done.err
        assert (out / f"{name}-tiny.svg").exists()
    assert len(table(out / "features-mask-tiny.csv")) == 4
    assert {row["k"] for row in table(out / "neighbours-tiny.csv")} == {"3", "6"}
    weights = table(out / "heatmap-tiny.csv")
    assert {row["graph"] for row in weights} == {"given graph", "kNN graph", "learned graph"}
    assert {row["group of src"] for row in weights} == {"0 L", "0 U", "2 L", "2 U"}
    both = {(row["graph"], row["src"], row["dst"]): row["weight"] for row in weights}
    assert all(both[graph, dst, src] == weight for (graph, src, dst), weight in both.items())
    page = (out / "report.html").read_text()
    assert page.count("<section") == 4


def test_killed_it_goes_on_with_what_is_missing(gsl, tiny, tmp_path):
    out = tmp_path / "out"
    call = ["experiment", "edge-drop", tiny, "--values", "0,0.2,0.4,0.6", "--seeds", 1,
            "--out", out, *SHORT, "--set", "train.steps=40"]  # fmt: skip
    command = [sys.executable, "-m", "gsl_scale", *map(str, call)]
    running = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
                               stderr=subprocess.DEVNULL)  # fmt: skip
    until = time.monotonic() + 120
    while len(cells_of(out)) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    running.wait()
    kept = cells_of(out)
    assert 2 <= len(kept) < 4
    assert not (out / "edge-drop-tiny.csv").exists()
    done = gsl(*call)
    assert done.code == 0 and f"{len(kept)} of 4 cells are there already" in done.err
    after = cells_of(out)
    assert len(after) == 4 and all(after[path] == written for path, written in kept.items())
    whole = tmp_path / "whole"
    gsl(*[whole if word == out else word for word in call])
    told = [
        {k: v for k, v in row.items() if k != "seconds"}
        for row in table(out / "edge-drop-tiny.csv")
    ]
    same = [
        {k: v for k, v in row.items() if k != "seconds"}
        for row in table(whole / "edge-drop-tiny.csv")
    ]
    assert told == same


def test_on_ray_workers(gsl, ray_here, tiny, tmp_path):
    call = ["experiment", "edge-drop", tiny, "--values", "0.1,0.5", "--seeds", 1, *SHORT]
    done = gsl(*call, "--out", tmp_path / "ray", "--set", "run.workers=2")
    assert done.code == 0, done.err
    assert gsl(*call, "--out", tmp_path / "here").code == 0
    ray, here = (table(tmp_path / name / "edge-drop-tiny.csv") for name in ("ray", "here"))
    assert [row["learned graph"] for row in ray] == [row["learned graph"] for row in here]
    names = [{path.name for path in cells_of(tmp_path / name)} for name in ("ray", "here")]
    assert names[0] == names[1]  # where it runs is no part of a cell's name


def test_a_cell_that_cannot_be_read_is_computed_again(gsl, tiny, tmp_path):
    call = [
        "experiment",
        "edge-drop",
        tiny,
        "--values",
        "0.1",
        "--seeds",
        1,
        "--out",
        tmp_path,
        *SHORT,
    ]
    gsl(*call)
    (cell,) = cells_of(tmp_path)
    cell.write_text('{"mean": 9')
    (tmp_path / "tau-notes.json").write_text("[]")  # not ours
    assert gsl(*call).code == 0
    assert json.loads(cell.read_text())["mean"] > 0


def test_other_data_is_another_cell(gsl, tmp_path):
    import numpy as np

    rng = np.random.default_rng(0)
    file = tmp_path / "own.yaml"
    file.write_text(
        "data: {source: tables, features: x.npy, labels: y.npy, split: {train: 20, valid: 20}}\n"
    )
    np.save(tmp_path / "y.npy", np.arange(120) % 2)
    call = ["experiment", "edge-drop", file, "--values", "0.5", "--seeds", 1,
            "--out", tmp_path / "out", *SHORT]  # fmt: skip
    for number in (1, 2):
        np.save(tmp_path / "x.npy", rng.normal(size=(120, 6)) + 2 * (np.arange(120) % 2)[:, None])
        assert gsl(*call).code == 0
        assert len(cells_of(tmp_path / "out")) == number


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (["tau"], "Expected one dataset, found none"),
        (["tau", "nowhere"], "There is no dataset nowhere"),
        (["tau", "wine", "--values", "2"], "anchor.tau"),
        (["robustness", "wine"], "There are no edges to delete"),
        (["heatmap", "wine", "--classes", "merlot"], "There is no class merlot"),
        (["taus", "wine"], "taus"),
    ],
)
def test_what_cannot_be_done_is_said(gsl, tmp_path, call, said):
    done = gsl("experiment", *call, "--out", tmp_path, *SHORT)
    assert done.code == 2
    assert said in done.err


def test_no_labels_no_experiment(gsl, tmp_path):
    import numpy as np

    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(50, 4)))
    (tmp_path / "bare.yaml").write_text("data: {source: tables, features: x.npy}\n")
    done = gsl("experiment", "tau", tmp_path / "bare.yaml", "--out", tmp_path / "out")
    assert done.code == 2 and "no labels with nodes to train and to test on" in done.err
