"""Augmentation: masks over features, dropped edges. A view never modifies what it was given.

Everything is drawn from counters, not from a running generator: the mask of (seed, step, view) and
the fate of edge (seed, step, view, src, dst) are the same in any process, in any order.
"""

import torch
from torch import Tensor

from gsl_scale.graph.random import mixed, uniform
from gsl_scale.graph.weighted import Graph

LEARNER, ANCHOR = 0, 1


def feature_mask(dim: int, share: float, key: int) -> Tensor:
    """Ones with zeros at `share` of the features, exactly (rounded down)."""
    generator = torch.Generator().manual_seed(key & 0x7FFF_FFFF_FFFF_FFFF)
    mask = torch.ones(dim)
    mask[torch.randperm(dim, generator=generator)[: int(dim * share)]] = 0.0
    return mask


def drop_edges(graph: Graph, share: float, key: int) -> Graph:
    """Each edge dropped with this probability, the others scaled up to keep the expected sum."""
    if share == 0.0:
        return graph
    kept = graph.keep(uniform(graph.pattern.numbers, key) >= share)
    return Graph(kept.pattern, kept.weights / (1.0 - share))


def survivors(shape: torch.Size, share: float, key: int, nodes: Tensor) -> Tensor:
    """Bytes: 0 where an entry is dropped, at this share (rounded down to 1/256), 1 elsewhere.

    Row r belongs to node `nodes[r]`; a node's entries share their fate with no other's. Eight
    entries take one random number, several times cheaper than torch's dropout on a CPU.
    """
    words = -(-shape[1] // 8)
    numbers = nodes[:, None] * words + torch.arange(words, device=nodes.device)
    drawn = mixed(numbers, key).view(torch.uint8)
    return drawn.ge_(int(share * 256))[:, : shape[1]]


def key_of(seed: int, step: int, view: int) -> int:
    """One number for one use of randomness."""
    return (seed * 1_000_003 + step) * 8 + view
