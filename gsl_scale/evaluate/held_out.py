"""How good a setting is, judged without labels by what its training did not see.

Half of the features and a tenth of the given edges are hidden and a graph is learned from the rest;
then the other half is hidden. What is hidden depends on the seed alone, so that all settings are
asked the same questions, and no setting can answer by overfitting, as it can with the loss:

- `features`: how well do a node's neighbours tell its hidden features? The correlation of these
  with their weighted mean over the neighbours. Chosen by reasoning, not yet measured.
  This is the objective; the others are reported beside it.
- `clusters`: does the graph keep to clusters of the hidden features? Its modularity.
- `edges`: how much likelier than by chance does a walker on the graph take a hidden edge? In nats.

Labels are not opened, nor copied into what is trained on.
"""

import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from gsl_scale.config import Config
from gsl_scale.errors import InputError
from gsl_scale.evaluate.cluster import clusters_without_labels, kmeans
from gsl_scale.evaluate.figures import modularity
from gsl_scale.evaluate.watch import begin
from gsl_scale.postprocess import learned_graph
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import Draft
from gsl_scale.store.edges import Edges, EdgeShuffle
from gsl_scale.store.nodes import write_columns, write_rows

Rows = npt.NDArray[np.float32]
Columns = npt.NDArray[np.int64]

_HIDDEN_EDGES = 0.1
_JUMP = 0.15  # how often the walker goes anywhere instead, so that no edge is impossible


def held_out(config: Config, data: Artifact) -> dict[str, float]:
    """Means over the two halves; `config` has no 'auto' left."""
    num_features = data.nodes().shape[1]
    if num_features < 2:
        raise InputError(
            "The data has one feature, and half of them cannot be hidden.",
            next_step="Compare settings by --objective validation, with labels and a split.",
        )
    order = np.random.default_rng(config.train.seed).permutation(num_features)
    halves = [np.sort(half) for half in np.array_split(order, 2)]
    found = [_judged(config, data, *pair) for pair in (halves, halves[::-1])]
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}


def _judged(config: Config, data: Artifact, shown: Columns, hidden: Columns) -> dict[str, float]:
    rows = np.array(data.nodes().read(), np.float32)
    with tempfile.TemporaryDirectory(prefix="gsl-") as scratch:
        folder = Path(scratch) / "data"
        edges = _write_rest(data, rows[:, shown], config.train.seed, folder)
        graph = _learned(config, Artifact.open(folder))
    found = {"features": told(graph, rows[:, hidden])}
    clusters = kmeans(rows[:, hidden], clusters_without_labels(len(rows)), seed=0)
    found["clusters"] = modularity(graph, clusters)
    if edges is not None:
        found["edges"] = likelier(graph, edges)
    return found


def _write_rest(data: Artifact, rows: Rows, seed: int, folder: Path) -> Edges | None:
    """The data without what is hidden, and the edges that are."""
    hidden = None
    with Draft(folder, data.manifest.kind, data.manifest.plan) as draft:
        table = write_rows(draft, "features", [rows], rows.shape[1], "float32")
        draft.add_table("features", table)
        if "edges" in data:
            hidden, kept = _split(data.edges().read(), seed)
            shuffle = EdgeShuffle(draft, mirror=True)
            shuffle.append(*kept)
            draft.add_table("edges", shuffle.finish())
        if "ids" in data:  # the anchor may have edges of its own, in these ids
            draft.add_table("ids", write_columns(draft, "ids", [data.columns("ids")]))
        draft.publish()
    return hidden


def _split(edges: Edges, seed: int) -> tuple[Edges, Edges]:
    """Hidden and kept, each edge once."""
    edges = edges.where(edges.src < edges.dst)
    number = int(np.ceil(_HIDDEN_EDGES * len(edges.src)))
    hidden = np.zeros(len(edges.src), bool)
    hidden[np.random.default_rng(seed).permutation(len(hidden))[:number]] = True
    return edges.where(hidden), edges.where(~hidden)


def _learned(config: Config, data: Artifact) -> sp.csr_matrix:
    """The learned graph's weights, without self-loops."""
    trainer = begin(config, data)
    trainer.run()
    graphs = trainer.graphs
    with torch.no_grad():
        found = learned_graph(graphs.embed(trainer.model), graphs.sketch).to_scipy()
    found.setdiag(0)
    found.eliminate_zeros()
    return found


def told(graph: sp.csr_matrix, hidden: Rows) -> float:
    """Correlation of each node's hidden features with their mean over its neighbours, pooled over
    nodes and features; a node without neighbours is told nothing."""
    own = hidden.astype(np.float64) - hidden.mean(axis=0, dtype=np.float64)
    around = _walk(graph) @ own
    spread = np.sqrt(float(np.square(own).sum()) * float(np.square(around).sum()))
    return float((own * around).sum()) / spread if spread > 0 else 0.0


def likelier(graph: sp.csr_matrix, edges: Edges) -> float:
    """Mean log of how much likelier a walker steps along these edges than to any node at random."""
    if not len(edges.src):
        return 0.0
    num_nodes = graph.shape[0]
    src, dst = np.append(edges.src, edges.dst), np.append(edges.dst, edges.src)
    step = np.asarray(_walk(graph)[src, dst]).ravel()
    return float(np.log((1.0 - _JUMP) * step * num_nodes + _JUMP).mean())


def _walk(graph: sp.csr_matrix) -> sp.csr_matrix:
    """Rows sum to 1, or to 0 where a node has no neighbour."""
    strength = np.asarray(graph.sum(axis=1), np.float64).ravel()
    scale = np.divide(1.0, strength, out=np.zeros_like(strength), where=strength > 0)
    return sp.csr_matrix(sp.diags_array(scale) @ graph.astype(np.float64))
