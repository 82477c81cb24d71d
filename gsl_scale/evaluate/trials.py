"""Trials of a sweep: one training each, in this process or under Ray Tune; finished ones are kept.

What is kept is a small JSON per trial, written by whoever ran it. Ray Tune shares the trials out
and starts those anew whose worker was lost; a sweep that was killed goes on with the trials that
have no file yet, with any number of workers.
"""

import io
import json
import math
import os
import shutil
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gsl_scale import __version__, progress
from gsl_scale.config import Config, Run, depends_on, digest
from gsl_scale.engine import engine, threads_per_worker
from gsl_scale.errors import GslError
from gsl_scale.evaluate.classify import JUDGED, Task
from gsl_scale.evaluate.held_out import held_out
from gsl_scale.evaluate.watch import BLOCKS, kept, watched
from gsl_scale.store.artifact import Artifact

OBJECTIVES = ("validation", "label-free")

_RETRIES = 3  # of a trial whose worker was lost
_SECONDS_BETWEEN_LOOKS = 0.5


@dataclass(frozen=True)
class Trial:
    """A setting, a config and a seed; small enough to send to a worker."""

    name: str
    config: Config  # no 'auto' left, and no workers of its own
    data: Path
    out: Path
    objective: str  # one of OBJECTIVES
    content: str  # digest of everything that was read

    @property
    def path(self) -> Path:
        key = [__version__, JUDGED, depends_on(self.config, BLOCKS), self.objective, self.content]
        name = f"{self.name}-seed{self.config.train.seed}-{digest(key)[:12]}.json"
        return self.out / name

    def result(self) -> dict[str, Any]:
        """What lies on disk, or what is computed now and put there."""
        return kept(self.path, self._compute)

    def _compute(self) -> dict[str, Any]:
        data = Artifact.open(self.data)
        if self.objective == "label-free":
            return {"held_out": held_out(self.config, data)}
        task = Task.load(data)
        assert task is not None
        return watched(self.config, data, task.blind())


def score(found: dict[str, Any]) -> float:
    """Of what a trial gave; more is better."""
    value = found["held_out"]["features"] if "held_out" in found else found["label_free"]["valid"]
    return float(value)


def loss(found: dict[str, Any]) -> float:
    """Tells apart equal scores: few validation nodes are soon all right. Less is better."""
    return float(found.get("label_free", {}).get("valid_loss", 0.0))


class TrialError(GslError):
    """A worker was lost again and again, or met an error that is not ours."""


def run_trials(trials: Sequence[Trial], run: Run) -> dict[Path, str]:
    """Compute what is missing, on `run.workers`; files that there are not, and why.

    A setting may be impossible (more neighbours than nodes) or diverge; the others go on.
    """
    missing = list({trial.path: trial for trial in trials if not trial.path.exists()}.values())
    with progress.track("sweep", len(trials)) as advance:
        advance(len(trials) - len(missing))
        if not missing:
            return {}
        if run.workers == 0:
            return _one_by_one(missing, advance)
        return _under_tune(missing, run, advance)


def _one_by_one(trials: list[Trial], advance: progress.Advance) -> dict[Path, str]:
    failed = {}
    for trial in trials:
        try:
            trial.result()
        except GslError as error:
            failed[trial.path] = str(error)
        advance(1, trial.name)
    return failed


def _under_tune(trials: list[Trial], run: Run, advance: progress.Advance) -> dict[Path, str]:
    os.environ["TUNE_DISABLE_SIGINT_HANDLER"] = "1"  # Ctrl-C ends it at once: trials are kept
    with engine(run):
        from ray import tune

        threads = threads_per_worker(run)
        storage = trials[0].out.parent / ".ray"
        tuner = tune.Tuner(
            tune.with_resources(
                tune.with_parameters(_trial, trials=trials, threads=threads), {"cpu": threads}
            ),
            param_space={"number": tune.grid_search(list(range(len(trials))))},
            tune_config=tune.TuneConfig(
                max_concurrent_trials=run.workers, metric="score", mode="max", reuse_actors=True
            ),
            run_config=tune.RunConfig(
                name=uuid.uuid4().hex,
                storage_path=str(storage),
                failure_config=tune.FailureConfig(max_failures=_RETRIES),
                verbose=0,
            ),
        )
        try:
            # Tune prints its configuration however silent it is asked to be.
            with _followed(trials, advance), redirect_stdout(io.StringIO()):
                results: Any = tuner.fit()
        finally:
            shutil.rmtree(storage, ignore_errors=True)
    for result in results:
        if result.error is not None:
            raise TrialError(
                f"A trial failed {_RETRIES + 1} times: {result.error}",
                "Its worker was lost, usually for lack of memory, or met an error of another kind.",
                "Finished trials are kept: the same command goes on with the others.",
            )
    told = {trials[result.config["number"]].path: result.metrics for result in results}
    return {path: metrics["failed"] for path, metrics in told.items() if "failed" in metrics}


def _trial(settings: dict[str, Any], trials: list[Trial], threads: int) -> None:
    """In a worker. An error of ours would come again: it is told, not raised."""
    from ray import tune

    trial = trials[settings["number"]]
    run = trial.config.run.model_copy(update={"threads": threads})
    try:
        found = replace(trial, config=trial.config.model_copy(update={"run": run})).result()
        tune.report({"score": score(found)})
    except GslError as error:
        tune.report({"score": math.nan, "failed": str(error)})


@contextmanager
def _followed(trials: list[Trial], advance: progress.Advance) -> Iterator[None]:
    """Show which trials have left their file."""
    ended = threading.Event()

    def follow() -> None:
        waiting = {trial.path: trial for trial in trials}
        while waiting:
            last = ended.wait(_SECONDS_BETWEEN_LOOKS)
            for path in [path for path in waiting if path.exists()]:
                advance(1, waiting.pop(path).name)
            if last:
                return

    watcher = threading.Thread(target=follow, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def read_result(trial: Trial) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(trial.path.read_text())
    return found
