from gsl_scale.bench.workers import WARM_UP, summed_up


def events(seconds):
    steps = [{"event": "step", "step": i + 1, "seconds": s} for i, s in enumerate(seconds)]
    return [{"event": "attempt"}, *steps, {"event": "round", "refresh_seconds": 3.0}]


def test_the_first_steps_do_not_count():
    found = summed_up(events([9.0] * WARM_UP + [0.5, 0.5]), batch=100)
    assert (found["seeds"], found["seconds"], found["refresh_seconds"]) == (200, 1.0, 3.0)


def test_a_round_of_few_steps_counts_its_last():
    found = summed_up(events([9.0, 0.5]), batch=100)
    assert (found["seeds"], found["seconds"]) == (100, 0.5)
