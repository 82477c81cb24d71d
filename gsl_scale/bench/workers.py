"""Training on several workers beside training on one: same graph, same batches, real Ray."""

import json
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from gsl_scale.config import Config
from gsl_scale.pipeline import run_pipeline
from gsl_scale.preset import Shape, resolve
from gsl_scale.store.artifact import Artifact
from gsl_scale.train.journal import FILE_NAME

WARM_UP = 5  # steps


def measure(config: Config, workers: list[int], steps: int, repeats: int) -> dict[str, Any]:
    """Seeds per second of the steps between two refreshes, one thread per worker.

    The first steps, which bring data into memory, do not count. Numbers of workers
    take turns, so that a machine that slows down slows all of them down.
    """
    with tempfile.TemporaryDirectory(prefix="gsl-bench-") as scratch:
        start = Path(scratch) / "start"
        run_pipeline(_with(config, 0, steps), start, until="knn")
        rounds: dict[int, list[dict[str, Any]]] = {number: [] for number in workers}
        for _ in range(repeats):
            for number in workers:
                rounds[number].append(_round(_with(config, number, steps), start))
    rows = []
    for number, found in rounds.items():
        speeds = [one["seeds"] / one["seconds"] for one in found]
        rows.append(
            {
                "workers": number,
                "seeds_per_second": statistics.median(speeds),
                "spread": [min(speeds), max(speeds)],
                "refresh_seconds": statistics.median(one["refresh_seconds"] for one in found),
                "peak_bytes": max(one["peak_bytes"] for one in found),
            }
        )
    for row in rows:
        row["ratio"] = row["seeds_per_second"] / rows[0]["seeds_per_second"]
    return {"steps": steps, "repeats": repeats, "rows": rows}


def _with(config: Config, workers: int, steps: int) -> Config:
    run = config.run.model_copy(update={"workers": workers, "threads": 1})
    train = config.train.model_copy(update={"steps": steps, "refresh": steps})
    return config.model_copy(update={"run": run, "train": train})


def _round(config: Config, start: Path) -> dict[str, Any]:
    """What the journal says of one round of steps; memory, of the whole training."""
    folder = start.parent / "run"
    shutil.copytree(start, folder)
    try:
        run_pipeline(config, folder, until="train")
        lines = (folder / FILE_NAME).read_text().splitlines()
        data = Artifact.open(folder / "data")
        batch = min(resolve(config, Shape.of(data)).contrast.batch, data.manifest.num_nodes)
        peak = Artifact.open(folder / "embeddings").manifest.facts["peak_bytes"]
        return summed_up([json.loads(line) for line in lines], batch) | {"peak_bytes": peak}
    finally:
        shutil.rmtree(folder)


def summed_up(events: list[dict[str, Any]], batch: int) -> dict[str, Any]:
    """Of the round: its seeds and seconds without the first steps, and its refresh."""
    steps = [one["seconds"] for one in events if one["event"] == "step"]
    counted = steps[min(WARM_UP, len(steps) - 1) :]
    (whole,) = (one for one in events if one["event"] == "round")
    return {**whole, "seeds": batch * len(counted), "seconds": sum(counted)}
