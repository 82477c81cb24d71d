"""SIGKILL at many random moments of a write."""

import os
import random
import time

from gsl_scale.store.draft import state
from tests.faults.conftest import version_of, write_version

KILLS = 40


def write_forever(folder, version):
    while True:
        version += 1
        write_version(folder, version)


def test_the_store_is_the_old_one_or_the_new_one(processes, tmp_path):
    folder = tmp_path / "store"
    write_version(folder, 1)
    chance = random.Random(0)
    before, states = 1, set()
    for _ in range(KILLS):
        writer = processes.Process(target=write_forever, args=(folder, before), daemon=True)
        writer.start()
        time.sleep(0.05 + chance.random() * 0.5)
        os.kill(writer.pid, 9)
        writer.join()
        assert writer.exitcode == -9
        assert state(folder) == "complete"
        left = {path.name for path in tmp_path.iterdir()} - {"store", ".store.claim"}
        states.add(bool(left))
        assert all(name.startswith(".store.draft-") for name in left)
        after = version_of(folder)
        assert after >= before
        before = after
    assert True in states, "no kill ever fell into a write"
    assert before > 1, "no write ever came to its end"
    write_version(folder, before + 1)
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_a_first_write_that_is_killed_leaves_no_store(processes, tmp_path):
    chance = random.Random(1)
    for round_number in range(15):
        folder = tmp_path / f"store-{round_number}"
        writer = processes.Process(target=write_version, args=(folder, 7), daemon=True)
        writer.start()
        time.sleep(0.02 + chance.random() * 0.1)
        writer.kill()
        writer.join()
        assert state(folder) in ("absent", "partial", "complete")
        if state(folder) == "complete":
            assert version_of(folder) == 7
        write_version(folder, 8)
        assert version_of(folder) == 8
