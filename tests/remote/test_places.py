"""The commands on a run in an object store, from its first line to its last reader."""

import json

import pyarrow.parquet as pq
import pytest
import yaml

from gsl_scale import load_graph
from gsl_scale.cluster.probe import NodeFacts, look
from gsl_scale.config_file import load_config
from gsl_scale.pipeline import STAGES
from tests.remote.conftest import SECRET, SMALL


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(SMALL))
    return path


def test_a_run_from_one_machine_read_and_gone_on_with_on_another(store, gsl, config, tmp_path):
    ran = gsl("run", config, "--out", store.uri, "--until", "train")
    assert ran.code == 0, ran.err
    assert not store.objects(".checkpoint") and not store.objects(".claim")

    cache = store.another_machine()
    status = gsl("status", store.uri, "--json")
    states = {one["stage"]: one["state"] for one in json.loads(status.out)}
    assert states == {"ingest": "complete", "knn": "complete", "train": "complete",
                      "export": "absent", "evaluate": "absent"}  # fmt: skip
    assert not list(cache.rglob("part-*"))

    ran = gsl("run", config, "--out", store.uri)  # goes on, and does not learn again
    assert ran.code == 0, ran.err
    assert "train: complete, skipped" in ran.err and "export: done" in ran.err
    assert {"config.yaml", "metrics.json", "report.html", "train.jsonl"} <= set(store.objects())
    assert {f"{stage.folder}/manifest.json" for stage in STAGES} <= set(store.objects())
    learned = load_graph(store.uri).to_scipy()

    cache = store.another_machine()
    ran = gsl("run", config, "--out", store.uri)  # nothing is left, and nothing large is moved
    assert ran.code == 0 and f"evaluate: complete in {store.uri}, skipped" in ran.err
    assert "test accuracy" in ran.out
    assert not list(cache.rglob("part-*"))

    graph = load_graph(store.uri)
    assert (graph.to_scipy() != learned).nnz == 0
    assert not list(cache.glob("*/data"))
    assert graph.features.shape == (178, 13)  # brought when asked for
    assert gsl("show", f"{store.uri}/graph").code == 0
    out = tmp_path / "graph.csv"
    assert gsl("export", store.uri, "--out", out, "--with", "embeddings").code == 0 and out.exists()
    compared = gsl("diff", f"{store.uri}/knn", store.uri, "--json")
    assert json.loads(compared.out)["homophily"], compared.err
    assert gsl("evaluate", store.uri, "--set", "evaluate.seeds=2").code == 0
    assert json.loads(store.get("metrics/manifest.json"))["config"]["evaluate.seeds"] == 2
    assert gsl("check", store.uri).code == 0
    for key in store.objects():
        assert SECRET.encode() not in store.get(key)
    assert not any(SECRET.encode() in p.read_bytes() for p in cache.rglob("*") if p.is_file())


def test_other_settings_are_refused_before_anything_is_moved(store, gsl, config):
    assert gsl("run", config, "--out", store.uri, "--until", "ingest").code == 0
    cache = store.another_machine()
    ran = gsl("run", config, "--out", store.uri, "--set", "data.split_seed=1")
    assert ran.code == 2 and f"{store.uri}/data is stale" in ran.err
    assert not list(cache.rglob("part-*"))
    ran = gsl(
        "run", config, "--out", store.uri, "--set", "data.split_seed=1", "--from", "ingest",
        "--until", "ingest",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert json.loads(store.get("data/manifest.json"))["config"]["data.split_seed"] == 1


def test_a_flipped_bit_stops_a_run_and_a_rebuild_mends_it(store, gsl, config):
    assert gsl("run", config, "--out", store.uri, "--until", "knn").code == 0
    store.flip(next(key for key in store.objects("data/") if "features/part-00000" in key))
    store.another_machine()
    ran = gsl("run", config, "--out", store.uri, "--until", "train")
    assert ran.code == 1 and "features/part-00000.npy: its SHA-256" in ran.err
    ran = gsl("run", config, "--out", store.uri, "--until", "train", "--from", "ingest")
    assert ran.code == 0, ran.err
    assert gsl("check", store.uri).code == 0


def test_the_bare_folder_is_read_by_others(store, gsl, server, tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n2,1\n3,1\n1,3\n2,2\n")
    assert gsl("knn", tmp_path / "rows.csv", "--k", 2, "--out", store.uri).code == 0
    (part,) = (
        key for key in store.objects("knn/") if key.endswith(".parquet") and "/edges/" in key
    )
    table = pq.read_table(f"s3://{store.bucket}/runs/small/{part}?endpoint_override={server.url[7:]}"
                          "&scheme=http&region=us-east-1")  # fmt: skip
    assert len(table) == 10


def test_what_is_not_there(store, gsl, tmp_path):
    for words in (("status",), ("show",), ("export", "--format", "csv"), ("evaluate",), ("check",)):
        answer = gsl(*words, store.uri)
        assert answer.code == 2 and store.uri in answer.err, words
    answer = gsl("ingest", "configs/quickstart.yaml", "--out", store.uri)
    assert answer.code == 2 and "cannot be written by this command" in answer.err
    assert store.objects() == []


def test_a_cluster_that_is_asked_about_a_store(store, small):
    assert "There is no bucket nowhere-at-all" in look(small, "s3://nowhere-at-all/x").trouble


def test_a_cluster_that_is_asked_how_much_a_run_in_a_store_needs(store, gsl, config, monkeypatch):
    assert gsl("run", config, "--out", store.uri, "--until", "ingest").code == 0
    cache = store.another_machine()
    nodes = [NodeFacts("n1", cpus=2.0, memory=8 * 2.0**30)]
    monkeypatch.setattr("gsl_scale.cluster.probe._ask_all", lambda _: nodes)
    facts = look(load_config(config, ["run.workers=2"]), store.uri)
    assert facts.trouble == "" and facts.stages[0]["state"] == "complete"
    assert facts.memory["train"] > facts.memory["knn"] > 0
    assert not list(cache.rglob("part-*"))
