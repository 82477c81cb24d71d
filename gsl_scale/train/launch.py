"""Where a training runs: in this process, or as ranks of torch.distributed under Ray Train.

Ray starts the ranks and tells when one is lost. What to do then is decided here: all ranks start
again from the last checkpoint, as long as attempts get further than the one before.
"""

import json
import os
import shutil
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gsl_scale import progress
from gsl_scale.config import Run
from gsl_scale.engine import engine, set_threads, threads_per_worker
from gsl_scale.errors import GslError
from gsl_scale.graph import ops
from gsl_scale.memory import ENVIRONMENT
from gsl_scale.ranks import ALONE, Together
from gsl_scale.train import journal
from gsl_scale.train.checkpoint import Checkpoints
from gsl_scale.train.learn import Learned, Learning, learn

_SECONDS_BETWEEN_LOOKS = 0.5


class WorkerLostError(GslError):
    """Ranks died again and again without getting any further."""


def launch(task: Learning) -> Learned:
    """To the end, on as many workers as the config says."""
    run = task.config.run
    if run.workers == 0:
        return learn(task, ALONE)
    checkpoints, lost = Checkpoints(task.work), 0
    with engine(run) as pool:
        while True:
            before = checkpoints.step
            try:
                with _watched(task):
                    _fit(task, run, pool.gpus)
                return learn(task, ALONE)  # reads what the ranks have finished
            except _LostError as error:
                lost = lost + 1 if checkpoints.step == before else 1
                if lost > run.retries:
                    raise WorkerLostError(
                        f"Workers were lost {lost} times at step {before}.",
                        error.reason,
                        "The last checkpoint is kept: the same command goes on from it. If memory "
                        "ran out, lower contrast.batch, contrast.fanout or run.workers.",
                        stage="train",
                        rank=error.rank,
                    ) from None
                where = f"going on from step {checkpoints.step} with {run.workers} workers"
                progress.say(f"train: worker {error.rank} was lost; {where}")
                progress.say(error.reason)


class WorkerFailedError(GslError):
    """A rank met an error that would come again."""


class _LostError(Exception):
    """A rank ended without a reason of its own."""

    def __init__(self, rank: int | None, reason: str) -> None:
        super().__init__(rank, reason)
        self.rank, self.reason = rank, reason


def _fit(task: Learning, run: Run, gpus: int) -> None:
    """One attempt."""
    from ray.train import RunConfig, ScalingConfig, TrainingFailedError
    from ray.train.torch import TorchConfig, TorchTrainer

    # A process less to start: a node that is about to be taken away is followed like a lost one.
    os.environ.setdefault("RAY_TRAIN_ENABLE_PREEMPTION_WATCHER", "0")
    on_gpu = gpus > 0 and run.device != "cpu"
    threads = threads_per_worker(run)
    storage = task.work / "ray"
    trainer: Any = TorchTrainer(
        _rank,
        train_loop_config={"task": task, "threads": threads},
        scaling_config=ScalingConfig(
            num_workers=run.workers, use_gpu=on_gpu, resources_per_worker={"CPU": threads}
        ),
        # What shards are made of is exchanged from main memory, gradients from where they are.
        torch_config=TorchConfig(
            backend="cpu:gloo,cuda:nccl" if on_gpu else "gloo", timeout_s=run.timeout
        ),
        run_config=RunConfig(  # type: ignore[call-arg]
            name=uuid.uuid4().hex,
            storage_path=str(storage),
            worker_runtime_env={"env_vars": ENVIRONMENT},
        ),
    )
    try:
        trainer.fit()
    except TrainingFailedError as error:
        raise _explained(error) from None
    finally:
        shutil.rmtree(storage, ignore_errors=True)


def _rank(settings: dict[str, Any]) -> None:
    """What each worker runs."""
    task: Learning = settings["task"]
    ops.use(task.config.run.message_passing)
    set_threads(settings["threads"])
    learn(task, Together())


def _explained(error: Any) -> Exception:
    """Our own errors as they are, the loss of a worker as such, and any other with its traceback.

    A rank that loses touch with another fails too; the cause is sought among all.
    """
    from ray.train.v2._internal.exceptions import WorkerHealthCheckFailedError

    failures: dict[int, Any] = getattr(error, "worker_failures", {})
    for rank, failure in sorted(failures.items()):
        cause = getattr(failure, "cause", failure)
        if isinstance(cause, GslError):
            cause.rank = rank if cause.rank is None else cause.rank
            return cause
    for rank, failure in sorted(failures.items()):
        if isinstance(failure, WorkerHealthCheckFailedError):
            return _LostError(rank, str(failure.health_check_failure))
    for rank, failure in sorted(failures.items()):
        if _is_out_of_memory(failure):
            return _LostError(rank, f"Out of memory: {failure}")
    for rank, failure in sorted(failures.items()):
        if not _is_out_of_touch(failure):
            return WorkerFailedError(
                f"Worker {rank} failed: {failure}",
                str(error),
                "The last checkpoint is kept: the same command goes on from it.",
                stage="train",
                rank=rank,
            )
    return _LostError(min(failures, default=None), str(error))


def _is_out_of_memory(failure: Any) -> bool:
    text = str(failure)
    return isinstance(failure, MemoryError) or "allocate memory" in text or "bad_alloc" in text


def _is_out_of_touch(failure: Any) -> bool:
    """Whether it only says that another worker is gone."""
    return any(word in str(failure) for word in ("gloo", "NCCL", "Connection"))


@contextmanager
def _watched(task: Learning) -> Iterator[None]:
    """Show what the first rank writes into its journal."""
    ended = threading.Event()
    with progress.track("train", task.config.train.steps) as advance:
        watcher = threading.Thread(target=_follow, args=(task.run, advance, ended), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()


def _follow(run: Path, advance: progress.Advance, ended: threading.Event) -> None:
    path = run / journal.FILE_NAME
    at, shown, note = path.stat().st_size if path.exists() else 0, 0, ""
    while not ended.wait(_SECONDS_BETWEEN_LOOKS):
        if not path.exists():
            continue
        with path.open(encoding="utf-8") as file:
            file.seek(at)
            lines = file.readlines()
            if lines and not lines[-1].endswith("\n"):
                lines.pop()
            at += sum(len(line.encode()) for line in lines)
        for line in lines:
            event = json.loads(line)
            if event["event"] == "step":
                note = f"loss {event['loss']:.3f}"
            elif event["event"] == "round":
                note += f", {event['seeds_per_second']:,.0f} seeds/s"
            advance(event["step"] - shown, note)
            shown = event["step"]
