"""What is held, and what is handed back."""

import subprocess
import sys
from pathlib import Path

import pytest

from gsl_scale.memory import size

IN_A_PROCESS = """
import numpy as np
from gsl_scale.memory import (
    hand_back_memory, keep_freed_memory, peak_bytes, return_freed_memory
)
def held():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:")) >> 10
keep_freed_memory()
before = held()
many = [np.ones(1 << 20) for _ in range(16)]
last = np.ones(1 << 10)  # above them, so that they are not at the heap's end
del many
kept = held()
hand_back_memory()
left = held()
return_freed_memory()
many = [np.ones(1 << 20) for _ in range(16)]
last = np.ones(1 << 10)
del many
print(kept - before, left - before, held() - before, peak_bytes() >> 20)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
def test_freed_memory_is_kept_until_it_is_handed_back_or_returned_by_itself():
    done = subprocess.run([sys.executable, "-c", IN_A_PROCESS], capture_output=True, check=True)
    kept, left, returned, peak = map(int, done.stdout.split())
    assert kept > 100  # of 128 MiB
    assert left < 30
    assert returned < 30
    assert peak >= kept


IN_ARROW = """
import pyarrow as pa
from gsl_scale.memory import hand_back_memory
def held():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:")) >> 10
before = held()
many = [pa.nulls(1 << 20, pa.int64()) for _ in range(16)]
del many
hand_back_memory()
print(held() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
def test_arrow_hands_back_too():
    done = subprocess.run([sys.executable, "-c", IN_ARROW], capture_output=True, check=True)
    assert int(done.stdout) < 30


def test_sizes_are_for_a_person():
    assert [size(n) for n in (5, 2048, 3 << 20, 5 << 30)] == [
        "5 B",
        "2.0 KiB",
        "3.0 MiB",
        "5.0 GiB",
    ]
