"""Nodes held back, then added by `extend`, beside learning anew with all of them.

Both graphs are judged on the held-back nodes alone, by the GCN that the evaluation trains. The runs
are made from features and edges; labels stay outside of them.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from gsl_scale import __version__, progress
from gsl_scale.config import Config, depends_on, digest
from gsl_scale.config_file import make_config
from gsl_scale.errors import InputError
from gsl_scale.evaluate.classify import Classifier, Task, classify
from gsl_scale.extend.run import extend
from gsl_scale.graph.features import Features
from gsl_scale.graph.weighted import Graph, with_self_loops
from gsl_scale.ingest.write import write_data
from gsl_scale.pipeline import run_pipeline
from gsl_scale.preset import Shape, resolve
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.manifest import write_durably
from gsl_scale.store.matrix import edges_matrix, symmetric

_BLOCKS = ("data", "learner", "knn", "contrast", "anchor", "train", "evaluate")
# What is judged: the graph of which run.
WAYS = {
    "extended": ("extended", "graph"),
    "learned anew": ("anew", "graph"),
    "kNN graph": ("anew", "knn"),
}


def measure(name: str, config: Config, seeds: int, share: float, out: Path) -> dict[str, Any]:
    """Seeds 0, 1, ...: of the choice of nodes and of the training. What is finished is kept, and
    what was cut short goes on."""
    cells = [_cell(name, config, seed, share, out) for seed in range(seeds)]
    return {
        "name": name,
        "held_back": cells[0]["held_back"],
        "nodes": cells[0]["nodes"],
        "seeds": cells,
        "mean": {way: float(np.mean([cell[way]["mean"] for cell in cells])) for way in WAYS},
    }


def _cell(name: str, config: Config, seed: int, share: float, out: Path) -> dict[str, Any]:
    key = digest([__version__, depends_on(config, _BLOCKS), share])[:12]
    work = out / f"{name}-{key}-seed{seed}"

    def compute() -> dict[str, Any]:
        work.mkdir(parents=True, exist_ok=True)
        return _Trial.of(config, seed, share, work).outcome()

    found = _kept(work.with_suffix(".json"), compute)
    shutil.rmtree(work, ignore_errors=True)
    return found


def _kept(path: Path, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What lies there, or what is computed now and put there."""
    if not path.exists():
        write_durably(path, json.dumps(compute(), indent=1))
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@dataclass(frozen=True)
class _Trial:
    """All nodes in another order, those held back last; `task` tests on them."""

    config: Config
    seed: int
    work: Path
    data: Artifact
    order: np.ndarray
    task: Task

    @classmethod
    def of(cls, config: Config, seed: int, share: float, work: Path) -> "_Trial":
        """Held back are nodes that a classifier neither trains on nor validates with."""
        write_data(config, work / "data")
        data = Artifact.open(work / "data")
        task = Task.load(data)
        if task is None:
            raise InputError(
                "There are no labels to judge by.",
                next_step="Give a config whose data has labels and a split.",
            )
        total = data.manifest.num_nodes
        free = task.labels.numpy() >= 0
        free[torch.cat([task.train, task.valid]).numpy()] = False
        rng = np.random.default_rng(seed)
        held = rng.choice(np.flatnonzero(free), round(share * total), replace=False)
        rest = np.setdiff1d(np.arange(total), held)
        order = np.concatenate([rest, np.sort(held)])
        place = torch.from_numpy(np.argsort(order))
        moved = Task(
            task.labels[torch.from_numpy(order)],
            place[task.train],
            place[task.valid],
            torch.arange(len(rest), total),
            task.num_classes,
        )
        return cls(config, seed, work, data, order, moved)

    def outcome(self) -> dict[str, Any]:
        rest, held, every = self._files()
        config = self._learn("rest", rest)

        def add() -> dict[str, Any]:
            shutil.rmtree(self.work / "extended", ignore_errors=True)
            return extend(self.work / "rest", self.work / "extended", config, held)

        added = _kept(self.work / "added.json", add)
        self._learn("anew", every)
        found = {
            way: _kept(self.work / f"{run}-{graph}.json", partial(self._judged, run, graph))
            for way, (run, graph) in WAYS.items()
        }
        sizes = {"nodes": len(self.order), "held_back": len(self.task.test)}
        return {"seed": self.seed, **sizes, **added, **found}

    def _learn(self, name: str, files: dict[str, Any]) -> Config:
        tree = self.config.model_dump(mode="json")
        tree["data"] = {"source": "tables", "scale": "none", **files}
        tree["train"]["seed"] = self.seed
        config = make_config(tree)
        progress.say(f"{name}, seed {self.seed}")
        run_pipeline(config, self.work / name, until="export")
        return config

    def _files(self) -> list[dict[str, Any]]:
        """Of the rest, of what was held back, and of all: keys of data blocks."""
        rows, rest = np.array(self.data.nodes().read())[self.order], -len(self.task.test)
        files = []
        for name, part in (("rest", rows[:rest]), ("held", rows[rest:]), ("all", rows)):
            np.save(self.work / f"{name}.npy", part)
            files.append({"features": str(self.work / f"{name}.npy")})
        if "edges" in self.data:
            place, edges = np.argsort(self.order), self.data.edges().read()
            ends = {"src": place[edges.src], "dst": place[edges.dst]}
            table = pd.DataFrame(ends | {"weight": edges.weight})
            old = np.maximum(ends["src"], ends["dst"]) < len(rows) + rest
            for keys, part in zip(files, (table[old], table[~old], table), strict=True):
                keys["edges"] = keys["features"].replace(".npy", ".parquet")
                part.to_parquet(keys["edges"])
        return files

    def _judged(self, run: str, name: str) -> dict[str, Any]:
        data = Artifact.open(self.work / run / "data")
        settings = resolve(self.config, Shape.of(data)).evaluate
        matrix = edges_matrix(Artifact.open(self.work / run / name))
        if name == "knn":
            matrix = symmetric(matrix)
        graph = Graph.from_scipy(with_self_loops(matrix)).normalised()
        choices = Classifier.choices(settings)
        progress.say(f"evaluate: {run}, {name}")
        return classify(graph, Features.of(data), self.task, choices, settings.seeds)
