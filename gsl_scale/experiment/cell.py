"""One cell of a grid: a training in this process and what became of it, or a baseline.

A finished cell is a small JSON file, named by what decides it: the data's content, the resolved
settings and the version of the code. So whatever is there is never computed again.
"""

import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from gsl_scale import __version__
from gsl_scale.config import Config, depends_on, digest
from gsl_scale.errors import InputError
from gsl_scale.evaluate.classify import JUDGED, Classifier, Task, classify, train_gcn
from gsl_scale.evaluate.watch import begin, resolved
from gsl_scale.experiment.pick import pick_nodes, weights_among
from gsl_scale.graph.features import Features
from gsl_scale.graph.weighted import Graph, with_self_loops
from gsl_scale.ingest.inputs import fingerprint
from gsl_scale.ingest.write import write_data
from gsl_scale.knn.finder import Finder
from gsl_scale.memory import keep_freed_memory
from gsl_scale.pipeline import prepare_process
from gsl_scale.postprocess import Sketch, learned_graph
from gsl_scale.preset import Shape, resolve
from gsl_scale.sources import source_files
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.matrix import edges_matrix
from gsl_scale.train.loop import Trainer
from gsl_scale.train.whole import WholeGraphs

_POINTS = 15  # of a curve, at most, beside its start; each is a classifier trained
_UNTRAINED = ("knn", "evaluate")
_TRAINED = ("learner", "knn", "contrast", "anchor", "train", "export", "evaluate")


@dataclass(frozen=True)
class Ask:
    """`series` is what is judged: learned graph, curves (the same, watched), given graph, kNN
    graph, or weights (of some nodes of two classes). Small enough to send to a worker."""

    dataset: str
    series: str
    config: Config
    classes: tuple[str, ...] = ()


@dataclass
class Keys:
    """Names for cells; data that several share is ingested once."""

    scratch: tempfile.TemporaryDirectory[str] = field(
        default_factory=lambda: tempfile.TemporaryDirectory(prefix="gsl-keys-")
    )
    _seen: dict[str, tuple[Shape, str]] = field(default_factory=dict)

    def __enter__(self) -> "Keys":
        return self

    def __exit__(self, *_: object) -> None:
        self.scratch.cleanup()

    def path(self, ask: Ask, folder: Path) -> Path:
        shape, content = self._data(ask.config)
        config = resolve(ask.config, shape)
        blocks = _UNTRAINED if ask.series in ("given graph", "kNN graph") else _TRAINED
        files = [(f.role, f.sha256) for f in fingerprint(source_files(config.anchor))]
        key = digest([__version__, JUDGED, content, depends_on(config, blocks), files, ask.classes])
        return folder / f"{ask.dataset}-{ask.series.replace(' ', '-')}-{key[:16]}.json"

    def _data(self, config: Config) -> tuple[Shape, str]:
        name = digest(config.data.model_dump(mode="json"))
        if name not in self._seen:
            write_data(config, Path(self.scratch.name) / name)
            data = Artifact.open(Path(self.scratch.name) / name)
            if Task.load(data) is None:
                raise InputError(
                    "There are no labels with nodes to train and to test on.",
                    "An experiment says how well a classifier does on each graph.",
                    "Give data.labels and a split (data.split).",
                )
            self._seen[name] = Shape.of(data), data.manifest.content
        return self._seen[name]


def compute(ask: Ask) -> dict[str, Any]:
    """Train and judge."""
    with resolved(ask.config) as (config, data):
        prepare_process(config)
        keep_freed_memory()
        return _Bench(config, data).judged(ask)


class _Bench:
    """A dataset in memory."""

    def __init__(self, config: Config, data: Artifact) -> None:
        self.config, self.data = config, data
        self.features = Features.of(data)
        self.given = edges_matrix(data) if "edges" in data else None
        task = Task.load(data)
        assert task is not None  # or there would be no key
        self.task = task
        self.choices = Classifier.choices(config.evaluate)

    def judged(self, ask: Ask) -> dict[str, Any]:
        if ask.series == "given graph":
            return self._classified(self._given())
        if ask.series == "kNN graph":
            return self._classified(self._knn().normalised())
        began = time.monotonic()
        trainer = begin(self.config, self.data)
        if ask.series == "weights":
            trainer.run()
            return self._weights(trainer, ask.classes)
        curve: list[list[float]] = []
        history = trainer.run(self._watch(trainer, curve) if ask.series == "curves" else _unwatched)
        return {
            **self._classified(trainer.graphs.written(trainer.model).normalised()),
            "steps": history.done,
            "loss": [list(pair) for pair in zip(history.step, history.loss, strict=True)],
            "curve": curve,
            "seconds": round(time.monotonic() - began, 1),
        }

    def _classified(self, graph: Graph) -> dict[str, Any]:
        seeds = self.config.evaluate.seeds
        return classify(graph, self.features, self.task, self.choices, seeds)

    def _watch(
        self, trainer: Trainer[WholeGraphs], curve: list[list[float]]
    ) -> Callable[[int], None]:
        """Accuracy of the graph as it is, at some refreshes, with the classifier that validates
        best at the start."""
        graphs, model, seed = trainer.graphs, trainer.model, self.config.train.seed
        start = classify(
            graphs.written(model).normalised(), self.features, self.task, self.choices, 1
        )
        decay = start["weight_decay"]
        how = next(choice for choice in self.choices if choice.weight_decay == decay)

        rounds = math.ceil(self.config.train.steps / self.config.train.refresh)
        apart = math.ceil(rounds / _POINTS) * self.config.train.refresh

        def watch(step: int) -> None:
            if step % apart and step < self.config.train.steps:
                return
            score = train_gcn(
                graphs.written(model).normalised(), self.features, self.task, how, seed
            )
            curve.append([step, score.valid * 100, score.test * 100])

        watch(0)
        return watch

    def _given(self) -> Graph:
        if self.given is None:
            raise InputError(
                "This dataset has no given graph.",
                "robustness compares with a GCN on the given graph.",
                "Take a dataset with edges, for example cora and not cora-inference.",
            )
        return Graph.from_scipy(with_self_loops(self.given)).normalised()

    def _knn(self) -> Graph:
        nearest = Finder(self.config.knn, self.config.run)(self.features.dense.numpy())
        return learned_graph(self.features.dense, Sketch.from_candidates(nearest.ids))

    def _weights(self, trainer: Trainer[WholeGraphs], classes: tuple[str, ...]) -> dict[str, Any]:
        knn = self._knn().to_scipy()
        graphs: dict[str, sp.csr_matrix] = {"kNN graph": knn}
        if self.given is not None:
            graphs = {"given graph": with_self_loops(self.given), **graphs}
        graphs["learned graph"] = trainer.graphs.written(trainer.model).to_scipy()
        names = [str(name) for name in self.data.manifest.facts.get("classes", [])]
        before = knn if self.given is None else self.given
        groups = pick_nodes(self.task, names, classes, before)
        nodes = np.concatenate([group.nodes for group in groups])
        return {
            "groups": [{"name": group.name, "nodes": group.nodes.tolist()} for group in groups],
            "graphs": {name: weights_among(graph, nodes) for name, graph in graphs.items()},
        }


def _unwatched(step: int) -> None:
    pass
