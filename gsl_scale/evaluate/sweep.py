"""Settings compared without labels, or by validation accuracy. Test labels are not read: nothing
is tuned on them.

    DIR/trials/*.json   what each training gave; a sweep that was cut short goes on with the rest
    DIR/data/           the input, ingested once for all trials
    DIR/sweep.json      all settings, the best first
    DIR/best.yaml       the config with the best setting, for `gsl-scale run`
"""

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gsl_scale import __version__
from gsl_scale.config import Config, Run, depends_on, digest
from gsl_scale.config_data import SklearnData
from gsl_scale.config_file import load_config
from gsl_scale.errors import GslError, InputError, UserError
from gsl_scale.evaluate.classify import Task
from gsl_scale.evaluate.cluster import MEASURES
from gsl_scale.evaluate.grid import Setting, choose
from gsl_scale.evaluate.trials import OBJECTIVES, Trial, loss, read_result, run_trials, score
from gsl_scale.evaluate.watch import seeded
from gsl_scale.ingest import input_paths
from gsl_scale.ingest.inputs import fingerprint
from gsl_scale.ingest.write import write_data
from gsl_scale.preset import Shape, resolve
from gsl_scale.sources import source_files
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import state
from gsl_scale.store.manifest import write_durably


class NoSettingError(GslError):
    """No setting of a sweep could be tried."""


@dataclass(frozen=True)
class Sweep:
    """What is compared: each setting on all configs, by its mean over them and over seeds."""

    configs: list[Path]
    grid: list[str]
    out: Path
    objective: str = "validation"
    seeds: int = 3
    trials: int | None = None
    sets: tuple[str, ...] = ()
    workers: int | None = None  # None: as the first config says

    def run(self) -> dict[str, Any]:
        """Compute what is missing; the table, the best setting first, as in sweep.json."""
        self._require_sense()
        out = self.out.absolute()  # workers have a current folder of their own
        settings = choose(self.grid, self.trials)
        plain = {path: load_config(path, self.sets) for path in self.configs}
        data = _Ingested(out / "data", self.objective)
        trials = {
            (setting, path): [
                data.trial(path.stem, self._config(path, config, setting, seed), out / "trials")
                for seed in range(self.seeds)
            ]
            for setting in settings
            for path, config in plain.items()
        }
        every = [trial for some in trials.values() for trial in some]
        reasons = run_trials(every, self._where(plain[self.configs[0]].run))
        entries = [self._entry(setting, trials, reasons) for setting in settings]
        tried = [entry for entry in entries if entry["score"] is not None]
        if not tried:
            raise NoSettingError(
                f"None of {len(settings)} settings could be tried.",
                f"The first: {entries[0]['failed']}",
                next_step="Try one of them alone: gsl-scale run CONFIG --set KEY=VALUE",
            )
        tried.sort(key=lambda entry: (-entry["score"], entry["loss"]))
        table = {
            "objective": self.objective,
            "seeds": self.seeds,
            "settings": [*tried, *(entry for entry in entries if entry["score"] is None)],
            "best": [str(path) for path in self._write_best(tried[0], len(settings))],
        }
        write_durably(self.out / "sweep.json", json.dumps(table, indent=1, ensure_ascii=False))
        return table

    def _require_sense(self) -> None:
        if self.objective not in OBJECTIVES:
            raise UserError(
                f"There is no objective {self.objective!r}.",
                f"There are: {', '.join(OBJECTIVES)}.",
                "Change --objective.",
            )
        names = [path.stem for path in self.configs]
        if len(set(names)) < len(names):
            raise UserError(
                f"Two configs have the same name: {', '.join(names)}.",
                "Results are kept by the name of the config.",
                "Rename one of the files.",
            )

    def _config(self, path: Path, plain: Config, setting: Setting, seed: int) -> Config:
        """With the paper's splits where it is a dataset of the paper."""
        sets = [f"train.seed={seed}"]
        if isinstance(plain.data, SklearnData) or getattr(plain.data, "split", None) is not None:
            sets = seeded(path.stem, seed)
        return load_config(path, [*sets, *self.sets, *setting])

    def _where(self, run: Run) -> Run:
        return run if self.workers is None else run.model_copy(update={"workers": self.workers})

    def _entry(
        self,
        setting: Setting,
        trials: dict[tuple[Setting, Path], list[Trial]],
        reasons: dict[Path, str],
    ) -> dict[str, Any]:
        mine = {path.stem: trials[setting, path] for path in self.configs}
        entry: dict[str, Any] = {"settings": list(setting), "score": None, "configs": {}}
        for some in mine.values():
            for trial in some:
                if trial.path in reasons:
                    return entry | {"failed": reasons[trial.path]}
        for name, some in mine.items():
            found = [read_result(trial) for trial in some]
            scores = [score(one) for one in found]
            means = {
                "score": float(np.mean(scores)),
                "std": float(np.std(scores)),
                "loss": float(np.mean([loss(one) for one in found])),
            }
            entry["configs"][name] = means | _SUMMARY[self.objective](found)
        for key in ("score", "loss"):
            entry[key] = float(np.mean([found[key] for found in entry["configs"].values()]))
        return entry

    def _write_best(self, best: dict[str, Any], number: int) -> list[Path]:
        """Seeds and splits as in the config itself: they are no part of a setting."""
        said = " ".join(best["settings"]) or "the config as it is"
        head = f"# Best of {number} settings by {self.objective}: {said}\n"
        written = []
        for path in self.configs:
            name = "best.yaml" if len(self.configs) == 1 else f"best-{path.stem}.yaml"
            config = load_config(path, [*self.sets, *best["settings"]])
            write_durably(self.out / name, head + config.to_yaml())
            written.append(self.out / name)
        return written


