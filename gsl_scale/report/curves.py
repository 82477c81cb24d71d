"""How the training went: the loss of every step from the journal, if it is there, and of rounds."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gsl_scale.train.journal import FILE_NAME

_POINTS = 400  # on a curve; more cannot be told apart


@dataclass
class Curves:
    step: list[int]  # of each round
    loss: list[float]
    changed: list[float]  # per cent of candidates that were not there before
    every_step: list[float] = field(default_factory=list)
    every_loss: list[float] = field(default_factory=list)
    attempts: int = 1

    @classmethod
    def read(cls, run: Path, history: dict[str, Any]) -> "Curves":
        changed = [100 * (1 - kept) for kept in history["kept"]]
        curves = cls(history["step"], history["loss"], changed)
        losses, curves.attempts = _journal(run / FILE_NAME)
        steps = [step for step in sorted(losses) if step <= max(curves.step, default=0)]
        for some in np.array_split(np.array(steps), min(_POINTS, max(1, len(steps)))):
            if len(some):
                curves.every_step.append(float(some.mean()))
                curves.every_loss.append(float(np.mean([losses[step] for step in some])))
        return curves

    @property
    def still_falling(self) -> bool:
        """Whether the loss fell by more than 1 % in the last fifth of the rounds."""
        tail = max(2, len(self.loss) // 5)
        if len(self.loss) < 2 * tail:
            return False
        earlier, last = self.loss[-2 * tail : -tail], self.loss[-tail:]
        return float(np.mean(last)) < 0.99 * float(np.mean(earlier))


def _journal(path: Path) -> tuple[dict[int, float], int]:
    """The loss of every step, and how many attempts it took. A later attempt goes on after some
    step and replaces what was noted beyond; one that begins at 0 is another training."""
    losses: dict[int, float] = {}
    attempts = 0
    if not path.exists():
        return losses, 1
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                entry = json.loads(line)
            except ValueError:  # cut off in the middle by a kill
                continue
            if entry.get("event") == "attempt":
                attempts = 1 if entry["step"] == 0 else attempts + 1
                losses = {step: loss for step, loss in losses.items() if step <= entry["step"]}
            elif entry.get("event") == "step":
                losses[entry["step"]] = entry["loss"]
    return losses, max(1, attempts)
