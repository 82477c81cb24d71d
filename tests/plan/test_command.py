"""gsl-scale plan, as a person meets it."""

import json

import pytest

from tests.plan.cases import costs
from tests.plan.test_fit import runs

SYNTHETIC = "configs/synthetic-10m.yaml"


@pytest.fixture
def known(tmp_path):
    path = tmp_path / "costs.json"
    path.write_text(costs().to_json())
    return path


def test_a_plan_that_fits(gsl, known):
    done = gsl(
        "plan", SYNTHETIC, "--workers", 4, "--nodes", 4, "--memory", 256, "--coefficients", known
    )
    assert done.code == 0
    assert "10,000,000 nodes × 64" in done.out
    assert "fits" in done.out


def test_a_plan_that_does_not(gsl, known):
    asked = ("plan", SYNTHETIC, "--workers", 4, "--memory", 4, "--coefficients", known)
    done = gsl(*asked)
    assert done.code == 2
    assert "does not fit: " in done.out
    body = json.loads(gsl(*asked, "--json").out)
    assert not body["fits"] and body["shortages"][0]["remedy"]


def test_gpus_are_said_to_be_unmeasured(gsl, known):
    done = gsl(
        "plan", SYNTHETIC, "--gpus", 2, "--nodes", 2, "--memory", 512, "--coefficients", known
    )
    assert "4 workers on 2 nodes" in done.out
    assert "No GPU has been measured" in done.out


def test_a_simulation_says_that_it_is_one(gsl, known):
    asked = ("plan", SYNTHETIC, "--memory", 512, "--simulate", 64, "--coefficients", known)
    done = gsl(*asked)
    assert "Simulated; none of this has run." in done.out
    body = json.loads(gsl(*asked, "--json").out)["simulated"]
    assert [row["workers"] for row in body["workers"]] == [1, 2, 4, 8, 16, 32, 64]
    assert body["assumptions"]


def test_from_measured_runs_to_a_plan(gsl, tmp_path):
    (tmp_path / "scaling.json").write_text(json.dumps(runs()))
    fitted, table = tmp_path / "fitted.json", tmp_path / "fit.md"
    done = gsl("plan", "--fit", tmp_path / "scaling.json", "--to", fitted, "--table", table)
    assert done.code == 0
    assert "held out" in done.out
    lines = table.read_text().splitlines()
    assert sum(line.startswith("| nodes 500000 | held out | ") for line in lines) == 2
    assert all(line.count("+0%") + line.count("-0%") == 2 for line in lines[2:11])
    assert gsl("plan", SYNTHETIC, "--memory", 512, "--coefficients", fitted).code == 0


def test_the_shipped_costs(gsl):
    done = gsl("plan", "configs/arxiv.yaml", "--memory", 64)
    assert done.code == 0
    assert "169,343 nodes × 128" in done.out


def test_mistakes(gsl, tmp_path):
    assert "There is no config to plan" in gsl("plan").err
    (tmp_path / "no.json").write_text("{}")
    done = gsl("plan", SYNTHETIC, "--coefficients", tmp_path / "no.json")
    assert done.code == 2 and "holds no coefficients" in done.err
