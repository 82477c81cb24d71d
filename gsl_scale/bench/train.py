"""A training step of ours beside one done the paper's way, on the same graph and batch."""

import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gsl_scale.config import Config

_WAYS = ("ours", "the paper's way")


def measure(config: Config, steps: int, paper_steps: int) -> dict[str, Any]:
    """Each way in a process of its own, so that each has its own peak memory; turn and turn about
    would mix them. Set-up and search are timed apart from the steps."""
    with tempfile.TemporaryDirectory(prefix="gsl-bench-") as scratch:
        from gsl_scale.ingest.write import write_data

        write_data(config, Path(scratch) / "data")
        context = multiprocessing.get_context("spawn")
        found = {}
        # The paper's learner is as wide as the features; narrowing it is part of our way.
        wide = config.model_copy(update={"learner": config.learner.model_copy(update={"width": 0})})
        told = zip(_WAYS, (steps, paper_steps), (config, wide), strict=True)
        for way, number, asked in told:
            with context.Pool(1) as pool:
                found[way] = pool.apply(_measure, (asked, f"{scratch}/data", way, number))
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
    from gsl_scale.graph.features import Features
    from gsl_scale.knn.exact import all_neighbours
    from gsl_scale.memory import keep_freed_memory, peak_bytes
    from gsl_scale.pipeline import prepare_process
    from gsl_scale.preset import Shape, resolve
    from gsl_scale.sources import write_first_anchor
    from gsl_scale.store.artifact import Artifact
    from gsl_scale.store.matrix import edges_matrix
    from gsl_scale.train.loop import Seeds, Trainer
    from gsl_scale.train.whole import WholeGraphs

    prepare_process(config)
    keep_freed_memory()
    data = Artifact.open(folder)
    config = resolve(config, Shape.of(data))
    began = time.perf_counter()
    features = Features.of(data)
    nearest = all_neighbours(features.dense.numpy(), config.knn.k)
    given = edges_matrix(data) if "edges" in data else None
    first = write_first_anchor(config, data, [nearest.edges()], Path(f"{folder}-{way}-anchor"))
    graphs = WholeGraphs(config, features, given, nearest, first=first)
    trainer = Trainer(config, graphs)
    set_up = time.perf_counter() - began
    batches = Seeds(graphs.num_nodes, config.contrast.batch, 0)
    search = _timed(lambda: graphs.refresh(trainer.model), 2) if way == "ours" else [0.0]

    number = 0

    def step() -> None:
        nonlocal number
        number += 1
        if way == "ours":
            trainer.step(number, batches[number])
            return
        x, smooth = features.dense, graphs.seen.dense
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
            "width": graphs.seen.shape[1],
            "refresh": config.train.refresh,
            "threads": torch.get_num_threads(),
        },
        "set_up": set_up,
        "search": searched,
        "step": one,
        "step_with_search": one + searched / config.train.refresh,
        "spread": [min(times), max(times)],
        "peak_bytes": peak_bytes(),
    }


def _timed(call: Callable[[], object], times: int) -> list[float]:
    """Seconds of each of `times` calls, after one that is not counted."""
    taken = []
    for _ in range(times + 1):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return taken[1:]
