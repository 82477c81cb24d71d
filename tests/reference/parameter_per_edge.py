"""The paper's own learner for Cora, a parameter for every pair of nodes, on dense matrices.

Not part of gsl_scale, whose learners are metric ones: it is here to see what the decay of the
anchor does to such a learner, and what it reaches without the given graph (`docs/log.md`). Cora
only; 0.5 s per step and 2 GB.

    GSL_DATA=DIR python -m tests.reference.parameter_per_edge --tau 1 --steps 2500
"""

import argparse
import sys

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
from torch import Tensor, nn

from gsl_scale.config_file import load_config
from gsl_scale.contrast.loss import nt_xent
from gsl_scale.evaluate.classify import Task
from gsl_scale.evaluate.watch import resolved
from gsl_scale.graph.features import Features
from gsl_scale.memory import keep_freed_memory
from gsl_scale.store.matrix import edges_matrix
from tests.conftest import ROOT
from tests.reference.dense import normalise

K, STEEP = 30, 6.0  # neighbours to begin with; how far the others lie down the ELU
HIDDEN, REPRESENTATION, RATE, TEMPERATURE = 128, 64, 0.01, 0.2
MASKED = {"learner": 0.7, "anchor": 0.6}
EVERY = 250


def parameter(*shape: int) -> nn.Parameter:
    value = torch.zeros(*shape)
    if len(shape) > 1:
        nn.init.xavier_uniform_(value)
    return nn.Parameter(value)


class Method:
    """The learned graph, the encoder and the projector, over the rows `x`."""

    def __init__(self, x: Tensor, seed: int) -> None:
        self.x, self.bits = x.to_sparse_csr(), np.random.default_rng(seed)
        n, d = x.shape
        unit = F.normalize(x, dim=1)
        nearest = torch.zeros(n, n).scatter_(1, (unit @ unit.T).topk(K + 1, 1).indices, 1.0)
        self.pairs = nn.Parameter((nearest + torch.eye(n)).clamp(max=1) * STEEP - STEEP)
        self.weight_in, self.bias_in = parameter(d, HIDDEN), parameter(HIDDEN)
        self.weight_out = parameter(HIDDEN, REPRESENTATION)
        self.bias_out = parameter(REPRESENTATION)
        self.project = [nn.Linear(REPRESENTATION, REPRESENTATION) for _ in range(2)]

    def parameters(self) -> list[nn.Parameter]:
        mine = [self.pairs, self.weight_in, self.bias_in, self.weight_out, self.bias_out]
        return mine + [one for layer in self.project for one in layer.parameters()]

    def learned(self) -> Tensor:
        graph = F.elu(self.pairs) + 1
        return normalise((graph + graph.T) / 2)

    def view(self, graph: Tensor, masked: float) -> Tensor:
        n = len(graph)
        shown = (torch.rand(self.x.shape[1]) >= masked).float()
        drawn = np.frombuffer(self.bits.bytes(n * n // 8 + 1), np.uint8)
        graph = graph * torch.from_numpy(np.unpackbits(drawn)[: n * n].reshape(n, n)) * 2
        rows = torch.sparse.mm(self.x, shown[:, None] * self.weight_in)
        hidden = F.dropout(torch.relu(graph @ rows + self.bias_in), 0.5)
        rows = graph @ (hidden @ self.weight_out) + self.bias_out
        projected: Tensor = self.project[1](torch.relu(self.project[0](rows)))
        return projected

    def loss(self, anchor: Tensor) -> Tensor:
        z_l = self.view(self.learned(), MASKED["learner"])
        return nt_xent(z_l, self.view(anchor, MASKED["anchor"]), TEMPERATURE)


def judged(graph: Tensor, x: Tensor, task: Task, seed: int) -> tuple[float, float]:
    """Validation and test accuracy of a 2 × 32 GCN, at its best validation."""
    torch.manual_seed(1000 + seed)
    w_in, b_in, w_out = parameter(x.shape[1], 32), parameter(32), parameter(32, task.num_classes)
    b_out, best = parameter(task.num_classes), (0.0, 0.0)
    optimiser = torch.optim.Adam([w_in, b_in, w_out, b_out], lr=0.01, weight_decay=5e-4)
    summed = graph @ x
    for epoch in range(200):
        hidden = F.dropout(torch.relu(summed @ w_in + b_in), 0.5)
        scores = graph @ (hidden @ w_out) + b_out
        optimiser.zero_grad()
        F.cross_entropy(scores[task.train], task.labels[task.train]).backward()
        optimiser.step()
        if epoch % 5 == 4:
            with torch.no_grad():
                hidden = torch.relu(summed @ w_in + b_in)
                right = (graph @ (hidden @ w_out) + b_out).argmax(1) == task.labels
            found = tuple(right[part].float().mean().item() for part in (task.valid, task.test))
            best = max(found, best, key=lambda pair: pair[0])
    return best


def tell(what: str, graph: Tensor, x: Tensor, task: Task) -> None:
    scores = 100 * np.mean([judged(graph, x, task, seed) for seed in range(3)], axis=0)
    sys.stdout.write(f"{what}: validation {scores[0]:.1f}, test {scores[1]:.1f}\n")
    sys.stdout.flush()


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--tau", type=float, default=0.9999)
    asked.add_argument("--steps", type=int, default=2500)
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--inference", action="store_true", help="without the given graph")
    asked.add_argument("--threads", type=int, default=1)
    asked = asked.parse_args()
    torch.set_num_threads(asked.threads)
    keep_freed_memory()
    torch.manual_seed(asked.seed)
    with resolved(load_config(ROOT / "configs" / "cora.yaml")) as (_, data):
        rows, task = Features.of(data).dense, Task.load(data)
        given = torch.from_numpy(edges_matrix(data).toarray()).float()
    x = rows / rows.sum(dim=1, keepdim=True)
    method, itself = Method(x, asked.seed), torch.eye(len(x))
    anchor = itself if asked.inference else normalise(given + itself)
    optimiser = torch.optim.Adam(method.parameters(), lr=RATE)
    tell("anchor", anchor, x, task)
    for step in range(asked.steps + 1):
        if step % EVERY == 0:
            drawn = torch.get_rng_state()
            with torch.no_grad():
                graph = method.learned()
            tell(f"step {step}", graph, x, task)
            torch.set_rng_state(drawn)
        loss = method.loss(anchor)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if asked.tau < 1:
            with torch.no_grad():
                anchor.mul_(asked.tau).add_(method.learned(), alpha=1 - asked.tau)
    sys.stdout.write(f"loss {loss.item():.4f}\n")


if __name__ == "__main__":
    main()
