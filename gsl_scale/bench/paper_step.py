"""A step done the paper's way, for comparison: neighbours by blocked matrix products at every step,
edge weights and aggregation by gathers. Written for the benchmark; nothing else uses it."""

import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
from torch import Tensor

from gsl_scale.config import Config
from gsl_scale.contrast.loss import nt_xent
from gsl_scale.contrast.views import feature_mask
from gsl_scale.graph.features import Features
from gsl_scale.graph.weighted import Graph
from gsl_scale.train.step import Model

_BLOCK = 1000


def paper_step(
    model: Model, x: Tensor, smooth: Tensor, anchor: Graph, seeds: Tensor, config: Config
) -> Tensor:
    """The loss of one batch of seeds, with gradient through all n × k similarities."""
    embeddings = model.learner(Features(smooth, None))
    rows, columns, weights = _neighbours(embeddings, config.knn.k)
    projections = []
    for src, dst, edge_weights, share in (
        (rows, columns, weights, config.contrast.mask_learner),
        (anchor.pattern.rows, anchor.pattern.indices, anchor.weights, config.contrast.mask_anchor),
    ):
        masked = x * feature_mask(x.shape[1], share, key=0)
        kept = F.dropout(edge_weights, config.contrast.drop_edges)
        encoder = model.encoder
        hidden = _aggregate(src, dst, kept, masked @ encoder.weight_in) + encoder.bias_in
        hidden = torch.relu(hidden)
        out = _aggregate(src, dst, kept, hidden @ encoder.weight_out) + encoder.bias_out
        projections.append(model.projector(out[seeds]))
    return nt_xent(projections[0], projections[1], config.contrast.temperature)


def _neighbours(embeddings: Tensor, k: int) -> tuple[Tensor, Tensor, Tensor]:
    unit = F.normalize(embeddings, dim=1)
    values, columns = [], []
    for start in range(0, len(unit), _BLOCK):
        best = (unit[start : start + _BLOCK] @ unit.t()).topk(k + 1, dim=1)
        values.append(best.values)
        columns.append(best.indices)
    value, column = torch.cat(values), torch.cat(columns)
    row = torch.arange(len(unit)).repeat_interleave(k + 1)
    weight = torch.relu(value.flatten())
    src, dst = torch.cat([row, column.flatten()]), torch.cat([column.flatten(), row])
    weight = torch.cat([weight, weight]) / 2
    degree = torch.zeros(len(unit)).index_add(0, src, weight)
    scale = degree.clamp(min=1e-12).rsqrt()
    return src, dst, weight * scale[src] * scale[dst]


def _aggregate(src: Tensor, dst: Tensor, weights: Tensor, x: Tensor) -> Tensor:
    return torch.zeros_like(x).index_add(0, src, x[dst] * weights[:, None])
