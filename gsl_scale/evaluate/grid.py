"""Which settings a sweep tries: every combination of its axes, or some drawn from them."""

from collections.abc import Iterator
from itertools import product
from math import prod

import numpy as np

from gsl_scale.errors import UserError

Setting = tuple[str, ...]  # KEY=VALUE, as --set takes them; none: the config as it is

PAPER = "paper"
MOST = 10_000  # settings that are tried
_LISTED = 10 * MOST  # a grid up to here is shuffled, a larger one is drawn from
_SIZES = "16,32,64,128,256,512"
_MASKS = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9"
# The search space of the paper's appendix, in our keys. What it fixes (temperature 0.2, two layers
# each) is our default. Its one learning rate is the encoder's here; the learner has its own.
_PAPER = (
    "knn.k=5,10,15,20,25,30,35,40",
    f"contrast.mask_learner={_MASKS}",
    f"contrast.mask_anchor={_MASKS}",
    "contrast.drop_edges=0,0.25,0.5,0.75",
    "anchor.tau=0.99,0.999,0.9999,0.99999,1",
    "train.learning_rate=0.01,0.001,0.0001",
    f"contrast.representation={_SIZES}",
    f"contrast.projection={_SIZES}",
)
_MASK_KEYS = ("contrast.mask_learner", "contrast.mask_anchor")


def choose(grid: list[str], trials: int | None = None) -> list[Setting]:
    """All settings of the grid; or `trials` of them: the config as it is, then drawn ones.

    More trials are the same ones and others, so that a sweep can be made larger later.
    """
    axes = _axes(grid)
    total = prod(len(values) for values in axes.values())
    apart = PAPER in grid  # the paper's two masks differ
    if trials is None:
        if total > MOST:
            raise UserError(
                f"The grid has {total:,} settings.",
                f"No more than {MOST:,} are tried.",
                "Draw some with --trials N, or narrow it: --grid knn.k=10,20 replaces an axis.",
            )
        return [one for one in _all(axes) if not (apart and _masks_equal(one))]
    drawn: dict[Setting, None] = {(): None}
    for setting in _shuffled(axes, total):
        if len(drawn) == trials:
            break
        if not (apart and _masks_equal(setting)):
            drawn[setting] = None
    return list(drawn)


def _axes(grid: list[str]) -> dict[str, list[str]]:
    """By key. An axis replaces the paper's axis of the same key."""
    given = [axis for axis in grid if axis != PAPER]
    axes = dict(map(_axis, _PAPER)) if PAPER in grid else {}
    named: set[str] = set()
    for axis in given:
        key, values = _axis(axis)
        if key in named:
            raise UserError(
                f"--grid names {key} twice.", next_step=f"Write all its values as {key}=A,B,C."
            )
        named.add(key)
        axes[key] = values
    return axes


def _axis(axis: str) -> tuple[str, list[str]]:
    key, equals, values = axis.partition("=")
    if not equals or not key or not all(values.split(",")):
        raise UserError(
            f"--grid {axis} names no values.",
            next_step=f"Write KEY=A,B,C, for example knn.k=10,20,30; or --grid {PAPER}.",
        )
    return key, list(dict.fromkeys(values.split(",")))


def _all(axes: dict[str, list[str]]) -> Iterator[Setting]:
    return product(*([f"{key}={value}" for value in values] for key, values in axes.items()))


def _shuffled(axes: dict[str, list[str]], total: int) -> Iterator[Setting]:
    """In an order that does not depend on how many are wanted; of a large grid, with repeats."""
    rng = np.random.default_rng(0)
    if total <= _LISTED:
        every = list(_all(axes))
        yield from (every[place] for place in rng.permutation(total))
        return
    while True:
        yield tuple(f"{key}={values[rng.integers(len(values))]}" for key, values in axes.items())


def _masks_equal(setting: Setting) -> bool:
    values = dict(part.split("=", 1) for part in setting)
    return len({values.get(key) for key in _MASK_KEYS}) == 1
