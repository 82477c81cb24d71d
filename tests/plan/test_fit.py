"""Costs that are known are found again; what is held out is said, and predicted."""

import json

import pytest

from gsl_scale.errors import InputError
from gsl_scale.plan.fit import fit, load_runs
from tests.plan.cases import case, costs


def runs(sizes=(2000, 20_000, 50_000, 200_000, 500_000), noise=0.0, context="smooth"):
    """Measured runs, made up from known costs."""
    truth, points = costs(), []
    for series, values in {"nodes": sizes, "columns": (8, 32, 64, 128)}.items():
        for number, at in enumerate(values):
            one = case(
                f"learner.context={context}",
                "knn.k=10",
                **{"nodes" if series == "nodes" else "features": at},
            )
            off = 1 + noise * (-1) ** number
            points.append(
                {
                    "name": f"{series} {at}",
                    "series": series,
                    "at": at,
                    "size": vars(one.size),
                    "config": one.config.model_dump(mode="json"),
                    "median": {name: off * value for name, value in truth.predict(one).items()},
                }
            )
    about = {"machine": "paper", "commit": "0", "steps": 30, "repeats": 3, "threads": 1}
    return {"about": about, "points": points, "jitter": [1.0, 1.1]}


def test_known_costs_predict_what_was_held_out():
    found, rows = fit(runs())
    held = [row for row in rows if row["held_out"]]
    assert {row["point"] for row in held} == {"nodes 500000", "columns 128"}
    assert max(abs(row["error"]) for row in rows) < 1e-6
    assert not found.provisional
    assert found.largest == {"nodes": 500_000, "features": 128, "workers": 1}
    assert all(cost >= 0 for terms in found.costs.values() for cost in terms.values())


def test_an_encoder_s_training_is_no_cost_of_preparing():
    """The preset takes one for the 20,000 nodes."""
    found, rows = fit(runs(context="auto"))
    costs = fit(runs())[0].costs["prepare.seconds"]
    assert found.costs["prepare.seconds"]["exact"] == pytest.approx(costs["exact"], rel=0.01)
    (encoded,) = (
        row["error"]
        for row in rows
        if (row["point"], row["quantity"]) == ("nodes 20000", "prepare.seconds")
    )
    assert abs(encoded) < 0.01


def test_mixtures_are_predicted_and_not_fitted():
    body = runs()
    body["points"][0] |= {"series": "mixed", "name": "mixed 1"}
    body["points"][0]["median"]["step.seconds"] *= 100
    _, rows = fit(body)
    # Edges grow with nodes in these runs, so an evaluation that is not fitted is only nearly met.
    wrong = [(row["point"], row["quantity"]) for row in rows if abs(row["error"]) > 1e-3]
    assert wrong == [("mixed 1", "step.seconds"), ("mixed 1", "run.seconds")]
    assert all(row["held_out"] for row in rows if row["point"] == "mixed 1")


def test_a_whole_run_is_the_sum_of_its_stages_and_the_most_of_their_memory():
    body = runs()
    _, rows = fit(body)
    first, found = body["points"][0], body["points"][0]["median"]
    told = {row["quantity"]: row["measured"] for row in rows if row["point"] == first["name"]}
    train, c = first["config"]["train"], first["config"]["anchor"]["c"]
    often = {"step": train["steps"], "refresh": train["steps"] // train["refresh"],
             "anchor": train["steps"] // c, "ingest": 1, "knn": 1, "prepare": 1, "export": 1}  # fmt: skip
    seconds = sum(number * found[f"{part}.seconds"] for part, number in often.items())
    assert told["run.seconds"] == pytest.approx(seconds)
    assert told["run.memory"] == max(
        found[f"{stage}.memory"] for stage in ("ingest", "knn", "train", "export")
    )


def test_noise_in_is_noise_out_and_not_more():
    _, rows = fit(runs(noise=0.05))
    errors = [abs(row["error"]) for row in rows if row["quantity"] == "step.seconds"]
    assert 0 < max(errors) < 0.15


def test_short_runs_are_provisional():
    assert fit(runs(sizes=(2000, 5000, 9000)))[0].provisional


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"points": []}', '{"points": [{"series": 1}]}'])
def test_a_file_that_holds_no_runs(text, tmp_path):
    path = tmp_path / "runs.json"
    path.write_text(text)
    with pytest.raises(InputError, match="holds no measured runs"):
        load_runs(path)
    with pytest.raises(InputError, match="holds no measured runs"):
        load_runs(tmp_path / "absent.json")


def test_a_file_of_runs_is_read(tmp_path):
    (tmp_path / "runs.json").write_text(json.dumps(runs()))
    assert len(load_runs(tmp_path / "runs.json")["points"]) == 9
