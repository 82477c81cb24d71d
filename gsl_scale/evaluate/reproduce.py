"""The paper's table for this method, row by row and seed by seed; finished cells are kept.

*paper protocol*: graphs are evaluated all through training and the one with the best validation
accuracy counts, as the paper does. *label-free*: the final graph, whatever it is. *preset*: the
same, with nothing set for the dataset. Beside them the baselines, and references that need no
learning (`references.py`).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gsl_scale import progress
from gsl_scale.config import Config
from gsl_scale.config_file import load_config
from gsl_scale.engine import engine
from gsl_scale.errors import UserError
from gsl_scale.evaluate.cluster import MEASURES
from gsl_scale.evaluate.watch import alone, cell, references, seeded


@dataclass(frozen=True)
class Row:
    """A row of the paper: its config, its accuracy, and its clustering scores if it has some."""

    config: str
    accuracy: float
    clustering: tuple[float, ...] = ()


ROWS = (
    Row("wine", 98.2),
    Row("cancer", 97.2),
    Row("digits", 94.3),
    Row("cora", 84.2, (71.3, 54.2, 63.5, 50.3)),
    Row("citeseer", 73.5, (68.5, 44.1, 63.2, 43.9)),
    Row("cora-inference", 73.0),
    Row("citeseer-inference", 73.1),
    Row("20news", 49.2),
    Row("pubmed", 81.0),
    Row("pubmed-inference", 73.8),
)

COLUMNS = (
    "paper_protocol", "label_free", "preset", "start", "knn_graph", "given_graph",
    "diffused_ppr", "diffused_heat",
)  # fmt: skip
CLUSTERINGS = {
    "clustering": "ours, representations",
    "clustering_smoothed": "ours, smoothed over the learned graph",
    "clustering_smoothed_features": "features smoothed over the given graph (SSGC)",
}
_LEARNED = ("learner", "knn", "contrast", "anchor", "train", "export")


def reproduce(
    configs: Path, out: Path, seeds: range, only: list[str], sets: list[str]
) -> list[dict[str, Any]]:
    """Compute what is missing; the table of everything that is there."""
    rows = [row for row in ROWS if not only or row.config in only]
    known = [row.config for row in ROWS]
    if unknown := sorted(set(only) - set(known)):
        raise UserError(
            f"There is no row {', '.join(unknown)} in the paper's table.",
            next_step=f"Give some of: {', '.join(known)}.",
        )
    asks = {(row, seed): asked(row, seed, configs, out, sets) for seed in seeds for row in rows}
    found: dict[int, dict[str, Any]] = {}
    tasks = list(enumerate(asks.values()))
    with (
        progress.track("reproduce", len(tasks)) as advance,
        engine(tasks[0][1].config.run) as workers,
    ):
        for (number, ask), scores in workers.map(_computed, tasks):
            found[number] = scores
            advance(1, f"{ask.row}, seed {ask.config.train.seed}")
    scored = {key: found[number] for number, key in enumerate(asks)}
    return [summary(row, [scored[row, seed] for seed in seeds]) for row in rows]


@dataclass(frozen=True)
class Ask:
    """A row and a seed, as the row's config has it and as the preset alone does."""

    row: str
    config: Config
    preset: Config
    out: Path


def asked(row: Row, seed: int, configs: Path, out: Path, sets: list[str]) -> Ask:
    """The preset has nothing of what the row's config sets, but the data, its split and `sets`."""
    path = configs / f"{row.config}.yaml"
    sets = [*seeded(row.config, seed), *sets]
    written = load_config(path)
    left_open = [
        f"{block}.{key}=auto"
        for block in _LEARNED
        for key in getattr(written, block).model_fields_set
    ]
    if "scale" in written.data.model_fields_set:
        left_open.append("data.scale=auto")
    return Ask(row.config, load_config(path, sets), load_config(path, [*left_open, *sets]), out)


def _computed(task: tuple[int, Ask]) -> dict[str, Any]:
    _, ask = task
    config, out = alone(ask.config), ask.out
    found = cell(ask.row, config, out)
    preset = cell(ask.row, alone(ask.preset), out)  # the same cell where the row leaves all open
    return {**found, "preset": preset["label_free"], **references(config, out)}


def summary(row: Row, cells: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean and standard deviation over seeds of every column."""
    columns = {name: [cell[name]["mean"] for cell in cells] for name in COLUMNS if name in cells[0]}
    clustering: dict[str, Any] = {
        key: {
            name: float(np.mean([cell[key][name]["mean"] for cell in cells])) for name in MEASURES
        }
        for key in CLUSTERINGS
        if all(key in cell for cell in cells)
    }
    return {
        "row": row.config,
        "paper": row.accuracy,
        "seeds": len(cells),
        **{
            name: {"mean": float(np.mean(values)), "std": float(np.std(values))}
            for name, values in columns.items()
        },
        "paper_clustering": list(row.clustering),
        **clustering,
    }
