"""The bench measures real runs, keeps them, and its result can be fitted."""

import json

import pytest

from gsl_scale.bench.scaling import MIXTURES, measure, variants
from gsl_scale.bench.scaling_report import efficiency, exponent, write_report
from gsl_scale.config_file import load_config, make_config
from gsl_scale.errors import ConfigError
from gsl_scale.plan.fit import fit
from tests.conftest import ROOT

BASE = ROOT / "configs" / "scaling.yaml"


def test_what_each_series_varies():
    series = {"strong": [2], "weak": [2], "nodes": [40_000], "neighbours": [5], "columns": [32]}
    found = {one.series: one.config for one in variants(load_config(BASE), series, 10, 1)}
    assert (found["strong"].run.workers, found["strong"].data.nodes) == (2, 20_000)
    assert (found["weak"].run.workers, found["weak"].data.nodes) == (2, 40_000)
    assert found["weak"].contrast.batch == 2 * found["strong"].contrast.batch
    assert (found["nodes"].data.nodes, found["nodes"].data.communities) == (40_000, 240)
    assert found["neighbours"].knn.k == 5
    assert found["columns"].data.features == 32
    assert all(one.train.steps == one.train.refresh == 10 for one in found.values())


def test_mixtures_vary_everything_at_once():
    found = variants(load_config(BASE), {"mixed": [1, 7]}, 10, 1)
    alone, shared = (one.config for one in found)
    assert (alone.data.nodes, alone.data.features, alone.knn.k) == MIXTURES[0][:3]
    assert (alone.contrast.batch, alone.run.workers) == MIXTURES[0][3:]
    assert (shared.data.nodes, shared.run.workers) == (MIXTURES[6][0], 2)


def test_a_series_of_evaluations_asks_for_them(gsl):
    found = variants(load_config(BASE), {"classifier": [64]}, 10, 1)
    assert found[0].config.evaluate.hidden == 64
    told = gsl("bench", "scaling", "--series", "classifier")
    assert (told.code, "Add --evaluate" in told.err) == (2, True)


def test_a_graph_that_cannot_grow():
    config = make_config({"data": {"source": "sklearn", "name": "wine"}})
    assert variants(config, {"strong": [1]}, 10, 1)
    with pytest.raises(ConfigError, match="a graph that grows has to be made"):
        variants(config, {"nodes": [1000]}, 10, 1)


def test_a_short_run_of_it_all(tmp_path):
    small = ["data.nodes=2000", "data.communities=12", "data.features=16", "data.degree=3"]
    config = load_config(BASE, ["contrast.batch=256", *small])
    how = {"steps": 4, "repeats": 1, "threads": 1}
    result = measure(config, {"nodes": [2000]}, tmp_path, **how)
    (point,) = result["points"]
    assert point["size"]["nodes"] == 2000
    assert point["config"]["contrast"]["fanout"] == [4, 4]
    assert all(
        point["median"][f"{s}.seconds"] > 0 for s in ("ingest", "knn", "step", "refresh", "anchor")
    )
    assert point["median"]["train.memory"] > point["median"]["ingest.memory"] > 5e7
    assert point["median"]["graph.rows"] > 2000 * 10
    assert result["about"]["commit"] and result["about"]["versions"]["torch"]
    assert not (tmp_path / "work").exists()

    (kept,) = (tmp_path / "points").iterdir()
    slow = kept.read_text().replace('"ingest.seconds": ', '"ingest.seconds": 7')
    kept.write_text(slow.replace('"hidden": 32', '"hidden": 7'))
    # What is kept is not measured again, whatever evaluation was asked for then; and what two
    # series have in common is measured once.
    series = {"nodes": [2000], "classifier": [32]}
    again, judged = measure(config, series, tmp_path, evaluate=True, **how)["points"]
    assert again["median"]["ingest.seconds"] > 7 * 0.9
    assert again["median"]["evaluate.seconds"] > 0 < again["median"]["evaluate.memory"]
    assert set(judged["median"]) == {"evaluate.seconds", "evaluate.memory"}
    assert [one["config"]["evaluate"]["hidden"] for one in (again, judged)] == [32, 32]
    (evaluated,) = set((tmp_path / "points").iterdir()) - {kept}
    evaluated.write_text('{"evaluate.seconds": 5.0, "evaluate.memory": 3e8}')
    result = measure(config, series, tmp_path, evaluate=True, **how)
    assert [one["median"]["evaluate.seconds"] for one in result["points"]] == [5.0, 5.0]
    names = {path.name for path in write_report(result, tmp_path)}
    assert names == {"scaling.md", "scaling-nodes.svg", "scaling-classifier.svg"}
    assert "| 32 | 5.0 s (5.0 s to 5.0 s) | 286.1 MiB |" in (tmp_path / "scaling.md").read_text()

    coefficients, rows = fit(json.loads((tmp_path / "scaling.json").read_text()))
    assert coefficients.provisional
    assert max(abs(row["error"]) for row in rows) < 0.01  # one point is met exactly
    point["series"] = "mixed"
    write_report({**result, "points": [point]}, tmp_path)
    assert "| 2,000 | 16 | 10 | 256 | 0 |" in (tmp_path / "scaling.md").read_text()


def points(series, seconds):
    return [
        {"series": series, "at": at, "median": {"step.seconds": value}}
        for at, value in seconds.items()
    ]


def test_efficiency_and_growth():
    assert efficiency("strong", points("strong", {1: 1.0, 2: 0.5, 4: 0.5})) == [1, 1, 0.5]
    assert efficiency("weak", points("weak", {1: 1.0, 2: 1.25})) == [1, 0.8]
    assert exponent(points("nodes", {10: 1.0, 100: 100.0}), "step.seconds") == pytest.approx(2)
    assert exponent(points("nodes", {10: 1.0}), "step.seconds") is None
