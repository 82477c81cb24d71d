"""Nodes held back, then added by `extend`, beside learning anew with all of them.

Both graphs are judged on the held-back nodes alone, by the GCN that the evaluation trains. The runs
are made from features and edges; labels stay outside of them.
"""

import json
import tempfile
from dataclasses import dataclass
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
from gsl_scale.graph.load import edges_matrix, symmetric
from gsl_scale.graph.weighted import Graph, with_self_loops
from gsl_scale.ingest.write import write_data
from gsl_scale.pipeline import run_pipeline
from gsl_scale.preset import Shape, resolve
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.manifest import write_durably

_BLOCKS = ("data", "learner", "knn", "contrast", "anchor", "train", "evaluate")
WAYS = ("extended", "learned anew", "kNN graph")


def measure(name: str, config: Config, seeds: int, share: float, out: Path) -> dict[str, Any]:
    """Seeds 0, 1, ...: of the choice of nodes and of the training. Finished ones are kept."""
    cells = []
    for seed in range(seeds):
        key = digest([__version__, depends_on(config, _BLOCKS), share, seed])[:12]
        path = out / f"{name}-seed{seed}-{key}.json"
        if not path.exists():
            with tempfile.TemporaryDirectory(prefix="gsl-bench-") as scratch:
                found = _cell(config, seed, share, Path(scratch))
            out.mkdir(parents=True, exist_ok=True)
            write_durably(path, json.dumps(found, indent=1))
        cells.append(json.loads(path.read_text()))
    return {
        "name": name,
        "held_back": cells[0]["held_back"],
        "nodes": cells[0]["nodes"],
        "seeds": cells,
        "mean": {way: float(np.mean([cell[way]["mean"] for cell in cells])) for way in WAYS},
    }


def _cell(config: Config, seed: int, share: float, scratch: Path) -> dict[str, Any]:
    write_data(config, scratch / "data")
    data = Artifact.open(scratch / "data")
    task = Task.load(data)
    if task is None:
        raise InputError(
            "There are no labels to judge by.", next_step="Give a config whose data has labels."
        )
    parted = _Parted.of(data, task, seed, share)
    files = parted.write(data, scratch)
    runs = {}
    for way, number in (("rest", 0), ("learned anew", 2)):
        tree = config.model_dump(mode="json") | {"data": {"source": "tables", **files[number]}}
        tree["train"]["seed"] = seed
        progress.say(f"{way}, seed {seed}")
        runs[way] = scratch / f"run-{number}"
        run_pipeline(make_config(tree), runs[way], until="export")
    rest = make_config(config.model_dump(mode="json") | {"data": {"source": "tables", **files[0]}})
    flags = {key: value for key, value in files[1].items() if key != "scale"}
    runs["extended"] = scratch / "extended"
    added = extend(runs["rest"], runs["extended"], rest, flags)
    found = {
        way: _judged(config, runs[way], "graph", parted.task)
        for way in ("extended", "learned anew")
    }
    found["kNN graph"] = _judged(config, runs["extended"], "knn", parted.task)
    new_edges = {key: added[key] for key in ("new_edges", "between_new", "alone")}
    sizes = {"nodes": parted.num_nodes, "held_back": len(parted.task.test)}
    return {"seed": seed, **sizes, **new_edges, **found}


@dataclass(frozen=True)
class _Parted:
    """All nodes in another order, those held back last; `task` tests on them."""

    order: np.ndarray
    task: Task

    @property
    def num_nodes(self) -> int:
        return len(self.order)

    @classmethod
    def of(cls, data: Artifact, task: Task, seed: int, share: float) -> "_Parted":
        """Held back are nodes that a classifier neither trains on nor validates with."""
        total = data.manifest.num_nodes
        free = task.labels.numpy() >= 0
        free[torch.cat([task.train, task.valid]).numpy()] = False
        rng = np.random.default_rng(seed)
        held = rng.choice(np.flatnonzero(free), round(share * total), replace=False)
        rest = np.setdiff1d(np.arange(total), held)
        order = np.concatenate([rest, np.sort(held)])
        place = torch.from_numpy(np.argsort(order))
        new = torch.arange(len(rest), total)
        labels = task.labels[torch.from_numpy(order)]
        return cls(order, Task(labels, place[task.train], place[task.valid], new, task.num_classes))

    def write(self, data: Artifact, folder: Path) -> list[dict[str, Any]]:
        """Files of the rest, of what was held back, and of all: keys of data blocks."""
        rows, rest = np.array(data.nodes().read())[self.order], self.num_nodes - len(self.task.test)
        files = []
        for name, part in (("rest", rows[:rest]), ("held", rows[rest:]), ("all", rows)):
            np.save(folder / f"{name}.npy", part)
            files.append({"features": str(folder / f"{name}.npy"), "scale": "none"})
        if "edges" not in data:
            return files
        place = np.argsort(self.order)
        edges = data.edges().read()
        table = pd.DataFrame(
            {"src": place[edges.src], "dst": place[edges.dst], "weight": edges.weight}
        )
        old = table[["src", "dst"]].max(axis=1) < rest
        for keys, part in zip(files, (table[old], table[~old], table), strict=True):
            keys["edges"] = keys["features"].replace(".npy", ".parquet")
            part.to_parquet(keys["edges"])
        return files


def _judged(config: Config, run: Path, name: str, task: Task) -> dict[str, Any]:
    data = Artifact.open(run / "data")
    settings = resolve(config, Shape.of(data)).evaluate
    matrix = edges_matrix(Artifact.open(run / name))
    if name == "knn":
        matrix = symmetric(matrix)
    graph = Graph.from_scipy(with_self_loops(matrix)).normalised()
    choices = Classifier.choices(settings)
    return classify(graph, Features.of(data), task, choices, settings.seeds)
