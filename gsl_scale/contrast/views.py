"""Augmentation: masks over features, dropped edges. A view never modifies what it was given.

Everything is drawn from counters, not from a running generator: the mask of (seed, step, view) and
the fate of edge (seed, step, view, src, dst) are the same in any process, in any order.
"""

import torch
from torch import Tensor

from gsl_scale.graph.weighted import Graph

LEARNER, ANCHOR = 0, 1
_ODD = (-7046029254386353131, -4658895280553007687, -7723592293110705685)  # splitmix64's


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


def dropout(x: Tensor, share: float, key: int, nodes: Tensor | None = None) -> Tensor:
    """Zeros at this share of the entries (in steps of 1/256), the others scaled up.

    Row r belongs to node `nodes[r]`, or r; a node's entries share their fate with no other's.
    Eight entries take one random number, several times cheaper than torch's dropout on a CPU.
    """
    border = int(share * 256)
    if border == 0:
        return x
    if nodes is None:
        nodes = torch.arange(len(x), device=x.device)
    words = -(-x.shape[1] // 8)
    numbers = nodes[:, None] * words + torch.arange(words, device=x.device)
    drawn = _mixed(numbers, key).view(torch.uint8)[:, : x.shape[1]]
    return x * (drawn >= border) * (256.0 / (256 - border))


def key_of(seed: int, step: int, view: int) -> int:
    """One number for one use of randomness."""
    return (seed * 1_000_003 + step) * 8 + view


def uniform(numbers: Tensor, key: int) -> Tensor:
    """A number in [0, 1) for each integer, from (key, integer) alone."""
    return _shift(_mixed(numbers, key), 40).to(torch.float32) / float(1 << 24)


def _mixed(numbers: Tensor, key: int) -> Tensor:
    """64 random bits for each integer: splitmix64."""
    x = numbers + _wrapped(key * 0x9E3779B97F4A7C15)
    x = (x ^ _shift(x, 30)).mul_(_ODD[1])
    x = (x ^ _shift(x, 27)).mul_(_ODD[2])
    return x ^ _shift(x, 31)


def _shift(x: Tensor, bits: int) -> Tensor:
    """Logical shift to the right; torch's own keeps the sign."""
    return (x >> bits).bitwise_and_((1 << (64 - bits)) - 1)


def _wrapped(number: int) -> int:
    number &= (1 << 64) - 1
    return number - (1 << 64) if number >= 1 << 63 else number
