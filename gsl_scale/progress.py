"""How far long work is: a bar in a terminal, plain lines elsewhere, silence in a library.

Everything goes to standard error, so that standard output stays clean for `--json`.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


class Advance(Protocol):
    """Called with the size of each step, and perhaps a word on how it goes."""

    def __call__(self, step: int, note: str = "") -> None: ...


console = Console(stderr=True, highlight=False)
_SECONDS_BETWEEN_LINES = 5.0
_shown = False


def show(on: bool = True) -> None:
    """Switch reports on (the command line does) or off."""
    global _shown
    _shown = on


def say(line: str) -> None:
    """One line about what is happening."""
    if _shown:
        console.print(line, markup=False)


@contextmanager
def track(label: str, total: int | None) -> Iterator[Advance]:
    """Report how much of `total` is done; call the result with each step's size."""
    if not _shown:
        yield _nothing
    elif console.is_terminal:
        yield from _bar(label, total)
    else:
        yield from _lines(label, total)


def _nothing(step: int, note: str = "") -> None:
    pass


def _bar(label: str, total: int | None) -> Iterator[Advance]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(label, total=total, note="")

        def advance(step: int, note: str = "") -> None:
            progress.update(task, advance=step, note=note)

        yield advance


def _lines(label: str, total: int | None) -> Iterator[Advance]:
    began = last = time.monotonic()
    done = 0

    def advance(step: int, note: str = "") -> None:
        nonlocal done, last
        done += step
        now = time.monotonic()
        if now - last >= _SECONDS_BETWEEN_LINES:
            last = now
            share = f" of {total:,} ({done / total:.0%})" if total else ""
            console.print(
                f"{label}: {done:,}{share}, {now - began:.0f} s{', ' if note else ''}{note}"
            )

    yield advance
