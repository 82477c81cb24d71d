"""Where FAISS computes: on a GPU, if the installed FAISS has one, or on the CPU.

The only place that differs between the two. The GPU side is written against faiss-gpu 1.15's
signatures and has not run on hardware yet.
"""

from functools import cache
from typing import Any

import faiss
import numpy as np

from gsl_scale.config import Run
from gsl_scale.errors import ConfigError, InputError
from gsl_scale.knn.neighbours import Ids, Rows

GPU_MOST = 2048  # answers that FAISS can select on a GPU
_VECTORS, _QUERIES = 0.4, 0.1  # of the GPU's free memory, per tile


def device_of(run: Run, gpus: int) -> str:
    """cpu or cuda; `gpus` are those of this process, or of the cluster if workers do the work."""
    if run.device == "cuda" and not gpus:
        raise ConfigError(
            f"run.device is cuda, and {'Ray' if run.workers else 'FAISS'} sees no GPU.",
            "Either there is none, or faiss-cpu is installed, which cannot use it.",
            "Set run.device=cpu, or on a machine with a GPU: pip install 'gsl-scale[gpu]' instead "
            "of [cpu].",
        )
    return "cuda" if gpus and run.device != "cpu" else "cpu"


def require_selectable(asked: int, device: str, what: str = "answers") -> None:
    if device == "cuda" and asked > GPU_MOST:
        raise InputError(
            f"The search needs {asked:,} {what} per query, and a GPU selects at most {GPU_MOST:,}.",
            "FAISS keeps them in registers.",
            f"Set knn.{'k' if what == 'answers' else 'recall'} lower, or run.device=cpu.",
        )


def nearest(queries: Rows, rows: Rows, k: int, device: str) -> Ids:
    """The rows with the k largest inner products, best first; on a GPU tile by tile."""
    product = faiss.METRIC_INNER_PRODUCT
    if device == "cpu":
        found: Ids = faiss.knn(queries, rows, k, metric=product)[1]
        return found
    free = _free_bytes()
    there: Any = faiss.knn_gpu(
        _resources(),
        queries,
        rows,
        k,
        metric=product,
        vectorsMemoryLimit=int(_VECTORS * free),
        queriesMemoryLimit=int(_QUERIES * free),
    )
    return np.asarray(there[1], np.int64)


def placed(index: Any, device: str) -> Any:
    """An index where it is to be searched; on a GPU that is a copy."""
    if device == "cpu":
        return index
    import torch

    # Ray Train shows a rank all GPUs of its node and makes one of them the current one.
    return faiss.index_cpu_to_gpu(_resources(), torch.cuda.current_device(), index)


def _free_bytes() -> int:
    import torch

    return int(torch.cuda.mem_get_info()[0])


@cache
def _resources() -> Any:
    """One per process, and one process per GPU."""
    return faiss.StandardGpuResources()
