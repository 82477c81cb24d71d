"""Node classification by retraining a GCN on a fixed graph, as the paper evaluates."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn

from gsl_scale.config import Evaluate
from gsl_scale.contrast.views import drop_edges, survivors
from gsl_scale.evaluate.accuracy import Accuracy, plain
from gsl_scale.graph.features import Features
from gsl_scale.graph.weighted import Graph
from gsl_scale.store.artifact import Artifact

# Part of the names of kept results: another way of judging is another result.
JUDGED = "by classifiers drawn anew, equal ones by loss, few by three"
_PATIENCE = 50  # epochs without a better validation
# Of fewer validation nodes, one classifier of each weight decay does not tell which is best.
_FEW, _PICKERS = 1000, 3
_DEEP = 3  # layers from which on there is batch norm
_LARGE, _EVERY = 100_000, 5  # from so many nodes on, validation is looked at so rarely


@dataclass(frozen=True)
class Task:
    """Labels of all nodes (-1: unknown), and who may be seen when."""

    labels: Tensor
    train: Tensor
    valid: Tensor
    test: Tensor
    num_classes: int
    accuracy: Accuracy = plain

    @classmethod
    def load(cls, data: Artifact, accuracy: Accuracy = plain) -> "Task | None":
        """None where there are no labels, or no split to train and test with."""
        if "labels" not in data:
            return None
        table = data.columns("labels")
        labels = table["label"].fill_null(-1).to_numpy().astype(np.int64)
        split = np.array(table["split"].fill_null("").to_pylist())
        train, valid, test = (
            torch.from_numpy(np.flatnonzero((split == name) & (labels >= 0)))
            for name in ("train", "valid", "test")
        )
        if not len(train) or not len(test):
            return None
        return cls(torch.from_numpy(labels), train, valid, test, int(labels.max()) + 1, accuracy)

    def blind(self) -> "Task":
        """Only the labels of training and validation nodes; the latter stand in for the test."""
        seen = torch.cat([self.train, self.valid])
        labels = torch.full_like(self.labels, -1)
        labels[seen] = self.labels[seen]
        return replace(self, labels=labels, test=self.valid)


@dataclass(frozen=True)
class Score:
    """Accuracies; the loss tells apart equal ones on few validation nodes."""

    valid: float
    test: float
    valid_loss: float = float("inf")

    @property
    def rank(self) -> tuple[float, float]:
        """Higher is better; the test does not take part."""
        return self.valid, -self.valid_loss


@dataclass(frozen=True)
class Classifier:
    """How the GCN is trained."""

    hidden: int
    layers: int
    learning_rate: float
    weight_decay: float
    dropout: float
    drop_edges: float
    epochs: int

    @classmethod
    def choices(cls, settings: Evaluate) -> "list[Classifier]":
        """One per weight decay to be tried."""
        others = {"seeds", "cluster_runs", "weight_decay", "references"}
        values = settings.model_dump(exclude=others)
        return [cls(weight_decay=decay, **values) for decay in settings.weight_decay]


class Gcn(nn.Module):
    """Without a graph it is an MLP. Of three layers or more, hidden ones are normalised over the
    nodes (batch norm), as in OGB's GCN for arxiv."""

    def __init__(self, dims: list[int], dropout: float) -> None:
        super().__init__()
        self.weights = nn.ParameterList(
            nn.init.xavier_uniform_(torch.empty(a, b)) for a, b in pairwise(dims)
        )
        self.biases = nn.ParameterList(torch.zeros(b) for b in dims[1:])
        deep = dims[1:-1] if len(dims) > _DEEP else []
        self.norms = nn.ModuleList(nn.BatchNorm1d(dim) for dim in deep)
        self.dropout = dropout

    def forward(self, graph: Graph | None, features: Features, passed: bool = False) -> Tensor:
        """`passed`: the features have been passed on over the graph already."""
        x = features.times(self.weights[0])
        for layer, bias in enumerate(self.biases):
            if layer:
                x = self.norms[layer - 1](x) if self.norms else x
                x, scale = self._thinned(torch.relu_(x))
                x = x @ (self.weights[layer] * scale)
            x = x if graph is None or (passed and not layer) else graph @ x
            x += bias
        return x

    def _thinned(self, x: Tensor) -> tuple[Tensor, float]:
        """Dropout, and what is left to be multiplied by. torch draws entry by entry in one
        thread, which for a large graph takes as long as its products."""
        if not self.training or len(x) < _LARGE:
            return F.dropout(x, self.dropout, self.training), 1.0
        key = int(torch.randint(2**40, ()))
        kept = survivors(x.shape, self.dropout, key, torch.arange(len(x)))
        return x * kept, 1.0 / (1.0 - self.dropout)


