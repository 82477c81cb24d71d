"""Trainings on real Ray workers, and what can be said about them afterwards."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from gsl_scale.config import Config
from gsl_scale.config_file import make_config
from gsl_scale.pipeline import run_pipeline
from gsl_scale.store import Artifact
from gsl_scale.store.matrix import edges_matrix

REFRESH = 10


def settings(workers: int, *sets: str) -> Config:
    """Small, with several shards, refreshes and anchor updates."""
    tree = {
        "data": {"source": "synthetic", "nodes": 600, "features": 16, "communities": 4,
                 "degree": 4.0, "seed": 1},
        "learner": {"kind": "mlp", "learning_rate": 1e-3},
        "knn": {"k": 6},
        "contrast": {"hidden": 16, "representation": 8, "projection": 8, "batch": 130},
        "anchor": {"c": 7, "tau": 0.9},
        "train": {"steps": 50, "refresh": REFRESH, "patience": 100},
        "run": {"shards": 3, "workers": workers, "threads": 1},
    }  # fmt: skip
    return make_config(tree, sets)


@dataclass(frozen=True)
class Run:
    """A run folder with a training in it."""

    folder: Path

    def events(self, *kinds: str) -> list[dict]:
        path = self.folder / "train.jsonl"
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        found = [json.loads(line) for line in lines if line.endswith("\n")]
        return [event for event in found if event["event"] in kinds]

    @property
    def losses(self) -> list[float]:
        """Of every step; of one that was done twice, the last."""
        last = {event["step"]: event["loss"] for event in self.events("step")}
        return [last[step] for step in sorted(last)]

    @property
    def graph(self) -> sp.csr_matrix:
        return edges_matrix(Artifact.open(self.folder / "graph"))

    def is_like(self, other: "Run") -> bool:
        """The same curve and the same graph: edges equal but for ties, weights to 1e-4."""
        assert np.allclose(self.losses, other.losses, rtol=1e-4)
        one, two = self.graph, other.graph
        assert ((one != 0) != (two != 0)).nnz <= 0.001 * one.nnz
        assert abs(one - two).max() < 1e-4
        return True


def trained(folder: Path, config: Config) -> Run:
    run_pipeline(config, folder, until="export")
    return Run(folder)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory) -> Run:
    """In this process, without Ray."""
    return trained(tmp_path_factory.mktemp("undisturbed"), settings(0))
