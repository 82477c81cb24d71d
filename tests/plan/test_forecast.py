"""What is foreseen follows from its parts."""

import pytest

from gsl_scale.plan.blocks import messages
from gsl_scale.plan.forecast import forecast, rounds, sending_seconds
from tests.plan.cases import case, cluster, costs


def stage(found, name):
    return next(one for one in found.stages if one.stage == name)


def test_training_is_its_steps_refreshes_and_updates():
    planned = case("train.steps=100", "train.refresh=30", "anchor.c=50", "run.workers=2")
    found = forecast(planned, cluster(), costs())
    prepared = costs().predict(planned)["prepare.seconds"]
    expected = prepared + 100 * found.step + 4 * found.refresh + 2 * found.anchor
    assert stage(found, "train").seconds == pytest.approx(expected)
    assert rounds(planned) == (4, 2)


def test_an_encoder_of_the_context_is_trained_first():
    smooth, encoded = (
        stage(
            forecast(case(f"learner.context={context}", "learner.width=64"), cluster(), costs()),
            "train",
        )
        for context in ("smooth", "encoded")
    )
    views, width = 2 * 50, 512
    products = views * 100_000 * (0.7 * 64 + 2.5 * width) * width
    assert encoded.seconds - smooth.seconds > 0.9 * products * 1e-10
    assert encoded.memory > smooth.memory


def test_a_slower_network_is_a_slower_step():
    planned = case("run.workers=4")
    fast, slow = (forecast(planned, cluster(bandwidth=b), costs()).step for b in (1e12, 1e7))
    sent = sum(messages(planned))
    assert slow - fast == pytest.approx(2 * 3 / 4 * sent * (1 / 1e7 - 1 / 1e12))
    assert sending_seconds(case("run.workers=1"), cluster()) == 0


def test_more_workers_compute_less_each():
    one, four = (forecast(case(f"run.workers={w}"), cluster(latency=0), costs()) for w in (1, 4))
    assert four.read < one.read
    assert four.step < one.step
    assert stage(four, "train").memory < stage(one, "train").memory
    assert one.sent == 0 < four.sent


def test_what_was_never_measured_is_not_made_up():
    known = costs()
    without = {name: value for name, value in known.costs.items() if "evaluate" not in name}
    found = forecast(case(), cluster(), known.model_copy(update={"costs": without}))
    assert stage(found, "evaluate").seconds is None
    assert stage(found, "ingest").seconds > 0


def test_features_on_disk_are_as_large_as_their_numbers():
    whole, half = (
        stage(
            forecast(case(nodes=1000, features=50, degree=0, dtype=t), cluster(), costs()), "ingest"
        )
        for t in ("float32", "float16")
    )
    assert whole.disk - half.disk == 1000 * 50 * 2