class _Ingested:
    """The data of every config, written once and seen by all workers."""

    def __init__(self, folder: Path, objective: str) -> None:
        self._folder, self._objective = folder, objective
        self._known: dict[str, tuple[Artifact, Shape]] = {}

    def trial(self, name: str, config: Config, out: Path) -> Trial:
        data, shape = self._data(name, config)
        files = fingerprint(source_files(config.anchor))
        content = digest([data.manifest.content, *(file.sha256 for file in files)])
        alone = config.run.model_copy(update={"workers": 0})
        ready = resolve(config, shape).model_copy(update={"run": alone})
        out.mkdir(parents=True, exist_ok=True)
        return Trial(name, ready, data.folder, out, self._objective, content)

    def _data(self, name: str, config: Config) -> tuple[Artifact, Shape]:
        known = config.data.model_dump_json()
        if known not in self._known:
            files = [file.sha256 for file in fingerprint(input_paths(config.data))]
            key = digest([__version__, depends_on(config, ["data"]), files])
            folder = self._folder / f"{name}-{key[:12]}"
            if state(folder) != "complete":
                write_data(config, folder)
            data = Artifact.open(folder)
            if self._objective == "validation":
                _require_validation(name, data)
            self._known[known] = data, Shape.of(data)
        return self._known[known]


def _require_validation(name: str, data: Artifact) -> None:
    task = Task.load(data)
    if task is None or not len(task.valid):
        found = "no labels with a split" if task is None else "a split without validation nodes"
        raise InputError(
            f"{name} has {found}, so settings cannot be compared by validation.",
            next_step="Give labels and a split (data.split), or compare without labels: "
            "--objective label-free",
        )


def _by_validation(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over seeds: before training, the final graph, and at every refresh."""
    steps = sorted(set.intersection(*({point[0] for point in one["curve"]} for one in found)))
    curves = [{step: valid for step, valid, _ in one["curve"]} for one in found]
    return {
        "start": float(np.mean([one["start"]["valid"] for one in found])),
        "clustering": {
            name: float(np.mean([one["clustering"][name]["mean"] for one in found]))
            for name in MEASURES
        },
        "curve": [[step, float(np.mean([curve[step] for curve in curves]))] for step in steps],
    }


def _without_labels(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over seeds of what the hidden half tells."""
    columns: dict[str, list[float]] = defaultdict(list)
    for one in found:
        for name, value in one["held_out"].items():
            columns[name].append(value)
    return {
        "held_out": {name: float(np.mean(values)) for name, values in columns.items()},
    }


_SUMMARY = {"validation": _by_validation, "label-free": _without_labels}
