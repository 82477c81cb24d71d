"""The evaluate stage: the learned graph beside the baselines, with and without labels."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp
import torch

from gsl_scale import progress
from gsl_scale.config import Config, Evaluate, depends_on
from gsl_scale.evaluate import figures
from gsl_scale.evaluate.accuracy import accuracy_of
from gsl_scale.evaluate.classify import Classifier, Task, classify, logistic_regression
from gsl_scale.evaluate.cluster import cluster_scores, clusters_without_labels, kmeans
from gsl_scale.evaluate.references import diffused, wanted
from gsl_scale.evaluate.repair import repair
from gsl_scale.evaluate.smooth import smoothed
from gsl_scale.graph.features import Features
from gsl_scale.graph.weighted import Graph, with_self_loops
from gsl_scale.ingest.write import UNDAMAGED
from gsl_scale.memory import hand_back_memory, return_freed_memory
from gsl_scale.preset import LARGE, Shape, resolve
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import Draft
from gsl_scale.store.manifest import Manifest
from gsl_scale.store.matrix import edges_matrix, symmetric
from gsl_scale.store.nodes import write_columns

KIND = "metrics"


def evaluate_stage(
    config: Config, data: Artifact, knn: Artifact, learned: Artifact, graph: Artifact, folder: Path
) -> Manifest:
    parents = {
        "data": data.manifest.content,
        "knn": knn.manifest.content,
        "embeddings": learned.manifest.content,
        "graph": graph.manifest.content,
    }
    plan = data.manifest.plan
    with Draft(folder, KIND, plan, depends_on(config, ["evaluate"]), parents) as draft:
        draft.facts, clusters = measure(config, data, knn, learned, graph)
        table = pa.table({"cluster": clusters})
        draft.add_table("clusters", write_columns(draft, "clusters", [table]))
        return draft.publish()


def measure(
    config: Config, data: Artifact, knn: Artifact, learned: Artifact, graph: Artifact
) -> tuple[dict[str, Any], npt.NDArray[np.int64]]:
    """Scores and figures; and the clusters, found without labels, that some of these refer to."""
    settings = resolve(config, Shape.of(data)).evaluate
    if data.manifest.num_nodes >= LARGE:
        return_freed_memory()  # training had kept it
    features = Features.of(data)
    representations = np.array(learned.nodes("representations").read())
    matrices = {"learned graph": edges_matrix(graph)}
    if "edges" in data:
        matrices["given graph"] = edges_matrix(data)
    matrices["kNN graph"] = symmetric(edges_matrix(knn))
    task = Task.load(data, accuracy_of(config.data))
    rows = {
        "representations": representations,
        "smoothed representations": _smoothed(representations, matrices["learned graph"]),
    }

    metrics: dict[str, Any] = {}
    if task is not None:
        metrics |= _against_labels(settings, features, matrices, rows, task)
    found = task.num_classes if task else clusters_without_labels(len(representations))
    clusters = kmeans(rows["smoothed representations"], found, seed=0)
    metrics["graphs"] = {
        name: figures.figures(matrix, clusters) for name, matrix in matrices.items()
    }
    if "given graph" in matrices:
        metrics["edges"] = figures.compared(matrices["given graph"], matrices["learned graph"])
    if UNDAMAGED in data:
        before = edges_matrix(data, UNDAMAGED)
        metrics["repair"] = repair(before, matrices["given graph"], matrices["learned graph"])
    return metrics, clusters


def _against_labels(
    settings: Evaluate,
    features: Features,
    matrices: dict[str, sp.csr_matrix],
    represented: dict[str, npt.NDArray[np.float32]],
    task: Task,
) -> dict[str, Any]:
    """Classification and clustering, beside the baselines and what needs no learning."""
    choices, runs = Classifier.choices(settings), settings.cluster_runs
    beside = wanted(settings, features.shape[0])
    base = "given graph" if "given graph" in matrices else "kNN graph"
    # One at a time in memory, as a GCN wants it; of a diffusion, all that were made together.
    graphs: dict[str, Callable[[], Graph | None]] = {
        f"GCN, {name}": partial(_for_gcn, matrix) for name, matrix in matrices.items()
    }
    rows = {**represented, "features": features.dense.numpy()}
    if beside:
        for name, diffusion in diffused(matrices[base]).items():
            graphs[f"GCN, {base} diffused ({name})"] = partial(_same, diffusion)
        rows["smoothed features"] = _smoothed(features.dense.numpy(), matrices[base])
    graphs["MLP, no graph"] = partial(_same, None)
    scores, clustering = {}, {}
    with progress.track("evaluate", len(graphs) + 1 + len(rows)) as advance:
        for name, graph in graphs.items():
            scores[name] = classify(graph(), features, task, choices, settings.seeds)
            hand_back_memory()
            advance(1, name)
        scores["logistic regression, no graph"] = logistic_regression(features, task)
        advance(1, "logistic regression")
        for name, of in rows.items():
            clustering[f"K-means, {name}"] = cluster_scores(
                of, task.labels.numpy(), task.num_classes, runs
            )
            advance(1, f"K-means, {name}")
    return {"classification": scores, "clustering": clustering}


def _smoothed(rows: npt.NDArray[np.float32], graph: sp.csr_matrix) -> npt.NDArray[np.float32]:
    return np.asarray(smoothed(torch.from_numpy(rows), graph).numpy())


def _for_gcn(matrix: sp.csr_matrix) -> Graph:
    return Graph.from_scipy(with_self_loops(matrix)).normalised()


def _same(graph: Graph | None) -> Graph | None:
    return graph
