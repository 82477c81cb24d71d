"""How everything grows: with workers (strong and weak), nodes, neighbours and columns, and with all
of them at once.

Each point is a run of the pipeline, measured stage by stage, each stage in a process of its own so
that each has its own peak memory. Points take turns, so that a machine that slows down slows all of
them down. Finished ones are kept in `out`, and a bench that was interrupted goes on. Evaluations
are repeated on one graph: the stages before it need not be measured again.
"""

import contextlib
import json
import shutil
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gsl_scale import __version__, progress
from gsl_scale.bench.apart import apart
from gsl_scale.bench.machine import about_machine
from gsl_scale.bench.measured import evaluated, measured, run_stage
from gsl_scale.config import Config, digest
from gsl_scale.config_data import SyntheticData
from gsl_scale.errors import ConfigError
from gsl_scale.plan.fit import MIXED
from gsl_scale.plan.size import Case, Size
from gsl_scale.store.manifest import write_durably

FILE_NAME = "scaling.json"
CLASSIFIER = "classifier"  # the series that changes nothing but the evaluation
SERIES = ("strong", "weak", "nodes", "neighbours", "columns", CLASSIFIER, MIXED)
# Nodes, columns, neighbours, seeds and workers, all at once: what a plan is tested on.
MIXTURES = (
    (15_000, 200, 25, 2048, 0),
    (30_000, 64, 15, 2048, 0),
    (40_000, 96, 30, 1024, 0),
    (70_000, 128, 8, 4096, 0),
    (120_000, 48, 10, 2048, 0),
    (150_000, 32, 12, 1024, 0),
    (25_000, 128, 12, 2048, 2),
    (60_000, 64, 6, 4096, 1),
    (90_000, 96, 15, 2048, 2),
)
_STAGES = ("ingest", "knn", "train", "export")
_JITTER = 400  # times of single steps that are kept
_SHARDS = 8  # of runs on workers: more than there are of these


@dataclass(frozen=True)
class Variant:
    """A point of a series: what it is varied to, and the config that says so."""

    series: str
    at: int
    config: Config

    @property
    def name(self) -> str:
        return f"{self.series} {self.at:,}"

    def file(self, out: Path, repeat: int, stage: str | None = None) -> Path:
        """Where a repeat is kept: of all stages up to the graph, or of the one after them. Points
        of two series that are the same run share it."""
        tree = self.config.model_dump(mode="json", exclude=None if stage else {"evaluate"})
        key = digest([__version__, tree])[:12]
        return out / "points" / "-".join([key, *([stage] if stage else []), f"{repeat}.json"])


def variants(
    config: Config, series: dict[str, list[int]], steps: int, threads: int
) -> list[Variant]:
    """Of every series asked for, in order."""
    return [
        Variant(name, at, _timed(_VARIED[name](config, at), steps, threads))
        for name in SERIES
        for at in series.get(name, [])
    ]


def _strong(config: Config, workers: int) -> Config:
    """The same graph and batches."""
    return _on(config, workers)


def _weak(config: Config, workers: int) -> Config:
    """As many nodes and seeds for each worker as one has."""
    data = _synthetic(config)
    batch = {"batch": workers * config.contrast.batch}
    grown = config.model_copy(update={"contrast": config.contrast.model_copy(update=batch)})
    return _on(_nodes(grown, workers * data.nodes), workers)


