"""Randomness from counters, not from a running generator: the same in any process and order."""

import torch
from torch import Tensor

_ODD = (-4658895280553007687, -7723592293110705685)  # splitmix64's


def uniform(numbers: Tensor, key: int) -> Tensor:
    """A number in [0, 1) for each integer, from (key, integer) alone."""
    return _shift(mixed(numbers, key), 40).to(torch.float32) / float(1 << 24)


def mixed(numbers: Tensor, key: int) -> Tensor:
    """64 random bits for each integer: splitmix64."""
    x = numbers + _wrapped(key * 0x9E3779B97F4A7C15)
    x = (x ^ _shift(x, 30)).mul_(_ODD[0])
    x = (x ^ _shift(x, 27)).mul_(_ODD[1])
    return x ^ _shift(x, 31)


def _shift(x: Tensor, bits: int) -> Tensor:
    """Logical shift to the right; torch's own keeps the sign."""
    return (x >> bits).bitwise_and_((1 << (64 - bits)) - 1)


def _wrapped(number: int) -> int:
    number &= (1 << 64) - 1
    return number - (1 << 64) if number >= 1 << 63 else number
