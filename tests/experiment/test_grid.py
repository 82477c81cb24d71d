from pathlib import Path

import pytest

from gsl_scale.cli.experiment import Name
from gsl_scale.config_file import load_config
from gsl_scale.errors import UserError
from gsl_scale.experiment.grid import EXPERIMENTS, PAPER_TAU, parsed


def test_every_experiment_has_its_name_on_the_command_line():
    assert [name.value for name in Name] == list(EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_point_is_a_config_of_its_own(name, monkeypatch):
    monkeypatch.setenv("GSL_DATA", "/nowhere")
    points = EXPERIMENTS[name].grid(None)
    configs = [load_config(Path("configs/cora.yaml"), point.sets) for point in points]
    found = {config.model_dump_json() for config in configs}
    assert len(found) == len(points) - (name == "robustness")  # of both kinds, rate 0 is the same


def test_the_papers_values():
    taus = [point.shown["tau"] for point in EXPERIMENTS["tau"].grid(None)]
    assert taus == [1.0, 0.99999, 0.9999, 0.999, 0.99] == list(PAPER_TAU["cora"])
    assert EXPERIMENTS["tau"].grid(None)[1].sets == ("anchor.tau=0.99999",)
    assert "anchor.c=1" in EXPERIMENTS["tau"].sets
    assert [p.shown["k"] for p in EXPERIMENTS["neighbours"].grid(None)] == list(range(5, 41, 5))
    assert len(EXPERIMENTS["features-mask"].grid((0.1, 0.2, 0.3))) == 9
    damage = EXPERIMENTS["robustness"].grid((0.0, 0.9))
    assert [p.sets[0] for p in damage] == [
        "data.perturb.delete=0",
        "data.perturb.delete=0.9",
        "data.perturb.add=0",
        "data.perturb.add=0.9",
    ]


@pytest.mark.parametrize("text", ["", "a,b", "0.1,,0.2", "0.1,0.1"])
def test_values_that_are_none(text):
    with pytest.raises(UserError, match="--values"):
        parsed(text)


def test_half_a_neighbour():
    with pytest.raises(UserError, match="2.5 is no number of neighbours"):
        EXPERIMENTS["neighbours"].grid((2.5,))
