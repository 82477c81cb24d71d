"""NT-Xent: a node's two projections should be more alike than those of different nodes (Eq. 12)."""

import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
from torch import Tensor


def nt_xent(z_learner: Tensor, z_anchor: Tensor, temperature: float) -> Tensor:
    """Symmetric over the views; each row against all rows of the other view, itself included."""
    similarity = F.normalize(z_learner, dim=1) @ F.normalize(z_anchor, dim=1).t() / temperature
    same = torch.arange(len(similarity), device=similarity.device)
    return (F.cross_entropy(similarity, same) + F.cross_entropy(similarity.t(), same)) / 2
