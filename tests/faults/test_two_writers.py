"""Two processes that want to write the same store."""

import pytest

from gsl_scale.errors import ClaimedError
from gsl_scale.store import Draft, ShardPlan
from gsl_scale.store.draft import state
from tests.faults.conftest import version_of, write_version


def hold(folder, claimed, let_go):
    with Draft(folder, "data", ShardPlan(4, 1)):
        claimed.set()
        let_go.wait(60)


def test_the_second_is_refused_until_the_first_ends(processes, tmp_path):
    folder = tmp_path / "store"
    write_version(folder, 1)
    claimed, let_go = processes.Event(), processes.Event()
    first = processes.Process(target=hold, args=(folder, claimed, let_go))
    first.start()
    assert claimed.wait(60)
    assert state(folder) == "claimed"
    with pytest.raises(ClaimedError, match=f"process {first.pid} on"):
        write_version(folder, 2)
    assert version_of(folder) == 1
    let_go.set()
    first.join()
    write_version(folder, 2)
    assert version_of(folder) == 2


def test_a_dead_writer_s_claim_is_free(processes, tmp_path):
    folder = tmp_path / "store"
    claimed, let_go = processes.Event(), processes.Event()
    first = processes.Process(target=hold, args=(folder, claimed, let_go))
    first.start()
    assert claimed.wait(60)
    first.kill()
    first.join()
    assert state(folder) == "partial"
    write_version(folder, 2)
    assert version_of(folder) == 2


def race(folder, version, barrier, answers):
    barrier.wait(60)
    try:
        write_version(folder, version)
        answers.put(version)
    except ClaimedError:
        answers.put(None)


def test_a_race_has_whole_winners_only(processes, tmp_path):
    folder = tmp_path / "store"
    barrier, answers = processes.Barrier(4), processes.Queue()
    racers = [
        processes.Process(target=race, args=(folder, version, barrier, answers))
        for version in range(1, 5)
    ]
    for racer in racers:
        racer.start()
    won = [answers.get(timeout=60) for _ in racers]
    for racer in racers:
        racer.join()
    assert version_of(folder) in [version for version in won if version]
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
