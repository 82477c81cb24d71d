"""The loop around the step: rounds of steps between two refreshes of candidates.

The same in one process and in each of several ranks.
"""

import os
import time
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from gsl_scale import progress
from gsl_scale.config import Config
from gsl_scale.contrast.loss import Told, contrasted
from gsl_scale.errors import GslError
from gsl_scale.memory import peak_bytes
from gsl_scale.ranks import ALONE, Ranks
from gsl_scale.train.checkpoint import Checkpoint, Checkpoints
from gsl_scale.train.history import History
from gsl_scale.train.journal import SILENT, Journal
from gsl_scale.train.step import Batch, Model


class DivergedError(GslError):
    """The loss is not a number any more."""


class Graphs(Protocol):
    """The learned graph's candidates and the anchor, wherever they lie."""

    num_nodes: int
    versions: dict[str, int]  # of what lies on disk
    device: torch.device  # of the batches

    @property
    def dims(self) -> tuple[int, int]:
        """Columns of the features, and of what the learner sees."""
        ...

    @property
    def num_anchor_edges(self) -> int: ...

    def start(self, model: Model) -> None: ...

    def save(self) -> None:
        """Put on disk what `restore` needs."""
        ...

    def restore(self, model: Model, versions: dict[str, int]) -> None: ...

    def arranged(self, seeds: Tensor) -> Tensor:
        """In an order in which ranks may share them out."""
        ...

    def batch(self, seeds: Tensor, step: int) -> Batch: ...

    def refresh(self, model: Model) -> float: ...

    def blend(self, model: Model) -> None: ...


AnyGraphs = TypeVar("AnyGraphs", bound=Graphs)


class Trainer(Generic[AnyGraphs]):
    """Owns model and optimiser; `config` has no 'auto' left."""

    def __init__(
        self,
        config: Config,
        graphs: AnyGraphs,
        ranks: Ranks = ALONE,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        """From the last checkpoint, if there is one, or from the beginning."""
        torch.manual_seed(config.train.seed)
        self.config, self.graphs, self.ranks = config, graphs, ranks
        self.model = Model(config, *graphs.dims).to(graphs.device)
        groups: list[dict[str, Any]] = [
            {"params": self.model.learner.parameters(), "lr": config.learner.learning_rate},
            {"params": self.model.encoder.parameters()},
            {"params": self.model.projector.parameters()},
        ]
        self.optimiser = torch.optim.Adam(groups, lr=config.train.learning_rate)
        self.history = History()
        self._checkpoints = checkpoints
        found = None if checkpoints is None else ranks.lead(checkpoints.latest)
        if found is None:
            graphs.start(self.model)
        else:
            found.load_into(self.model, self.optimiser)
            graphs.restore(self.model, found.versions)
            self.history = found.history
        self._forward = self.model if ranks.size == 1 else DistributedDataParallel(self.model)
        self._anchor_seconds, self._exchanged = 0.0, 0
        self._ahead: tuple[int, Batch] | None = None

    def step(self, number: int, seeds: Tensor, following: Tensor | None = None) -> float:
        """Lines 13 to 17: descent on one batch, and the anchor's update every c steps. The edges of
        the `following` batch are looked up while other ranks are waited for."""
        learner, anchor = self._forward(
            self._batch(number, seeds),
            number,
            lambda projections: Told.of(projections, self.ranks, len(seeds)),
        )
        temperature = self.config.contrast.temperature
        loss = contrasted(
            learner, anchor, temperature, self.ranks, lambda: self._look_ahead(number, following)
        )
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
        if self._blends(number):
            began = time.monotonic()
            self.graphs.blend(self.model)
            self._anchor_seconds += time.monotonic() - began
        self.optimiser.step()
        return value

    def _batch(self, number: int, seeds: Tensor) -> Batch:
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead[0] == number:
            return ahead[1]
        mine = self.graphs.arranged(seeds)[self.ranks.slice(len(seeds))].sort().values
        return self.graphs.batch(mine, number)

    def _look_ahead(self, number: int, following: Tensor | None) -> None:
        """Unless graphs are renewed before the next step."""
        if following is not None and not self._blends(number):
            batch = self._batch(number + 1, following)
            batch.look_up()
            self._ahead = number + 1, batch

    def _blends(self, number: int) -> bool:
        settings = self.config.anchor
        return settings.tau < 1.0 and number % settings.c == 0

    def run(
        self,
        watch: Callable[[int], None] = lambda _: None,
        journal: Journal = SILENT,
        every: int | None = None,
    ) -> History:
        """All steps, or as many as it takes; `watch` is called after every refresh, and in between
        after `every` so many steps."""
        train, history = self.config.train, self.history
        seeds = Seeds(self.graphs.num_nodes, self.config.contrast.batch, train.seed)
        journal.begin(history.done, self._everyone(os.getpid))
        with progress.track("train", train.steps) as advance:
            advance(history.done)
            while history.done < train.steps and not self._plateau:
                began, losses = time.monotonic(), []
                self._exchanged = self.ranks.exchanged
                last = min(history.done + train.refresh, train.steps)
                for number in range(history.done + 1, last + 1):
                    taken = time.monotonic()
                    following = seeds[number + 1] if number < last else None
                    losses.append(self.step(number, seeds[number], following))
                    advance(1, f"loss {losses[-1]:.3f}")
                    seconds = time.monotonic() - taken
                    journal.step(number, loss=losses[-1], seconds=seconds)
                    if every and number % every == 0 and number < last:
                        watch(number)
                self._end_round(last, losses, began, journal)
                watch(last)
        history.stopped = "plateau" if self._plateau else "all steps done"
        self.model.eval()
        return history

    @property
    def _plateau(self) -> bool:
        return self.history.rounds_without_lower >= self.config.train.patience

    def _everyone(self, tell: Callable[[], int]) -> list[int]:
        """What each rank says."""
        return [told for _, told in self.ranks.map(lambda _: tell(), range(self.ranks.size))]

    def _end_round(self, number: int, losses: list[float], began: float, journal: Journal) -> None:
        stepped = time.monotonic()
        kept = self.graphs.refresh(self.model)
        history, refreshed = self.history, time.monotonic()
        history.step.append(number)
        history.loss.append(float(np.mean(losses)))
        history.kept.append(kept)
        history.seconds += refreshed - began
        if self._checkpoints is not None:
            self.graphs.save()
            versions = self.graphs.versions
            now = Checkpoint.of(self.model, self.optimiser, history, versions)
            checkpoints = self._checkpoints
            self.ranks.lead(lambda: checkpoints.write(now))
        stepping = stepped - began - self._anchor_seconds
        batch = min(self.config.contrast.batch, self.graphs.num_nodes)
        exchanged = (self.ranks.exchanged - self._exchanged) / len(losses)
        journal.round(
            number,
            mean_loss=history.loss[-1],
            kept=kept,
            seeds_per_second=len(losses) * batch / stepping,
            refresh_seconds=refreshed - stepped,
            anchor_seconds=self._anchor_seconds,
            checkpoint_seconds=time.monotonic() - refreshed,
            anchor_edges=self.graphs.num_anchor_edges,
            exchanged_bytes=exchanged,  # per step, without DDP's gradients
            peak_bytes=self._everyone(peak_bytes),
        )
        self._anchor_seconds = 0.0


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
