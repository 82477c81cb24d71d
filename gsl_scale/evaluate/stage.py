"""The evaluate stage: the learned graph beside the baselines, with and without labels."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gsl_scale import progress
from gsl_scale.config import Config, depends_on
from gsl_scale.evaluate import figures
from gsl_scale.evaluate.accuracy import accuracy_of
from gsl_scale.evaluate.classify import Classifier, Task, classify, logistic_regression
from gsl_scale.evaluate.cluster import cluster_scores, kmeans
from gsl_scale.graph.features import Features
from gsl_scale.graph.load import edges_matrix, symmetric
from gsl_scale.graph.weighted import Graph, with_self_loops
from gsl_scale.preset import Shape, resolve
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import Draft
from gsl_scale.store.manifest import Manifest
from gsl_scale.store.nodes import write_columns

KIND = "metrics"
_CLUSTERS_WITHOUT_LABELS = 10


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
    features = Features.of(data)
    representations = np.array(learned.nodes("representations").read())
    matrices = {"learned graph": edges_matrix(graph)}
    if "edges" in data:
        matrices["given graph"] = edges_matrix(data)
    matrices["kNN graph"] = symmetric(edges_matrix(knn))
    task = Task.load(data, accuracy_of(config.data))

    metrics: dict[str, Any] = {}
    if task is not None:
        choices = Classifier.choices(settings)
        with progress.track("evaluate", len(matrices) + 3) as advance:
            scores = {}
            for name, matrix in matrices.items():
                normalised = Graph.from_scipy(with_self_loops(matrix)).normalised()
                scores[f"GCN, {name}"] = classify(
                    normalised, features, task, choices, settings.seeds
                )
                advance(1, name)
            scores["MLP, no graph"] = classify(None, features, task, choices, settings.seeds)
            advance(1, "MLP")
            scores["logistic regression, no graph"] = logistic_regression(features, task)
            advance(1, "logistic regression")
            labels, runs = task.labels.numpy(), settings.cluster_runs
            metrics["classification"] = scores
            metrics["clustering"] = {
                "K-means, representations": cluster_scores(
                    representations, labels, task.num_classes, runs
                ),
                "K-means, features": cluster_scores(
                    features.dense.numpy(), labels, task.num_classes, runs
                ),
            }
            advance(1, "clustering")
    found = (
        task.num_classes if task else min(_CLUSTERS_WITHOUT_LABELS, 1 + len(representations) // 20)
    )
    clusters = kmeans(representations, found, seed=0)
    metrics["graphs"] = {
        name: figures.figures(matrix, clusters) for name, matrix in matrices.items()
    }
    if "given graph" in matrices:
        metrics["edges"] = figures.compared(matrices["given graph"], matrices["learned graph"])
    return metrics, clusters
