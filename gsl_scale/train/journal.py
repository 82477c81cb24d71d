"""What a training says while it runs: JSON lines and TensorBoard events in the run folder, and
gauges for Ray's dashboard.

`train.jsonl` is only ever appended to. Steps that were done again after a failure are there twice;
each attempt begins with a line of its own.
"""

import json
import time
from pathlib import Path
from typing import Any, TextIO

from tensorboardX import SummaryWriter  # type: ignore[import-untyped]

FILE_NAME = "train.jsonl"


class Journal:
    """Kept by the first rank; silent without a folder."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lines: TextIO | None = None
        self._events: Any = None
        self._gauges: dict[str, Any] = {}

    def begin(self, step: int, pids: list[int]) -> None:
        """An attempt that goes on after this step; the processes of its ranks."""
        if self._folder is None:
            return
        self._lines = (self._folder / FILE_NAME).open("a", encoding="utf-8")
        self._events = SummaryWriter(str(self._folder / "tensorboard"), purge_step=step + 1)
        self._write("attempt", step, {"pids": pids, "time": time.time()})

    def step(self, step: int, **facts: float) -> None:
        self._write("step", step, facts)

    def round(self, step: int, **facts: Any) -> None:
        """Between two refreshes."""
        self._write("round", step, facts)

    def _write(self, event: str, step: int, facts: dict[str, Any]) -> None:
        if self._lines is None:
            return
        self._lines.write(json.dumps({"event": event, "step": step, **facts}) + "\n")
        self._lines.flush()
        for name, value in facts.items():
            if event != "attempt" and isinstance(value, int | float):
                self._events.add_scalar(f"train/{name}", value, step)
                self._gauge(name, value)

    def _gauge(self, name: str, value: float) -> None:
        import ray

        if not ray.is_initialized():
            return
        if name not in self._gauges:
            from ray.util.metrics import Gauge

            self._gauges[name] = Gauge(f"gsl_train_{name}")
        self._gauges[name].set(value)

    def end(self) -> None:
        if self._lines is not None:
            self._lines.close()
            self._events.close()
            self._lines = None


SILENT = Journal(None)
