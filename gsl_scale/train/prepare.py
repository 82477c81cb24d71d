"""What the learner sees, computed once before training and written beside it."""

from pathlib import Path

from gsl_scale.config import Config
from gsl_scale.context import AROUND, learner_input
from gsl_scale.graph.features import Features
from gsl_scale.graph.weighted import Graph, with_self_loops
from gsl_scale.knn.search import read_candidates
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import Draft
from gsl_scale.store.matrix import edges_matrix
from gsl_scale.store.nodes import write_rows
from gsl_scale.store.tensors import write_tensors


def write_seen(config: Config, data: Artifact, knn: Artifact, folder: Path) -> Artifact | None:
    """None if it sees the features and nothing else; not computed again if it is there."""
    if folder.exists():
        return Artifact.open(folder)
    learner = config.learner
    narrow = learner.kind == "mlp" and 0 < learner.width < data.nodes().shape[1]
    if learner.context == "none" and not narrow:  # nothing that needs all rows in memory
        return None
    given, nearest = None, None
    if "edges" in data:
        given = Graph.from_scipy(with_self_loops(edges_matrix(data))).normalised()
    if learner.context == "manifold" or (learner.context in AROUND and given is None):
        nearest = read_candidates(knn)
    features = Features.of(data)
    seen, fitted = learner_input(features, given, nearest, learner, config.train.seed)
    if seen is features:
        return None
    rows = seen.dense.numpy()
    with Draft(folder, "seen", data.manifest.plan) as draft:
        draft.add_table("seen", write_rows(draft, "seen", [rows], rows.shape[1], "float32"))
        draft.add_table("context", write_tensors(draft, "context", fitted))
        draft.publish()
    return Artifact.open(folder)
