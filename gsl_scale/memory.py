"""Keeping freed memory in the process instead of handing it back to the kernel at every free.

Large tensors come and go at every step; glibc maps and unmaps each of them, and the page faults
cost more than the arithmetic (3 × here).
"""

import ctypes
import resource
import sys
from contextlib import suppress
from pathlib import Path

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4  # glibc's names for mallopt, from malloc.h


# The same for a process that is yet to start, and for all of its threads: threads have heaps of
# their own, which `mallopt` does not reach.
ENVIRONMENT = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(2**31 - 1),
    "MALLOC_TOP_PAD_": str(64 << 20),
}


def keep_freed_memory() -> None:
    _set_malloc(0, 2**31 - 1, 64 << 20)


def return_freed_memory() -> None:
    """As glibc does by itself. What is kept lies in pieces between what is used: a GCN on a million
    nodes held 9.8 GiB instead of 6.1."""
    _set_malloc(65_536, 128 << 10, 128 << 10)
    hand_back_memory()


def _set_malloc(mmap_max: int, trim_threshold: int, top_pad: int) -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if sys.platform.startswith("linux") and mallopt is not None:  # musl has none
        mallopt(_MMAP_MAX, mmap_max)
        mallopt(_TRIM_THRESHOLD, trim_threshold)
        mallopt(_TOP_PAD, top_pad)


def hand_back_memory() -> None:
    """Give what is freed by now to the kernel after all: once something large is over. Arrow has a
    heap of its own."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if sys.platform.startswith("linux") and trim is not None:
        trim(0)


def columns_at_once(num_nodes: int) -> int:
    """Of all nodes, where all columns would take much memory: 2^25 numbers, or 16 columns."""
    return max(16, (1 << 25) // num_nodes)


def peak_bytes() -> int:
    """The most memory this process has held.

    Linux tells it twice; getrusage counts what the process held that started this one, too.
    """
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def size(num_bytes: float) -> str:
    """For a person to read."""
    for unit in ("B", "KiB", "MiB"):
        if num_bytes < 1024:
            return f"{num_bytes:,.0f} {unit}" if unit == "B" else f"{num_bytes:,.1f} {unit}"
        num_bytes /= 1024
    return f"{num_bytes:,.1f} GiB"
