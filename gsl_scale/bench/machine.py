"""What something was measured on: machine, versions, commit and time."""

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from gsl_scale.memory import size
from gsl_scale.report.provenance import versions


def about_machine() -> dict[str, Any]:
    found = versions()
    time = found.pop("page written")
    found.pop("machine")
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    machine = f"{_processor()}, {os.cpu_count()} cores, {size(memory)}, {platform.system()}"
    return {"machine": machine, "versions": found, "commit": commit(), "measured": time}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


def commit() -> str:
    """Of this checkout, marked if there are changes on top; unknown for an installed package."""
    here = Path(__file__).parent
    command = ["git", "-C", str(here), "describe", "--always", "--dirty", "--exclude", "*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.strip()
