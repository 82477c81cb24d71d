"""A training step of ours beside one done the paper's way, on the same graph and batch."""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gsl_scale.bench.apart import apart
from gsl_scale.config import Config

if TYPE_CHECKING:
    from gsl_scale.store.artifact import Artifact
    from gsl_scale.train.loop import Trainer

_WAYS = ("ours", "the paper's way")
_LONG = 30.0  # seconds; what takes longer is not warmed up first


def measure(config: Config, steps: int, paper_steps: int) -> dict[str, Any]:
    """Each way in a process of its own, so that each has its own peak memory; turn and turn about
    would mix them. Set-up and search are timed apart from the steps."""
    with tempfile.TemporaryDirectory(prefix="gsl-bench-") as scratch:
        from gsl_scale.ingest.write import write_data

        write_data(config, Path(scratch) / "data")
        found = {}
        # The paper's learner is as wide as the features; narrowing it is part of our way.
        wide = config.model_copy(update={"learner": config.learner.model_copy(update={"width": 0})})
        told = zip(_WAYS, (steps, paper_steps), (config, wide), strict=True)
        for way, number, asked in told:
            found[way] = apart(_measure, asked, f"{scratch}/data", way, number)
    ours, paper = (found[way] for way in _WAYS)
    return {
        "nodes": ours.pop("nodes"),
        "settings": ours.pop("settings"),
        "ways": found,
        "step_ratio": paper["step"] / ours["step"],
        "step_ratio_with_search": paper["step"] / ours["step_with_search"],
        "memory_ratio": paper["peak_bytes"] / ours["peak_bytes"],
    }


def _measure(config: Config, folder: str, way: str, steps: int) -> dict[str, Any]:
    import torch

    from gsl_scale.bench.paper_step import paper_step
    from gsl_scale.memory import keep_freed_memory, peak_bytes
    from gsl_scale.pipeline import prepare_process
    from gsl_scale.preset import Shape, resolve
    from gsl_scale.store.artifact import Artifact
    from gsl_scale.train.loop import Seeds
    from gsl_scale.train.whole import WholeGraphs

    prepare_process(config)
    if way == "ours":  # products of blocks and what is kept of them would tear the heap to pieces
        keep_freed_memory()
    data, scratch = Artifact.open(folder), Path(f"{folder}-{way}")
    config = resolve(config, Shape.of(data))
    sampled = way == "ours" and config.contrast.fanout != "all"
    began = time.perf_counter()
    trainer = (_on_disk if sampled else _in_memory)(config, data, scratch)
    set_up = time.perf_counter() - began
    graphs = trainer.graphs
    batches = Seeds(graphs.num_nodes, config.contrast.batch, 0)
    search = _timed(lambda: graphs.refresh(trainer.model), 2) if way == "ours" else [0.0]

    number = 0

    def step() -> None:
        nonlocal number
        number += 1
        if way == "ours":
            trainer.step(number, batches[number])
            return
        assert isinstance(graphs, WholeGraphs)
        x, smooth = graphs.features.dense, graphs.seen.dense
        loss = paper_step(trainer.model, x, smooth, graphs.anchor, batches[number], config)
        trainer.optimiser.zero_grad()
        loss.backward()
        trainer.optimiser.step()

    times = _timed(step, steps)
    one, searched = statistics.median(times), statistics.median(search)
    return {
        "nodes": graphs.num_nodes,
        "settings": {
            "k": config.knn.k,
            "batch": config.contrast.batch,
            "learner": config.learner.kind,
            "fanout": config.contrast.fanout,
            "width": graphs.dims[1],
            "refresh": config.train.refresh,
            "threads": torch.get_num_threads(),
        },
        "set_up": set_up,
        "search": searched,
        "step": one,
        "step_with_search": one + searched / config.train.refresh,
        "pass": (one + searched / config.train.refresh) * graphs.num_nodes / config.contrast.batch,
        "spread": [min(times), max(times)],
        "peak_bytes": peak_bytes(),
    }


def _in_memory(config: Config, data: "Artifact", scratch: Path) -> "Trainer[Any]":
    """All of the graphs in one process."""
    from gsl_scale.graph.features import Features
    from gsl_scale.knn.exact import all_neighbours
    from gsl_scale.sources import write_first_anchor
    from gsl_scale.store.matrix import edges_matrix
    from gsl_scale.train.loop import Trainer
    from gsl_scale.train.whole import WholeGraphs

    features = Features.of(data)
    nearest = all_neighbours(features.dense.numpy(), config.knn.k)
    given = edges_matrix(data) if "edges" in data else None
    first = write_first_anchor(config, data, [nearest.edges()], scratch / "first-anchor")
    return Trainer(config, WholeGraphs(config, features, given, nearest, first=first))


def _on_disk(config: Config, data: "Artifact", scratch: Path) -> "Trainer[Any]":
    """Batches read from graphs on disk, as a training does that samples neighbours."""
    from gsl_scale.knn.search import search_knn
    from gsl_scale.ranks import ALONE
    from gsl_scale.sources import write_first_anchor
    from gsl_scale.store.artifact import Artifact
    from gsl_scale.train.loop import Trainer
    from gsl_scale.train.prepare import write_seen
    from gsl_scale.train.sharded import ShardedGraphs

    search_knn(data, scratch / "knn", config.knn, config.run, config={})
    knn = Artifact.open(scratch / "knn")
    seen = write_seen(config, data, knn, scratch / "seen")
    candidates = (edges for _, edges in knn.edges().parts())
    first = write_first_anchor(config, data, candidates, scratch / "first-anchor")
    work = scratch / "work"
    return Trainer(config, ShardedGraphs(config, data, seen, knn, work, ALONE, first))


def _timed(call: Callable[[], object], times: int) -> list[float]:
    """Seconds of each of `times` calls, after one that does not count unless it takes long."""
    taken: list[float] = []
    for number in range(times + 1):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
        if number + 1 == times and taken[0] > _LONG:
            return taken
    return taken[1:]
