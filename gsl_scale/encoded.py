"""What an encoder makes of a node over the given graph, before there is a learner.

Its columns are trained to agree between two damaged views of the graph and to say different things
(CCA-SSG, Zhang et al., NeurIPS 2021), which costs n d^2 and needs no pairs of nodes. No label is
looked at. `context.py` shows it to the learner.
"""

import torch
from torch import Tensor

from gsl_scale import progress
from gsl_scale.contrast.encoder import Encoder
from gsl_scale.contrast.views import drop_edges, feature_mask, key_of
from gsl_scale.graph.features import Features
from gsl_scale.graph.sample import Block
from gsl_scale.graph.weighted import Graph

WIDTH = 512
STEPS = 50
_RATE = 1e-3
MASKED, DROPPED = 0.3, 0.5  # features and edges, in each view
_APART = 1e-3  # how much it counts that columns differ


def fit_encoder(features: Features, graph: Graph, seed: int) -> dict[str, Tensor]:
    """Its weights, such that nodes are seen from their mean; `graph` is normalised."""
    encoder = _encoder(features.shape[1], WIDTH, WIDTH, seed)
    optimiser = torch.optim.Adam(encoder.parameters(), lr=_RATE)
    with progress.track("encode", STEPS) as advance:
        for step in range(1, STEPS + 1):
            views = (_view(encoder, features, graph, key_of(seed, step, view)) for view in (0, 1))
            loss = decorrelated(*views)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            advance(1, f"loss {float(loss.detach()):.1f}")
    weights = dict(encoder.state_dict())
    weights["bias_out"] -= encoded(features, graph, weights).mean(0)
    return weights


@torch.no_grad()
def encoded(features: Features, graph: Graph, weights: dict[str, Tensor]) -> Tensor:
    """All nodes as the encoder sees them, in undamaged views."""
    (dim, hidden), (_, out) = weights["weight_in"].shape, weights["weight_out"].shape
    encoder = _encoder(dim, hidden, out)
    encoder.load_state_dict(weights)
    found: Tensor = encoder(Block.whole(graph, features))
    return found


def decorrelated(one: Tensor, other: Tensor) -> Tensor:
    """Low where columns of both views agree, and different columns of a view do not."""
    one, other = _standard(one), _standard(other)
    same = torch.eye(one.shape[1], device=one.device)
    apart = sum((same - _correlation(view, view)).square().sum() for view in (one, other))
    return _APART * apart - _correlation(one, other).diagonal().sum()


def _encoder(dim: int, hidden: int, out: int, seed: int = 0) -> Encoder:
    """Drawn apart from whatever else is drawn in this process."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Encoder(dim, hidden, out)


def _view(encoder: Encoder, features: Features, graph: Graph, key: int) -> Tensor:
    mask = feature_mask(features.shape[1], MASKED, key)
    found: Tensor = encoder(Block.whole(drop_edges(graph, DROPPED, key), features), mask)
    return found


def _standard(columns: Tensor) -> Tensor:
    centred = columns - columns.mean(0)
    return centred * (centred.square().mean(0) + 1e-12).rsqrt()


def _correlation(one: Tensor, other: Tensor) -> Tensor:
    return one.t() @ other / len(one)