def _nodes(config: Config, nodes: int) -> Config:
    """Communities grow in number, as kinds of things do."""
    data = _synthetic(config)
    communities = max(1, data.communities * nodes // data.nodes)
    return _with_data(config, {"nodes": nodes, "communities": communities})


def _neighbours(config: Config, k: int) -> Config:
    return config.model_copy(update={"knn": config.knn.model_copy(update={"k": k})})


def _columns(config: Config, features: int) -> Config:
    return _with_data(config, {"features": features})


def _classifier(config: Config, hidden: int) -> Config:
    evaluate = config.evaluate.model_copy(update={"hidden": hidden})
    return config.model_copy(update={"evaluate": evaluate})


def _mixed(config: Config, number: int) -> Config:
    nodes, features, k, batch, workers = MIXTURES[number - 1]
    contrast = config.contrast.model_copy(update={"batch": batch})
    config = _neighbours(_columns(_nodes(config, nodes), features), k)
    config = config.model_copy(update={"contrast": contrast})
    return _on(config, workers) if workers else config


_VARIED: dict[str, Callable[[Config, int], Config]] = {
    "strong": _strong,
    "weak": _weak,
    "nodes": _nodes,
    "neighbours": _neighbours,
    "columns": _columns,
    CLASSIFIER: _classifier,
    MIXED: _mixed,
}


def _synthetic(config: Config) -> SyntheticData:
    if not isinstance(config.data, SyntheticData):
        raise ConfigError(
            f"data.source is {config.data.source}; a graph that grows has to be made.",
            "The series weak, nodes, columns and mixed change the graph itself.",
            "Give a config with data.source: synthetic (configs/scaling.yaml), or ask for --series "
            "strong or neighbours only.",
        )
    return config.data


def _with_data(config: Config, update: dict[str, int]) -> Config:
    return config.model_copy(update={"data": _synthetic(config).model_copy(update=update)})


def _on(config: Config, workers: int) -> Config:
    run = config.run.model_copy(update={"workers": workers, "shards": _SHARDS * workers})
    return config.model_copy(update={"run": run})


def _timed(config: Config, steps: int, threads: int) -> Config:
    """One round of steps with one update of the anchor, at its end."""
    train = config.train.model_copy(update={"steps": steps, "refresh": steps})
    anchor = config.anchor.model_copy(update={"c": steps})
    run = config.run.model_copy(update={"threads": threads})
    return config.model_copy(update={"train": train, "anchor": anchor, "run": run})


def measure(
    config: Config,
    series: dict[str, list[int]],
    out: Path,
    *,
    steps: int,
    repeats: int,
    threads: int,
    evaluate: bool = False,
) -> dict[str, Any]:
    """All points, and what they were measured on. An evaluation has one process, whatever the
    workers, so it is measured for runs without workers only."""
    asked = variants(config, series, steps, threads)
    judged = [one for one in asked if evaluate and not one.config.run.workers]
    found: list[list[dict[str, Any]]] = [[] for _ in asked]
    with progress.track("scaling", repeats * (len(asked) + len(judged))) as advance:
        for repeat in range(repeats):
            for variant, records in zip(asked, found, strict=True):
                records.append(_measured(variant, repeat, out))
                advance(1, variant.name)
        for variant, records in zip(asked, found, strict=True):
            if variant in judged:
                for record, more in zip(records, _evaluated(variant, repeats, out), strict=True):
                    before = {} if variant.series == CLASSIFIER else record["quantities"]
                    record["quantities"] = before | more
                    advance(1, f"{variant.name}, evaluated")
    points = [_point(*pair) for pair in zip(asked, found, strict=True)]
    about = about_machine() | {"steps": steps, "repeats": repeats, "threads": threads}
    result = {"about": about, "points": points, "jitter": _jitter(found)}
    write_durably(out / FILE_NAME, json.dumps(result, indent=1, ensure_ascii=False))
    return result


def _measured(variant: Variant, repeat: int, out: Path) -> dict[str, Any]:
    path = variant.file(out, repeat)
    if not path.exists():
        with _run(variant, out) as work:
            _keep(path, apart(measured, variant.config, work))
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _evaluated(variant: Variant, repeats: int, out: Path) -> Iterator[dict[str, float]]:
    paths = [variant.file(out, repeat, "evaluate") for repeat in range(repeats)]
    missing = [path for path in paths if not path.exists()]
    with _run(variant, out) if missing else contextlib.nullcontext(out) as work:
        for path in paths:
            if path in missing:
                apart(run_stage, variant.config, work, "evaluate")
                _keep(path, apart(evaluated, work))
            yield json.loads(path.read_text(encoding="utf-8"))


@contextlib.contextmanager
def _run(variant: Variant, out: Path) -> Iterator[Path]:
    """A run up to its graph, removed afterwards."""
    work = out / "work"  # in `out`, which all nodes of a cluster see
    shutil.rmtree(work, ignore_errors=True)
    for stage in _STAGES:
        apart(run_stage, variant.config, work, stage)
    yield work
    shutil.rmtree(work, ignore_errors=True)


def _keep(path: Path, record: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_durably(path, json.dumps(record))


def _point(variant: Variant, records: list[dict[str, Any]]) -> dict[str, Any]:
    """The median of each quantity over the repeats, and its spread. Points that share what comes
    before their evaluation still have evaluations of their own."""
    first = records[0]
    resolved = Case.of(variant.config, Size(**first["size"])).config
    values = {
        name: [record["quantities"][name] for record in records] for name in first["quantities"]
    }
    return {
        "name": variant.name,
        "series": variant.series,
        "at": variant.at,
        "size": first["size"],
        "config": first["config"] | {"evaluate": resolved.evaluate.model_dump(mode="json")},
        "facts": first["facts"],
        "median": {name: statistics.median(found) for name, found in values.items()},
        "spread": {name: [min(found), max(found)] for name, found in values.items()},
    }


def _jitter(found: list[list[dict[str, Any]]]) -> list[float]:
    """Times of single steps by the median of their run, some of all runs."""
    every = [one for records in found for one in _relative(records)]
    chosen = np.linspace(0, len(every) - 1, min(_JITTER, len(every))).astype(int)
    return [round(every[place], 4) for place in chosen]


def _relative(records: list[dict[str, Any]]) -> Iterator[float]:
    for record in records:
        middle = statistics.median(record["steps"])
        yield from (seconds / middle for seconds in record["steps"])
