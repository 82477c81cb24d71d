"""A step of ours beside the paper's way: what is measured of each."""

import pytest

from gsl_scale.bench.train import measure
from gsl_scale.config import Config


@pytest.mark.parametrize("fanout", ["all", [2, 2]])
def test_both_ways_are_measured(fanout: object) -> None:
    config = Config.model_validate(
        {
            "data": {"source": "synthetic", "nodes": 300, "features": 8, "communities": 3},
            "knn": {"k": 5},
            "contrast": {"batch": 100, "hidden": 8, "fanout": fanout},
            "train": {"refresh": 10},
            "run": {"threads": 1},
        }
    )
    found = measure(config, steps=2, paper_steps=1)
    ours, paper = found["ways"]["ours"], found["ways"]["the paper's way"]
    assert found["nodes"] == 300
    assert ours["search"] > 0 and paper["search"] == 0
    assert ours["pass"] == pytest.approx(3 * (ours["step"] + ours["search"] / 10))
    assert paper["pass"] == pytest.approx(3 * paper["step"])
    assert found["step_ratio"] == pytest.approx(paper["step"] / ours["step"])
