"""Finished runs, written directly: what training would leave behind, without training."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from gsl_scale.config_file import make_config
from gsl_scale.evaluate.cluster import MEASURES
from gsl_scale.evaluate.figures import figures
from gsl_scale.ingest.source import labels_table
from gsl_scale.store import Artifact, Draft, EdgeShuffle, ShardPlan
from gsl_scale.store.matrix import edges_matrix
from gsl_scale.store.nodes import write_columns, write_rows

HISTORY = {
    "step": [20, 40, 60],
    "loss": [6.0, 5.5, 5.2],
    "kept": [0.5, 0.8, 0.95],
    "stopped": "all steps done",
    "seconds": 1.0,
}


@dataclass
class Kind:
    """What the run is about."""

    num_nodes: int = 60
    degree: int = 3
    given: bool = True
    classes: tuple[str, ...] = ("cat", "dog", "emu")  # none: no labels
    split: bool = True
    ids: tuple[str, ...] | None = None
    evaluated: bool = True
    accuracy: tuple[float, float] = (90.0, 80.0)  # on the learned graph, and the best baseline
    std: float = 1.0
    seeds: int = 5


def write_run(run: Path, kind: Kind) -> Path:
    run.mkdir(parents=True, exist_ok=True)
    config = make_config({"data": {"source": "tables", "features": "x.npy"}})
    (run / "config.yaml").write_text(config.to_yaml())
    data = _data(run, kind)
    knn = _knn(run, data, kind)
    learned = _embeddings(run, data, knn)
    graph = _graph(run, data, learned, kind)
    if kind.evaluated:
        _metrics(run, {"data": data, "knn": knn, "embeddings": learned, "graph": graph}, kind)
    return run


def group_of(kind: Kind) -> np.ndarray:
    return np.arange(kind.num_nodes) % max(1, len(kind.classes))


def _edges(draft: Draft, kind: Kind, seed: int, alike: float, weighted: bool) -> None:
    """Random edges, of which a share joins nodes of one class."""
    rng = np.random.default_rng(seed)
    src = rng.integers(0, kind.num_nodes, kind.num_nodes * kind.degree)
    dst = rng.integers(0, kind.num_nodes, len(src))
    step = max(1, len(kind.classes))
    same = (src + step * rng.integers(1, max(2, kind.num_nodes // step), len(src))) % kind.num_nodes
    dst = np.where(rng.random(len(src)) < alike, same, dst)
    real = src != dst
    weight = rng.uniform(0.1, 1.0, len(src)).astype(np.float32) if weighted else None
    shuffle = EdgeShuffle(draft, mirror=True)
    shuffle.append(src[real], dst[real], None if weight is None else weight[real])
    draft.add_table("edges", shuffle.finish())


def _data(run: Path, kind: Kind) -> Artifact:
    config = {"data.source": "tables"}
    with Draft(run / "data", "data", ShardPlan(kind.num_nodes, 2), config) as draft:
        rows = np.random.default_rng(0).random((kind.num_nodes, 4), np.float32)
        draft.add_table("features", write_rows(draft, "features", [rows], 4, "float32"))
        if kind.given:
            _edges(draft, kind, 1, alike=0.5, weighted=False)
        if kind.classes:
            split = np.array(["train", "valid", "test"])[np.arange(kind.num_nodes) // 2 % 3]
            labels = labels_table(group_of(kind), split if kind.split else None)
            draft.add_table("labels", write_columns(draft, "labels", [labels]))
        if kind.ids:
            ids = pa.table({"id": list(kind.ids)})
            draft.add_table("ids", write_columns(draft, "ids", [ids]))
        finding = {"outcome": "repaired", "code": "x", "count": 1, "text": "1 edge <b>merged</b>."}
        draft.facts = {"classes": list(kind.classes), "findings": [finding]}
        draft.publish()
    return Artifact.open(run / "data")


def _knn(run: Path, data: Artifact, kind: Kind) -> Artifact:
    parents = {"data": data.manifest.content}
    with Draft(run / "knn", "knn", data.manifest.plan, {}, parents) as draft:
        _edges(draft, kind, 2, alike=0.6, weighted=True)
        draft.facts = {"k": 3, "index": "exact", "recall": []}
        draft.publish()
    return Artifact.open(run / "knn")


def _embeddings(run: Path, data: Artifact, knn: Artifact) -> Artifact:
    parents = {"data": data.manifest.content, "knn": knn.manifest.content}
    with Draft(run / "embeddings", "embeddings", data.manifest.plan, {}, parents) as draft:
        rows = np.ones((data.manifest.num_nodes, 2), np.float32)
        draft.add_table("embeddings", write_rows(draft, "embeddings", [rows], 2, "float32"))
        settings = {"knn": {"k": 3, "keep_given": True}}
        draft.facts = {"history": HISTORY, "settings": settings, "peak_bytes": 3 << 30}
        draft.publish()
    lines = [{"event": "attempt", "step": 0}]
    lines += [{"event": "step", "step": s, "loss": 6.2 - s / 60} for s in range(1, 61)]
    (run / "train.jsonl").write_text("\n".join(map(json.dumps, lines)) + '\n{"event": "st')
    return Artifact.open(run / "embeddings")


def _graph(run: Path, data: Artifact, learned: Artifact, kind: Kind) -> Artifact:
    parents = {"data": data.manifest.content, "embeddings": learned.manifest.content}
    with Draft(run / "graph", "graph", data.manifest.plan, {}, parents) as draft:
        _edges(draft, kind, 1 if kind.given else 2, alike=0.9, weighted=True)
        draft.publish()
    return Artifact.open(run / "graph")


def _metrics(run: Path, parents: dict[str, Artifact], kind: Kind) -> None:
    contents = {name: artifact.manifest.content for name, artifact in parents.items()}
    plan = parents["data"].manifest.plan
    with Draft(run / "metrics", "metrics", plan, {"evaluate.seeds": kind.seeds}, contents) as draft:
        clusters = (np.arange(kind.num_nodes) % 3).astype(np.int64)
        draft.add_table(
            "clusters", write_columns(draft, "clusters", [pa.table({"cluster": clusters})])
        )
        draft.facts = _scores(parents, kind, clusters)
        draft.publish()


def _scores(parents: dict[str, Artifact], kind: Kind, clusters: np.ndarray) -> dict[str, Any]:
    names = {"learned graph": "graph", "given graph": "data", "kNN graph": "knn"}
    if not kind.given:
        del names["given graph"]
    found: dict[str, Any] = {
        "graphs": {name: figures(edges_matrix(parents[at]), clusters) for name, at in names.items()}
    }
    if kind.classes and kind.split:
        learned, baseline = kind.accuracy
        scores = {"GCN, learned graph": learned}
        if kind.given:
            scores["GCN, given graph"] = baseline
        scores |= {"GCN, kNN graph": baseline - 1, "MLP, no graph": baseline - 5}
        found["classification"] = {
            name: {"mean": mean, "std": kind.std, "valid": mean} for name, mean in scores.items()
        }
        found["clustering"] = {
            f"K-means, {name}": {measure: {"mean": mean, "std": 1.0} for measure in MEASURES}
            for name, mean in (("representations", 60.0), ("features", 50.0))
        }
    return found


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Path]:
    def make(**about: Any) -> Path:
        return write_run(tmp_path / "some run", Kind(**about))

    return make


@pytest.fixture(scope="session")
def large_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """As many nodes as ogbn-arxiv, with long ids and many classes."""
    num_nodes = 169_343
    kind = Kind(
        num_nodes=num_nodes,
        degree=10,
        classes=tuple(f"class {c}" for c in range(40)),
        ids=tuple(f"https://example.org/paper/{i * 7919}" for i in range(num_nodes)),
        evaluated=False,
    )
    yield write_run(tmp_path_factory.mktemp("large") / "run", kind)
