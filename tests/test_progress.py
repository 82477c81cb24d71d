import io

import pytest
from rich.console import Console

from gsl_scale import progress


@pytest.fixture
def written(monkeypatch):
    """What a terminal, or a log file, gets to see."""
    file = io.StringIO()

    def use(terminal: bool) -> io.StringIO:
        console = Console(file=file, force_terminal=terminal, width=100)
        monkeypatch.setattr(progress, "console", console)
        progress.show()
        return file

    yield use
    progress.show(False)


def test_silent_in_a_library(written):
    file = written(terminal=True)
    progress.show(False)
    progress.say("x")
    with progress.track("work", 3) as advance:
        advance(3)
    assert file.getvalue() == ""


def test_a_bar_in_a_terminal(written):
    file = written(terminal=True)
    with progress.track("work", 3) as advance:
        advance(2)
    assert "work" in file.getvalue()
    assert "\x1b" in file.getvalue()


def test_plain_lines_elsewhere(written, monkeypatch):
    file = written(terminal=False)
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LINES", 0.0)
    with progress.track("work", 4) as advance:
        advance(1)
        advance(1)
    assert [line.split(",")[0] for line in file.getvalue().splitlines()] == [
        "work: 1 of 4 (25%)",
        "work: 2 of 4 (50%)",
    ]
