"""The loop around the step: rounds of steps between two refreshes of candidates.

The same in one process and in each of several ranks.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from gsl_scale import progress
from gsl_scale.config import Config
from gsl_scale.contrast.loss import nt_xent
from gsl_scale.errors import GslError
from gsl_scale.ranks import ALONE, Ranks
from gsl_scale.train.step import Batch, Model

_LOWER = 0.999  # of the lowest loss before: what counts as lower


class DivergedError(GslError):
    """The loss is not a number any more."""


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


class Graphs(Protocol):
    """The learned graph's candidates and the anchor, wherever they lie."""

    num_nodes: int

    @property
    def dims(self) -> tuple[int, int]: ...

    def start(self, model: Model) -> None: ...

    def batch(self, seeds: Tensor, step: int) -> Batch: ...

    def refresh(self, model: Model) -> float: ...

    def blend(self, model: Model) -> None: ...


AnyGraphs = TypeVar("AnyGraphs", bound=Graphs)


class Trainer(Generic[AnyGraphs]):
    """Owns model and optimiser; `config` has no 'auto' left."""

    def __init__(self, config: Config, graphs: AnyGraphs, ranks: Ranks = ALONE) -> None:
        torch.manual_seed(config.train.seed)
        self.config, self.graphs, self.ranks = config, graphs, ranks
        self.model = Model(config, *graphs.dims)
        groups: list[dict[str, Any]] = [
            {"params": self.model.learner.parameters(), "lr": config.learner.learning_rate},
            {"params": self.model.encoder.parameters()},
            {"params": self.model.projector.parameters()},
        ]
        self.optimiser = torch.optim.Adam(groups, lr=config.train.learning_rate)
        self._forward = self.model if ranks.size == 1 else DistributedDataParallel(self.model)
        self.history = History()
        graphs.start(self.model)

    def step(self, number: int, seeds: Tensor) -> float:
        """Lines 13 to 17: descent on one batch, and the anchor's update every c steps."""
        mine = self.graphs.batch(seeds[self.ranks.slice(len(seeds))], number)
        learner, anchor = self._forward(mine, number)
        temperature = self.config.contrast.temperature
        loss = nt_xent(learner, anchor, temperature, self.ranks, len(seeds))
        value = float(loss.detach())
        if not np.isfinite(value):
            raise DivergedError(
                f"The loss is {value} at step {number}.",
                "The usual suspects are a learning rate that is too high and features of very "
                "different sizes.",
                "Lower train.learning_rate and learner.learning_rate, or set data.scale=standard.",
                stage="train",
            )
        self.optimiser.zero_grad()
        (loss * self.ranks.size).backward()  # DDP takes the mean of the ranks' parts
        settings = self.config.anchor
        if settings.tau < 1.0 and number % settings.c == 0:
            self.graphs.blend(self.model)
        self.optimiser.step()
        return value

    def run(self, watch: Callable[[int], None] = lambda _: None) -> History:
        """All steps, or as many as it takes; `watch` is called after every refresh."""
        train, history = self.config.train, self.history
        seeds = Seeds(self.graphs.num_nodes, self.config.contrast.batch, train.seed)
        losses: list[float] = []
        began = time.monotonic()
        with progress.track("train", train.steps) as advance:
            for number in range(1, train.steps + 1):
                losses.append(self.step(number, seeds[number]))
                advance(1, f"loss {losses[-1]:.3f}")
                if number % train.refresh == 0 or number == train.steps:
                    history.step.append(number)
                    history.loss.append(float(np.mean(losses)))
                    history.kept.append(self.graphs.refresh(self.model))
                    losses = []
                    watch(number)
                    if history.rounds_without_lower >= train.patience:
                        break
        plateau = history.rounds_without_lower >= train.patience
        history.stopped = "plateau" if plateau else "all steps done"
        history.seconds = time.monotonic() - began
        self.model.eval()
        return history


class Seeds:
    """Batches of different nodes, in order; each pass is shuffled anew and leaves out the rest."""

    def __init__(self, num_nodes: int, batch: int, seed: int) -> None:
        self._num_nodes, self._batch, self._seed = num_nodes, min(batch, num_nodes), seed
        self._pass = -1
        self._order = np.empty(0, np.int64)

    def __getitem__(self, step: int) -> Tensor:
        """The batch of a step; the first is 1."""
        number, place = divmod(step - 1, self._num_nodes // self._batch)
        if number != self._pass:
            self._order = np.random.default_rng([self._seed, number]).permutation(self._num_nodes)
            self._pass = number
        chosen = self._order[place * self._batch : (place + 1) * self._batch]
        return torch.from_numpy(np.sort(chosen))