def classify(
    graph: Graph | None, features: Features, task: Task, choices: list[Classifier], seeds: int
) -> dict[str, Any]:
    """Test accuracy over seeds, with the weight decay that validates best."""
    pickers = _PICKERS if len(choices) > 1 and len(task.valid) < _FEW else 1
    tried = [
        [train_gcn(graph, features, task, how, seed) for seed in range(pickers)] for how in choices
    ]
    best = max(range(len(choices)), key=lambda i: _mean_rank(tried[i]))
    more = (train_gcn(graph, features, task, choices[best], seed) for seed in range(pickers, seeds))
    scores = [*tried[best][:seeds], *more]
    test = np.array([score.test for score in scores]) * 100
    return {
        "mean": float(test.mean()),
        "std": float(test.std()),
        "valid": float(np.mean([score.valid for score in scores]) * 100),
        "valid_loss": float(np.mean([score.valid_loss for score in scores])),
        "weight_decay": choices[best].weight_decay,
    }


def _mean_rank(scores: list[Score]) -> tuple[float, float]:
    valid, minus_loss = np.mean([score.rank for score in scores], axis=0)
    return float(valid), float(minus_loss)


def train_gcn(
    graph: Graph | None, features: Features, task: Task, how: Classifier, seed: int
) -> Score:
    """Train, and report the test accuracy at the best validation accuracy."""
    torch.manual_seed(seed)
    dims = [features.shape[1], *[how.hidden] * (how.layers - 1), task.num_classes]
    model = Gcn(dims, how.dropout)
    optimiser = torch.optim.Adam(
        model.parameters(), lr=how.learning_rate, weight_decay=how.weight_decay
    )
    best, since = Score(0.0, 0.0), 0
    judged = task if len(task.valid) else replace(task, valid=task.train)
    every = 1 if features.shape[0] < _LARGE else _EVERY
    # A graph that stays the same passes narrow features on once and for all.
    passed = graph is not None and not how.drop_edges and features.shape[1] <= how.hidden
    if graph is not None and passed:
        features = Features(graph @ features.dense, None)
    for epoch in range(how.epochs):
        model.train()
        dropped = drop_edges(graph, how.drop_edges, seed * 100_003 + epoch) if graph else None
        logits = model(dropped, features, passed)
        loss = F.cross_entropy(logits[task.train], task.labels[task.train])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if (epoch + 1) % every and epoch + 1 < how.epochs:
            continue
        model.eval()
        with torch.no_grad():
            logits = model(graph, features, passed)
        valid_loss = float(F.cross_entropy(logits[judged.valid], task.labels[judged.valid]))
        predicted = logits.argmax(1)
        valid, test = (_accuracy(predicted, task, nodes) for nodes in (judged.valid, task.test))
        score = Score(valid, test, valid_loss)
        if score.rank > best.rank:
            best, since = score, 0
        else:
            since += every
            if since >= _PATIENCE:
                break
    return best


def _accuracy(predicted: Tensor, task: Task, nodes: Tensor) -> float:
    return task.accuracy(task.labels[nodes], predicted[nodes])


def logistic_regression(features: Features, task: Task) -> dict[str, Any]:
    """Features alone, no graph; validation picks the regularisation."""
    rows, labels = features.dense.numpy(), task.labels.numpy()
    scores = []
    for strength in (0.01, 1.0, 100.0):
        model = LogisticRegression(C=strength, max_iter=1000).fit(
            rows[task.train], labels[task.train]
        )
        judged = task.valid if len(task.valid) else task.train
        predicted = torch.from_numpy(model.predict(rows))
        valid, test = (_accuracy(predicted, task, nodes) for nodes in (judged, task.test))
        scores.append(Score(valid, test))
    best = max(scores, key=lambda score: score.valid)
    return {"mean": best.test * 100, "std": 0.0, "valid": best.valid * 100}
