"""The commands as a person meets them."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gsl_scale import __version__
from tests.conftest import ROOT

QUICKSTART = "configs/quickstart.yaml"
COMMANDS = ["ingest", "check", "run", "refine", "evaluate", "export", "status", "show",
            "config", "knn", "diff", "sweep", "reproduce", "experiment",
            "plan"]  # fmt: skip
# Enough to go through every stage, not to learn much.
SHORT = [
    word
    for key in ("train.steps=3", "evaluate.seeds=1", "evaluate.epochs=30", "evaluate.cluster_runs=1",
                "evaluate.weight_decay=[0.0005]")
    for word in ("--set", key)
]  # fmt: skip


@pytest.fixture
def own_files(tmp_path):
    (tmp_path / "people.csv").write_text(
        "name,age,height\nann,30,1.7\nbob,31,1.8\ncy,60,1.6\ndee,61,1.65\n"
    )
    (tmp_path / "knows.csv").write_text("from,to\nann,bob\nbob,ann\ncy,dee\n")
    return tmp_path


def test_a_tour_with_the_default(gsl, tmp_path):
    run = tmp_path / "run"
    done = gsl("run", QUICKSTART, "--out", run, *SHORT)
    assert done.code == 0
    assert f'pandas.read_parquet("{run}/graph/edges")' in done.out
    assert "GCN, learned graph" in done.out
    assert "ingest: done" in done.err
    again = gsl("run", QUICKSTART, "--out", run, *SHORT)
    assert again.err.count("complete, skipped") == 5
    assert gsl("status", run).out.count("complete") == 5
    assert "1,797 × 64" in gsl("show", run).out
    assert "none damaged" in gsl("check", run).out
    for name in ("config.yaml", "metrics.json", "report.html", "graph/manifest.json"):
        assert (run / name).exists()
    metrics = json.loads(gsl("evaluate", run, "--set", "evaluate.seeds=2", "--json").out)
    assert metrics["classification"]["GCN, learned graph"]["mean"] > 80
    assert metrics == json.loads((run / "metrics.json").read_text())


def test_starting_over_and_rebuilding_a_part_contradict(gsl, tmp_path):
    refused = gsl("run", QUICKSTART, "--out", tmp_path / "run", "--fresh", "--from", "train")
    assert refused.code == 2 and "Give one of the two" in refused.err
    assert not (tmp_path / "run").exists()


def test_own_files(gsl, own_files):
    store = own_files / "store"
    done = gsl("ingest", "--features", own_files / "people.csv", "--edges", own_files / "knows.csv",
               "--id-column", "name", "--out", store)  # fmt: skip
    assert done.code == 0
    assert "ann → bob" in done.out
    assert "1 edges were given in one direction only" in done.out
    assert "cy → dee" in gsl("show", store).out


def test_refine_own_files_without_labels(gsl, tmp_path):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(3, 8))
    rows = centres[np.arange(90) % 3] + 0.3 * rng.normal(size=(90, 8))
    np.save(tmp_path / "x.npy", rows)
    np.save(tmp_path / "e.npy", rng.integers(0, 90, (200, 2)))
    for edges in ([], ["--edges", tmp_path / "e.npy"]):
        run = tmp_path / f"run-{len(edges)}"
        done = gsl("refine", "--features", tmp_path / "x.npy", *edges, "--out", run, *SHORT)
        assert done.code == 0
        assert "modularity" in done.out
        metrics = json.loads((run / "metrics.json").read_text())
        assert "classification" not in metrics
        assert ("edges" in metrics) == bool(edges)
        learned = pd.read_parquet(run / "graph/edges")
        assert learned["weight"].between(0, 1).all()
        assert len(learned.merge(learned, left_on=["src", "dst"], right_on=["dst", "src"])) == len(
            learned
        )
        assert "Learned graph" in (run / "report.html").read_text()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_export_restores_the_users_ids(gsl, own_files, ending):
    store, out = own_files / "store", own_files / f"out.{ending}"
    gsl("ingest", "--features", own_files / "people.csv", "--edges", own_files / "knows.csv",
        "--id-column", "name", "--out", store)  # fmt: skip
    assert "4 rows, both directions of 2 edges" in gsl("export", store, "--out", out).out
    frame = pd.read_csv(out) if ending == "csv" else pd.read_parquet(out)
    pairs = set(zip(frame["src"], frame["dst"], strict=True))
    assert pairs == {("ann", "bob"), ("bob", "ann"), ("cy", "dee"), ("dee", "cy")}
    assert gsl("export", store, "--out", own_files / "out.xlsx").code == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_by_example(gsl, command):
    done = gsl(command, "--help")
    assert done.code == 0
    assert f"Example: gsl-scale {command}" in " ".join(done.out.split())


def test_json_everywhere(gsl, own_files):
    run, store = own_files / "run", own_files / "store"
    done = gsl("run", QUICKSTART, "--out", run, "--until", "knn", "--json")
    assert [stage["stage"] for stage in json.loads(done.out)["stages"]] == ["ingest", "knn"]
    assert json.loads(gsl("status", run, "--json").out)[0]["state"] == "complete"
    assert json.loads(gsl("show", run / "data", "--json").out)["nodes"] == 1797
    assert json.loads(gsl("config", QUICKSTART, "--json").out)["knn"]["k"] == "auto"
    assert json.loads(gsl("check", QUICKSTART, "--json").out)["nodes"] == 1797
    assert json.loads(gsl("check", run, "--json").out)[0]["damaged"] == []
    features = own_files / "people.csv"
    ingested = gsl(
        "ingest", "--features", features, "--id-column", "name", "--out", store, "--json"
    )
    assert json.loads(ingested.out)["features"]["shape"] == [4, 2]
    bench = json.loads(gsl("bench", "store", "--edges", 20_000, "--repeats", 1, "--json").out)
    assert bench["files"]["edge store"]["bytes_per_edge"] < 8
    bench = json.loads(gsl("bench", "load", "--edges", 20_000, "--repeats", 1, "--json").out)
    assert len(bench["seconds"]) == 3
    done = gsl("bench", "train", "configs/wine.yaml", "--steps", 1, "--paper-steps", 1, "--json")
    assert set(json.loads(done.out)["ways"]) == {"ours", "the paper's way"}


def test_errors_are_json_too(gsl, tmp_path):
    done = gsl("show", tmp_path / "none", "--json")
    assert done.code == 2
    assert json.loads(done.out)["error"] == "NotAStoreError"


def test_config_prints_overrides_and_defaults(gsl):
    out = gsl("config", QUICKSTART, "--set", "knn.k=15").out
    assert "k: 15" in out
    assert "shards: auto" in out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["run", "none.yaml"], "ConfigError: none.yaml: cannot be read"),
        (["run", QUICKSTART, "--set", "knn.kk=3"], "did you mean knn.k?"),
        (["run", QUICKSTART, "--set", "knn.k=5000"], "knn.k is 5000, and there are only 1,797"),
        (["run", QUICKSTART, "--from", "nowhere"], "no stage 'nowhere'"),
        (["evaluate", "tests"], "tests is not a run folder"),
        (["check", QUICKSTART, "--set", "knn.k=1797"], "there are only 1,797 nodes"),
        (["ingest"], "There is no input"),
        (["ingest", QUICKSTART, "--features", "x.csv"], "Give either a config"),
        (["ingest", "--features", "none.csv"], "none.csv does not exist"),
        (["status", "tests"], "tests is not a run folder"),
        (["show", "tests"], "tests is not a store"),
        (["show", "README.md"], "README.md is a file, not a store"),
        (["check", "tests"], "tests is not a store"),
    ],
)
def test_a_user_s_mistake_is_exit_2_and_no_traceback(gsl, tmp_path, arguments, expected):
    if arguments[0] in ("run", "ingest"):
        arguments = [*arguments, "--out", str(tmp_path / "out")]
    done = gsl(*arguments)
    assert done.code == 2
    assert expected in done.err


def test_check_finds_what_ingest_would_and_writes_nothing(gsl, own_files, monkeypatch):
    monkeypatch.chdir(own_files)
    before = sorted(own_files.iterdir())
    done = gsl("check", "--features", "people.csv", "--edges", "knows.csv", "--id-column", "name")
    assert done.code == 0
    assert "usable: 4 nodes × 2 features" in done.out
    (own_files / "knows.csv").write_text("from,to\nann,zoe\n")
    done = gsl("check", "--features", "people.csv", "--edges", "knows.csv", "--id-column", "name")
    assert done.code == 2
    assert "(line 2 (ann -> zoe))" in done.err
    assert sorted(own_files.iterdir()) == before


def test_a_damaged_store_is_named_part_by_part(gsl, tmp_path):
    gsl("run", QUICKSTART, "--out", tmp_path / "run", "--set", "run.shards=3", "--until", "knn")
    part = tmp_path / "run/knn/edges/part-00002.parquet"
    part.write_bytes(part.read_bytes()[:-1])
    done = gsl("check", tmp_path / "run")
    assert done.code == 1
    assert "edges/part-00002.parquet: " in done.out
    assert gsl("run", QUICKSTART, "--out", tmp_path / "run").code == 1


def test_a_single_node(gsl, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((1, 3)))
    done = gsl("ingest", "--features", tmp_path / "x.npy", "--out", tmp_path / "s")
    assert done.code == 2
    assert "a graph needs at least 2" in done.err


def test_version(gsl):
    assert gsl("--version").out.strip() == f"gsl-scale {__version__}"


def test_as_a_process():
    """The installed command itself: quick to start, silent about its modules."""
    command = Path(sys.executable).with_name("gsl-scale")
    done = subprocess.run(
        [command, "config", QUICKSTART], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


def test_importing_the_package_is_light():
    code = "import sys, gsl_scale, gsl_scale.cli; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    heavy = {"torch", "ray", "faiss", "pandas", "sklearn", "ogb", "pyarrow"}
    assert heavy & set(loaded.stdout.split()) == set()


def test_a_config_by_name_as_jobs_give_it(gsl, tmp_path):
    assert "Expected one config, found none" in gsl("run").err
    both = gsl("run", ROOT / "configs/wine.yaml", "--config", ROOT / "configs/wine.yaml")
    assert both.code == 2 and "found 2" in both.err
    done = gsl(
        "run", "--config", ROOT / "configs/wine.yaml", "--until", "ingest", "--out", tmp_path
    )
    assert done.code == 0 and (tmp_path / "data/manifest.json").exists()
