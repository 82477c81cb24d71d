"""The loop around the step, in one process: rounds of steps between two refreshes of candidates."""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor

from gsl_scale import progress
from gsl_scale.anchor import blend, first_anchor
from gsl_scale.config import Config
from gsl_scale.context import learner_input
from gsl_scale.errors import GslError
from gsl_scale.graph.features import Features
from gsl_scale.graph.weighted import Graph, with_self_loops
from gsl_scale.knn.finder import Finder
from gsl_scale.knn.neighbours import Neighbours
from gsl_scale.postprocess import Sketch, learned_graph
from gsl_scale.train.step import Model, Views, contrast_views


class DivergedError(GslError):
    """The loss is not a number any more."""


@dataclass
class History:
    """What happened, one entry per refresh."""

    step: list[int] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)
    kept: list[float] = field(default_factory=list)  # share of candidates also there before
    stopped: str = ""
    seconds_per_step: float = 0.0


@dataclass(frozen=True)
class Learned:
    """What is left of a training: the model, what it makes of every node, and how it went."""

    model: Model
    embeddings: npt.NDArray[np.float32]
    representations: npt.NDArray[np.float32]
    history: History


class Trainer:
    """Owns model, optimiser, candidates and anchor; `config` has no 'auto' left."""

    def __init__(
        self,
        config: Config,
        features: Features,
        given: sp.csr_matrix | None,
        nearest: Neighbours,
    ) -> None:
        """`nearest`: the kNN candidates of the features."""
        torch.manual_seed(config.train.seed)
        self.config, self.features = config, features
        self.num_nodes = features.shape[0]
        self._find = Finder(config.knn, config.run)
        self.given_edges = given if config.knn.keep_given else None
        self.given = (
            None if given is None else Graph.from_scipy(with_self_loops(given)).normalised()
        )
        self.seen = learner_input(features, self.given, nearest, config.learner)
        self.model = Model(config, features.shape[1], self.seen.shape[1])
        groups: list[dict[str, Any]] = [
            {"params": self.model.learner.parameters(), "lr": config.learner.learning_rate},
            {"params": self.model.encoder.parameters()},
            {"params": self.model.projector.parameters()},
        ]
        self.optimiser = torch.optim.Adam(groups, lr=config.train.learning_rate)
        self.anchor = first_anchor(given, self.num_nodes)
        # Learners start as the identity: without context they begin with the kNN graph.
        plain = self.seen is self.features and config.learner.kind != "gnn"
        self.candidates = nearest.ids if plain else self.find_candidates()
        self.sketch = Sketch.from_candidates(self.candidates, self.given_edges)
        self.history = History()

    @torch.no_grad()
    def embed(self) -> Tensor:
        embeddings: Tensor = self.model.learner(self.seen, self.given)
        return embeddings

    def find_candidates(self) -> npt.NDArray[np.int64]:
        return self._find(self.embed().numpy()).ids

    def refresh(self) -> float:
        """New candidates for the embeddings as they are now; how many of them are old ones."""
        before, self.candidates = self.candidates, self.find_candidates()
        self.sketch = Sketch.from_candidates(self.candidates, self.given_edges)
        both = np.concatenate([before, self.candidates], axis=1)
        both.sort(axis=1)
        return float((both[:, 1:] == both[:, :-1]).sum() / before.size)

    def step(self, number: int, seeds: Tensor) -> float:
        """Lines 14 to 17: gradient descent on one batch, and the anchor's update every c steps."""
        views = Views(self.features, self.seen, self.given, self.sketch, self.anchor)
        loss, learned = contrast_views(self.model, views, seeds, self.config, number)
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
        loss.backward()
        self.optimiser.step()
        anchor = self.config.anchor
        if anchor.tau < 1.0 and number % anchor.c == 0:
            self.anchor = blend(self.anchor, learned, anchor.tau, anchor.budget)
        return value

    def run(self, watch: "Callable[[Trainer, int], None] | None" = None) -> Learned:
        """All steps, or as many as it takes; `watch` is called after every refresh."""
        train = self.config.train
        seeds = seed_batches(self.num_nodes, self.config.contrast.batch, train.seed)
        best, since, losses = np.inf, 0, []
        began = time.monotonic()
        with progress.track("train", train.steps) as advance:
            for number in range(1, train.steps + 1):
                losses.append(self.step(number, next(seeds)))
                advance(1, f"loss {losses[-1]:.3f}")
                if number % train.refresh == 0 or number == train.steps:
                    self.history.step.append(number)
                    self.history.loss.append(float(np.mean(losses)))
                    self.history.kept.append(self.refresh())
                    losses = []
                    if watch is not None:
                        watch(self, number)
                    since = 0 if self.history.loss[-1] < best * 0.999 else since + 1
                    best = min(best, self.history.loss[-1])
                    if since >= train.patience:
                        break
        self.history.stopped = "plateau" if since >= train.patience else "all steps done"
        self.history.seconds_per_step = (time.monotonic() - began) / number
        return self._finish()

    @torch.no_grad()
    def learned(self) -> Graph:
        """The learned graph as it is now, normalised and without augmentation."""
        return learned_graph(self.embed(), self.sketch).normalised()

    @torch.no_grad()
    def _finish(self) -> Learned:
        self.model.eval()
        representations = self.model.encoder(self.learned(), self.features)
        return Learned(self.model, self.embed().numpy(), representations.numpy(), self.history)


def seed_batches(num_nodes: int, batch: int, seed: int) -> Iterator[Tensor]:
    """Batches of different nodes; each pass is shuffled anew and leaves out what is too few."""
    batch = min(batch, num_nodes)
    for number in itertools.count():
        order = np.random.default_rng([seed, number]).permutation(num_nodes)
        for at in range(0, num_nodes - batch + 1, batch):
            yield torch.from_numpy(order[at : at + batch])
