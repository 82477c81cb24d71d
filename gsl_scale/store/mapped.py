"""Files as arrays, mapped and not read: pages come when they are looked at.

A page that was looked at counts as memory of the process until the kernel wants it back. On a large
graph a few batches look at every page there is, and each worker would seem to hold the whole graph.
So when there are more of them than `MOST`, they are let go of; the kernel still has them, and
looking again costs little.
"""

import mmap
import resource
import sys
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

MOST = 480 << 20  # bytes of mapped files, those of libraries among them
_PAGE = resource.getpagesize()
_maps: "weakref.WeakSet[mmap.mmap]" = weakref.WeakSet()


def mapped(path: Path) -> npt.NDArray[Any]:
    """A .npy file; OSError or ValueError if it is none."""
    array: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    pages = getattr(array, "_mmap", None)  # a file without rows is not mapped
    if pages is not None:
        _maps.add(pages)
    return array


def let_go(most: int = MOST) -> None:
    """Of all mapped pages, if there are more than `most` bytes of them."""
    if sys.platform.startswith("linux") and _resident() > most:
        for pages in list(_maps):
            with suppress(ValueError, OSError):  # closed meanwhile
                pages.madvise(mmap.MADV_DONTNEED)


def _resident() -> int:
    """Bytes of this process that files stand behind."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[2]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0
