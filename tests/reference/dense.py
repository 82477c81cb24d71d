"""The paper's equations on dense n × n matrices, written to be read beside the paper."""

import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
from torch import Tensor


def normalise(adjacency: Tensor) -> Tensor:
    """D^-1/2 A D^-1/2; a row of zeros stays one."""
    degree = adjacency.sum(dim=1)
    scale = torch.where(degree > 0, degree, 1.0) ** -0.5
    return scale[:, None] * adjacency * scale[None, :]


def attentive(x: Tensor, weights: list[Tensor], activation) -> Tensor:  # Eq. 3
    for layer, weight in enumerate(weights):
        x = (activation(x) if layer else x) * weight
    return x


def mlp(x: Tensor, weights: list[Tensor], activation) -> Tensor:  # Eq. 4
    for layer, weight in enumerate(weights):
        x = (activation(x) if layer else x) @ weight
    return x


def gnn(x: Tensor, weights: list[Tensor], activation, given: Tensor) -> Tensor:  # Eq. 5
    a_hat = normalise(given + torch.eye(len(x)))
    for layer, weight in enumerate(weights):
        x = a_hat @ (activation(x) if layer else x) @ weight
    return x


def cosine(embeddings: Tensor) -> Tensor:
    unit = embeddings / embeddings.norm(dim=1, keepdim=True).clamp(min=1e-12)
    return unit @ unit.T


def top_k(similarity: Tensor, k: int) -> Tensor:
    """A mask of each row's k largest, itself left out."""
    without_self = similarity.detach().clone().fill_diagonal_(-float("inf"))
    return torch.zeros_like(similarity).scatter_(1, without_self.topk(k, dim=1).indices, 1.0)


def learned(embeddings: Tensor, k: int, given: Tensor | None = None) -> Tensor:
    """Eqs. 6 and 7, self-loops of weight 1; not yet normalised."""
    similarity = cosine(embeddings)
    mask = top_k(similarity, k)
    if given is not None:
        mask = ((mask + given) > 0).float()
    sketched = torch.relu(similarity) * mask
    symmetric = (sketched + sketched.T) / 2
    return symmetric * (1 - torch.eye(len(embeddings))) + torch.eye(len(embeddings))


def encode(graph: Tensor, x: Tensor, encoder) -> Tensor:
    hidden = torch.relu(graph @ (x @ encoder.weight_in) + encoder.bias_in)
    return graph @ (hidden @ encoder.weight_out) + encoder.bias_out


def nt_xent(z_l: Tensor, z_a: Tensor, t: float) -> Tensor:
    """Eq. 12, term by term."""
    total = torch.zeros(())
    for z, other in ((z_l, z_a), (z_a, z_l)):
        for i in range(len(z)):
            scores = torch.stack([F.cosine_similarity(z[i], row, dim=0) for row in other]) / t
            total = total - torch.log(torch.exp(scores[i]) / torch.exp(scores).sum())
    return total / (2 * len(z_l))


def blend(anchor: Tensor, graph: Tensor, tau: float, budget: int) -> Tensor:
    """Eq. 13, then the heaviest `budget` of each row."""
    mixed = tau * anchor + (1 - tau) * graph
    kept = torch.zeros_like(mixed).scatter_(1, mixed.topk(budget, dim=1).indices, 1.0)
    return mixed * kept


def smooth(x: Tensor, graph: Tensor, hops: int, restart: float) -> Tensor:
    unit = x / x.norm(dim=1, keepdim=True).clamp(min=1e-12)
    rows = unit
    for _ in range(hops):
        rows = (1 - restart) * graph @ rows + restart * unit
    return rows
