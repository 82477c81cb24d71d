"""How a training went."""

from dataclasses import dataclass, field

import numpy as np

_LOWER = 0.999  # of the lowest loss before: what counts as lower


@dataclass
class History:
    """What happened, one entry per refresh."""

    step: list[int] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)
    kept: list[float] = field(default_factory=list)  # share of candidates also there before
    stopped: str = ""
    seconds: float = 0.0

    @property
    def done(self) -> int:
        return self.step[-1] if self.step else 0

    @property
    def rounds_without_lower(self) -> int:
        best, since = np.inf, 0
        for loss in self.loss:
            since = 0 if loss < best * _LOWER else since + 1
            best = min(best, loss)
        return since
