"""Held-back Digits, added without training, against learning anew with all of them."""

import json

import pytest

from gsl_scale.bench.extend import measure
from gsl_scale.config_file import make_config
from gsl_scale.errors import InputError

QUICK = {"seeds": 2, "epochs": 100, "weight_decay": [5e-4]}


def test_held_back_digits_are_classified_as_if_learned_with(tmp_path):
    config = make_config(
        {
            "data": {"source": "sklearn", "name": "digits"},
            "knn": {"k": 30},
            "learner": {"own": 0},
            "train": {"steps": 10, "refresh": 5},
            "evaluate": QUICK,
        }
    )
    found = measure("digits", config, seeds=1, share=0.1, out=tmp_path)
    assert (found["nodes"], found["held_back"]) == (1797, 180)
    assert found["mean"]["extended"] > found["mean"]["learned anew"] - 2.0
    assert found["mean"]["extended"] > found["mean"]["kNN graph"]
    kept = list(tmp_path.iterdir())
    assert len(kept) == 1 and json.loads(kept[0].read_text())["new"] == 180
    assert measure("digits", config, seeds=1, share=0.1, out=tmp_path) == found


def test_needs_labels(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n" + "1,2\n2,1\n" * 10)
    config = make_config({"data": {"source": "tables", "features": str(tmp_path / "x.csv")}})
    with pytest.raises(InputError, match="no labels"):
        measure("x", config, 1, 0.1, tmp_path / "out")
