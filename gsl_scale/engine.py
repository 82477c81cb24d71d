"""Where work on shards runs: in this process, or as Ray tasks on any number of workers."""

import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from gsl_scale.config import AUTO, Run
from gsl_scale.errors import GslError

_RETRIES = 3  # of a task whose worker died

Task = TypeVar("Task")
Result = TypeVar("Result")


class Engine(Protocol):
    """Runs a function on every task; results come as they are done, in any order."""

    @property
    def gpus(self) -> int:
        """That tasks may use."""
        ...

    def map(
        self, function: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Iterator[tuple[Task, Result]]: ...


class InProcess:
    """One task after the other."""

    @property
    def gpus(self) -> int:
        return gpus_here()

    def map(
        self, function: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Iterator[tuple[Task, Result]]:
        for task in tasks:
            yield task, function(task)


class OnRay:
    """Each task a Ray task; one whose worker dies is run again."""

    def __init__(self, run: Run, threads: int) -> None:
        import ray

        self._run, self._threads = run, threads
        resources: Any = ray.cluster_resources()  # type: ignore[no-untyped-call]
        self._gpus = int(resources.get("GPU", 0))

    @property
    def gpus(self) -> int:
        return self._gpus

    def map(
        self, function: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Iterator[tuple[Task, Result]]:
        import ray

        gpus = 1 if self.gpus and self._run.device != "cpu" else 0
        remote: Any = ray.remote(num_cpus=self._threads, num_gpus=gpus, max_retries=_RETRIES)(_call)
        waiting = list(tasks)
        running: dict[Any, Task] = {}
        try:
            while waiting or running:
                while waiting and len(running) < self._run.workers:
                    task = waiting.pop(0)
                    running[remote.remote(function, task, self._threads)] = task
                (done,), _ = ray.wait(list(running), num_returns=1)
                task = running.pop(done)
                try:
                    yield task, ray.get(done)
                except ray.exceptions.RayTaskError as error:
                    if isinstance(error.cause, GslError):
                        raise error.cause from None
                    raise
        finally:
            for left in running:
                ray.cancel(left, force=True)


def _call(function: Callable[[Task], Result], task: Task, threads: int) -> Result:
    """In a worker; searches need no torch, and importing it takes seconds."""
    import faiss

    faiss.omp_set_num_threads(threads)
    if "torch" in sys.modules:
        set_threads(threads)
    return function(task)


@contextmanager
def engine(run: Run) -> Iterator[Engine]:
    """The engine a run asks for. Joins the cluster at RAY_ADDRESS, or starts Ray here."""
    if run.workers == 0:
        yield InProcess()
        return
    import ray

    from gsl_scale.cluster.access import make_default_token

    threads = threads_per_worker(run)
    started = not ray.is_initialized()
    if started:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        # It says at every start that a token is asked for, which is what we want.
        logging.getLogger("ray._private.authentication").setLevel(logging.ERROR)
        address = os.environ.get("RAY_ADDRESS")
        if address is None:
            make_default_token()
        # Without a dashboard nobody looks at Ray's own metrics, and gathering them takes time. At
        # Ray's niceness of 15 every wink of its own processes stops a rank, and the others wait.
        quiet = {"enable_metrics_collection": False, "worker_niceness": 0}
        here: dict[str, Any] = {"num_cpus": run.workers * threads, "_system_config": quiet}
        ray.init(
            address or "local",  # not whatever other Ray runs on this machine
            include_dashboard=False,
            logging_level=logging.WARNING,
            log_to_driver=False,  # what matters comes back as results and errors
            **({} if address else here),
        )
    try:
        yield OnRay(run, threads)
    finally:
        if started:
            ray.shutdown()


def gpus_here() -> int:
    """That the FAISS of this process can use."""
    import faiss

    return int(faiss.get_num_gpus()) if hasattr(faiss, "StandardGpuResources") else 0


def threads_of(run: Run) -> int:
    """Threads of a process that has the machine to itself."""
    return (os.cpu_count() or 1) if run.threads == AUTO else run.threads


def threads_per_worker(run: Run) -> int:
    """Of workers who share this machine."""
    return max(1, threads_of(run) // run.workers) if run.threads == AUTO else run.threads


def set_threads(number: int) -> None:
    import faiss
    import torch

    faiss.omp_set_num_threads(number)
    torch.set_num_threads(number)
