"""An experiment on a dataset: compute the cells that are missing, then sum up, plot and report.

OUT/cells/*.json are finished cells; OUT/NAME-DATASET.csv, .svg and .json are a table of the cells,
the plot, and what the page needs; OUT/report.html has a section for every experiment in OUT.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gsl_scale import __version__, progress
from gsl_scale.config import Config, Run
from gsl_scale.config_file import load_config
from gsl_scale.engine import engine
from gsl_scale.errors import UserError
from gsl_scale.evaluate.watch import alone, seeded
from gsl_scale.experiment.cell import Ask, Keys, compute
from gsl_scale.experiment.grid import EXPERIMENTS, PAPER_TAU, Experiment, Point, Values
from gsl_scale.experiment.page import write_page
from gsl_scale.experiment.plots import figure, panels
from gsl_scale.experiment.table import curve_lines, lines, weight_lines
from gsl_scale.store.draft import explained
from gsl_scale.store.manifest import write_durably


@dataclass(frozen=True)
class Study:
    """What is asked for. `dataset` is a name in `configs`, or a YAML file."""

    experiment: str
    dataset: str
    out: Path
    configs: Path = Path("configs")
    values: Values | None = None
    seeds: int | None = None
    classes: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()

    @property
    def file(self) -> Path:
        path = Path(self.dataset)
        if path.suffix in (".yaml", ".yml"):
            return path
        path = self.configs / f"{self.dataset}.yaml"
        if not path.exists():
            known = ", ".join(sorted(found.stem for found in self.configs.glob("*.yaml")))
            raise UserError(
                f"There is no dataset {self.dataset}: {path} does not exist.",
                next_step=f"Give a YAML file, or one of: {known or f'none in {self.configs}'}.",
            )
        return path

    @property
    def about(self) -> Experiment:
        return EXPERIMENTS[self.experiment]

    def config(self, point: Point, seed: int) -> Config:
        own = [f"data.perturb.seed={seed}"] if "damage" in point.shown else []
        sets = [*seeded(self.file.stem, seed), *self.about.sets, *self.sets, *point.sets, *own]
        return load_config(self.file, sets)


@dataclass
class Cell:
    """What was found at one point with one seed, by series."""

    point: Point
    seed: int
    found: dict[str, dict[str, Any]]


def run_study(study: Study) -> dict[str, Any]:
    """The summary; everything is on disk by then."""
    about = study.about
    points = about.grid(study.values)
    seeds = range(study.seeds or about.seeds)
    asks = list(_asks(study, points, seeds))
    paths = _computed(study.out / "cells", asks, study.config(points[0], 0).run)
    cells: dict[tuple[int, int], Cell] = {}
    for (place, seed, series, _), path in zip(asks, paths, strict=True):
        cell = cells.setdefault((place, seed), Cell(points[place], seed, {}))
        cell.found[series] = json.loads(path.read_text(encoding="utf-8"))
    return _reported(study, list(cells.values()))


def _asks(study: Study, points: list[Point], seeds: range) -> Iterator[tuple[int, int, str, Ask]]:
    """(point, seed, series, what to compute); what several share is computed once."""
    about, name = study.about, study.file.stem
    for seed in seeds:
        for place, point in enumerate(points):
            config = study.config(point, seed)
            here = alone(config)
            for series in about.series:
                kind = "curves" if about.curves and series == "learned graph" else series
                asked = _undamaged(here) if series == "kNN graph" else here
                yield place, seed, series, Ask(name, kind, asked, study.classes)


def _undamaged(config: Config) -> Config:
    """With all its edges: neighbours of features do not depend on them."""
    how = config.data.perturb
    if how is None:
        return config
    left = how.model_copy(update={"delete": 0.0, "rewire": 0.0, "add": 0.0})
    return config.model_copy(update={"data": config.data.model_copy(update={"perturb": left})})


def _computed(folder: Path, asks: list[tuple[int, int, str, Ask]], run: Run) -> list[Path]:
    """Where the cells lie, once those that were missing have been computed."""
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with Keys() as keys:
        paths = [keys.path(ask, folder) for *_, ask in asks]
    missing = {path: ask for path, (*_, ask) in zip(paths, asks, strict=True) if not _whole(path)}
    total = len(set(paths))
    if len(missing) < total:
        progress.say(f"{total - len(missing)} of {total} cells are there already")
    tasks = list(missing.items())
    if not tasks:
        return paths
    with progress.track("cells", len(tasks)) as advance, engine(run) as workers:
        for (path, ask), found in workers.map(_compute, tasks):
            with explained(path):
                write_durably(path, json.dumps(found, indent=1))
            advance(1, f"{ask.dataset}, {ask.series}")
    return paths


def _whole(path: Path) -> bool:
    """Whether a cell is there and can be read; one that cannot is computed again."""
    try:
        return isinstance(json.loads(path.read_text(encoding="utf-8")), dict)
    except (OSError, ValueError):
        return False


def _compute(task: tuple[Path, Ask]) -> dict[str, Any]:
    return compute(task[1])


def _reported(study: Study, cells: list[Cell]) -> dict[str, Any]:
    about, name = study.about, study.file.stem
    summary: dict[str, Any] = {
        "experiment": about.name,
        "dataset": name,
        "title": about.title,
        "said": about.said,
        "version": __version__,
        "settings": list(study.sets),
        "seeds": len({cell.seed for cell in cells}),
        "columns": list(cells[0].point.shown),
        "series": list(about.series),
    }
    if about.name == "heatmap":
        summary["weights"] = cells[0].found["weights"]
        csv = weight_lines(name, summary["weights"])
    else:
        summary["rows"] = _rows(cells, PAPER_TAU.get(name, {}) if about.name == "tau" else {})
        csv = lines(name, [(cell.point.shown, cell.seed, cell.found) for cell in cells])
    stem = study.out / f"{about.name}-{name}"
    files = {f"{stem}.csv": csv}
    if about.curves:
        summary["curves"] = _curves(cells)
        watched = [(cell.point.shown, cell.seed, cell.found["learned graph"]) for cell in cells]
        files[f"{stem}-curves.csv"] = curve_lines(name, watched)
    files[f"{stem}.svg"] = figure(f"{about.title}, {name}", panels(summary))
    files[f"{stem}.json"] = json.dumps(summary, indent=1, ensure_ascii=False)
    for path, text in files.items():
        with explained(Path(path)):
            write_durably(Path(path), text)
    write_page(study.out)
    return summary | {"files": [*files, str(study.out / "report.html")]}


def _by_point(cells: list[Cell]) -> dict[tuple[Any, ...], list[Cell]]:
    found: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        found.setdefault(tuple(cell.point.shown.values()), []).append(cell)
    return found


def _rows(cells: list[Cell], paper: dict[float, float]) -> list[dict[str, Any]]:
    """Mean and spread at each point: over trainings or, with one of them, over classifiers."""
    rows = []
    for same in _by_point(cells).values():
        row: dict[str, Any] = dict(same[0].point.shown)
        for series in same[0].found:
            scores = [cell.found[series] for cell in same]
            means = [score["mean"] for score in scores]
            std = float(np.std(means)) if len(means) > 1 else scores[0]["std"]
            row[series] = {"mean": float(np.mean(means)), "std": std}
        if row.get("tau") in paper:
            row["paper"] = paper[row["tau"]]
        rows.append(row)
    return rows


def _curves(cells: list[Cell]) -> list[dict[str, Any]]:
    """Means over seeds, at the steps that all of them reached."""
    found = []
    for same in _by_point(cells).values():
        watched = [cell.found["learned graph"] for cell in same]
        tests = [{point[0]: point[2] for point in one["curve"]} for one in watched]
        losses = [dict(one["loss"]) for one in watched]
        found.append({**same[0].point.shown, "test": _mean(tests), "loss": _mean(losses)})
    return found


def _mean(curves: list[dict[int, float]]) -> list[tuple[int, float]]:
    steps = sorted(set.intersection(*(set(curve) for curve in curves)))
    return [(step, float(np.mean([curve[step] for curve in curves]))) for step in steps]
