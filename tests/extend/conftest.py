"""Small runs to be extended: clustered rows, with edges within clusters or without."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from gsl_scale.config import Config
from gsl_scale.config_file import make_config
from gsl_scale.extend.run import extend
from gsl_scale.pipeline import run_pipeline
from gsl_scale.store.artifact import Artifact

OLD, NEW, DIM = 50, 12, 8


class Trial(NamedTuple):
    """A finished run on the first nodes, and files of those that come later."""

    folder: Path
    config: Config
    flags: dict[str, Any]

    def extend(self, out: Path, **keys: Any) -> dict[str, Artifact]:
        extend(self.folder, out, self.config, self.flags, **keys)
        return artifacts(out)


def artifacts(run: Path) -> dict[str, Artifact]:
    return {name: Artifact.open(run / name) for name in ("data", "knn", "embeddings", "graph")}


@pytest.fixture(scope="session")
def nodes() -> np.ndarray:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, DIM))
    rows = centres[np.arange(OLD + NEW) % 4] + 0.6 * rng.normal(size=(OLD + NEW, DIM))
    return rows.astype(np.float32)


@pytest.fixture
def trial(tmp_path: Path, nodes: np.ndarray) -> Callable[..., Trial]:
    def make(
        with_edges: bool = False, shards: int = 1, given: str | None = None, **learner: Any
    ) -> Trial:
        np.save(tmp_path / "old.npy", nodes[:OLD])
        np.save(tmp_path / "new.npy", nodes[OLD:])
        data = {"source": "tables", "features": str(tmp_path / "old.npy")}
        flags = {"features": str(tmp_path / "new.npy")}
        if with_edges:
            rng = np.random.default_rng(1)
            src = rng.integers(0, OLD + NEW, 150)
            dst = (src + 4 * rng.integers(1, 10, 150)) % (OLD + NEW)
            edges = pd.DataFrame({"src": src, "dst": dst, "weight": rng.uniform(0.5, 1, 150)})
            old = edges[["src", "dst"]].max(axis=1) < OLD
            for name, part in (("old", edges[old]), ("new", edges[~old])):
                part.to_csv(tmp_path / f"{name}-edges.csv", index=False)
            data["edges"] = str(tmp_path / "old-edges.csv")
            flags["edges"] = str(tmp_path / "new-edges.csv")
        tree = {
            "data": data,
            "knn": {"k": 4},
            "learner": {"context": "none", "kind": "mlp", "width": 0, **learner},
            "train": {"steps": 3, "refresh": 2},
            "export": {"given": given},
            "run": {"shards": shards, "batch": 7},
        }
        config = make_config(tree)
        run_pipeline(config, tmp_path / "run", until="export")
        return Trial(tmp_path / "run", config, flags)

    return make
