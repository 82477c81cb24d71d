"""Where reports are printed: a terminal as wide as it is; a file or a job's log, wide enough."""

import os
import sys

from rich.console import Console

_WIDE = 160  # columns where nobody's window says how many there are


def printed() -> Console:
    """Standard output. Lines are never broken; tables fit the window, if there is one."""
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(highlight=False, soft_wrap=True, width=None if known else _WIDE)
