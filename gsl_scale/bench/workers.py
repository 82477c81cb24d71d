"""Training on several workers beside training on one: same graph, same batches, real Ray."""

import json
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from gsl_scale.config import Config
from gsl_scale.pipeline import run_pipeline
from gsl_scale.train.journal import FILE_NAME


def measure(config: Config, workers: list[int], steps: int, repeats: int) -> dict[str, Any]:
    """Seeds per second of the steps between two refreshes, one thread per worker.

    Numbers of workers take turns, so that a machine that slows down slows all of them down.
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
        speeds = [one["seeds_per_second"] for one in found]
        rows.append(
            {
                "workers": number,
                "seeds_per_second": statistics.median(speeds),
                "spread": [min(speeds), max(speeds)],
                "refresh_seconds": statistics.median(one["refresh_seconds"] for one in found),
                "peak_bytes": max(max(one["peak_bytes"]) for one in found),
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
    """What the journal says of one round of steps."""
    folder = start.parent / "run"
    shutil.copytree(start, folder)
    try:
        run_pipeline(config, folder, until="train")
        lines = (folder / FILE_NAME).read_text().splitlines()
        events = [json.loads(line) for line in lines]
        found: dict[str, Any] = next(one for one in events if one["event"] == "round")
        return found
    finally:
        shutil.rmtree(folder)
