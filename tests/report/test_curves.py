import json

from gsl_scale.report.curves import Curves

HISTORY = {"step": [2, 4], "loss": [5.0, 4.0], "kept": [0.75, 1.0]}


def journal(run, *lines):
    (run / "train.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def step(number, loss):
    return {"event": "step", "step": number, "loss": loss}


def test_steps_done_again_count_once(tmp_path):
    attempt = {"event": "attempt", "step": 0}
    old = [attempt, step(1, 90.0), step(2, 90.0)]  # another training, before
    first = [attempt, step(1, 6.0), step(2, 5.0), step(3, 70.0)]
    again = [{"event": "attempt", "step": 2}, step(3, 4.5), step(4, 4.0)]
    journal(tmp_path, *old, *first, *again)
    curves = Curves.read(tmp_path, HISTORY)
    assert curves.every_step == [1, 2, 3, 4]
    assert curves.every_loss == [6.0, 5.0, 4.5, 4.0]
    assert curves.attempts == 2
    assert curves.changed == [25.0, 0.0]


def test_without_a_journal(tmp_path):
    curves = Curves.read(tmp_path, HISTORY)
    assert (curves.every_step, curves.loss, curves.attempts) == ([], [5.0, 4.0], 1)


def test_long_trainings_are_thinned_out(tmp_path):
    journal(tmp_path, *(step(number, 1.0) for number in range(1, 5001)))
    curves = Curves.read(tmp_path, {"step": [5000], "loss": [1.0], "kept": [1.0]})
    assert len(curves.every_step) == 400


def test_still_falling():
    def falling(*loss):
        return Curves(list(range(len(loss))), list(loss), []).still_falling

    assert falling(9, 8, 7, 6, 5)
    assert not falling(9, 6, 5, 5, 5, 5)
    assert not falling(9, 5)  # too few to tell
