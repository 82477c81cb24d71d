"""How the kNN stage grows with the number of nodes: time, memory, recall, and the exponent."""

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from gsl_scale.bench.apart import apart


def measure(sizes: list[int], dim: int, k: int) -> dict[str, Any]:
    """Each size in a process of its own, so that each has its own peak memory."""
    points = []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="gsl-bench-") as scratch:
            apart(_write, scratch, size, dim)
            points.append(apart(_search, scratch, size, k))
    seconds = [point["seconds"] for point in points]
    exponent = np.polyfit(np.log(sizes), np.log(seconds), 1)[0] if len(sizes) > 1 else None
    return {"dim": dim, "k": k, "points": points, "exponent": exponent}


def _write(scratch: str, size: int, dim: int) -> None:
    """Clusters grow in number with the nodes, as kinds of things do."""
    from gsl_scale.bench.knn import clustered
    from gsl_scale.config_file import make_config
    from gsl_scale.ingest.write import write_data

    vectors = Path(scratch) / "vectors.npy"
    np.save(vectors, clustered(size, dim, clusters=max(1, size // 170)))
    data = {"source": "tables", "features": str(vectors), "scale": "none"}
    write_data(make_config({"data": data}), Path(scratch) / "data")
    vectors.unlink()


def _search(scratch: str, size: int, k: int) -> dict[str, Any]:
    from gsl_scale.config import Knn, Run
    from gsl_scale.engine import set_threads, threads_of
    from gsl_scale.knn.search import search_knn
    from gsl_scale.memory import peak_bytes
    from gsl_scale.store.artifact import Artifact

    run = Run()
    set_threads(threads_of(run))
    data = Artifact.open(Path(scratch) / "data")
    began = time.perf_counter()
    found = search_knn(data, Path(scratch) / "knn", Knn(k=k, index="ivf"), run, config={})
    return {
        "nodes": size,
        "seconds": time.perf_counter() - began,
        "peak_bytes": peak_bytes(),
        "index": found.facts["index"],
        "recall": found.facts["recall"][0]["recall"],
        "effort": found.facts["recall"][0]["effort"],
    }
