"""What each experiment varies, and over which values; the rest is the dataset's own config."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from gsl_scale.errors import UserError

Values = tuple[float, ...]


@dataclass(frozen=True)
class Point:
    """One place of the grid: what is shown of it, and the settings that make it."""

    shown: dict[str, float | str]
    sets: tuple[str, ...]


@dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    said: str  # what is varied, and how it is judged
    values: Values
    points: Callable[[Values], list[Point]]
    sets: tuple[str, ...] = ()  # settings at every point, unless --set says otherwise
    series: tuple[str, ...] = ("learned graph",)  # judged at every point
    curves: bool = False  # loss and accuracy by step, too
    seeds: int = 3

    def grid(self, values: Values | None) -> list[Point]:
        return self.points(values or self.values)


def _one(column: str, key: str) -> Callable[[Values], list[Point]]:
    def points(values: Values) -> list[Point]:
        return [Point({column: value}, (f"{key}={value:.10g}",)) for value in values]

    return points


def _masks(values: Values) -> list[Point]:
    return [
        Point(
            {"learner": learner, "anchor": anchor},
            (f"contrast.mask_learner={learner:g}", f"contrast.mask_anchor={anchor:g}"),
        )
        for learner, anchor in product(values, values)
    ]


def _neighbours(values: Values) -> list[Point]:
    for value in values:
        if value < 1 or value != int(value):
            raise UserError(
                f"--values {value:g} is no number of neighbours.",
                next_step="Give whole numbers of at least 1, for example 5,10,20.",
            )
    return [Point({"k": int(value)}, (f"knn.k={int(value)}",)) for value in values]


def _damage(values: Values) -> list[Point]:
    return [
        Point({"damage": damage, "rate": rate}, (f"data.perturb.{damage}={rate:g}",))
        for damage in ("delete", "add")
        for rate in values
    ]


def _once(values: Values) -> list[Point]:
    return [Point({}, ())]


_ACCURACY = "Test accuracy of a GCN on the learned graph, which is the one after the last step."
EXPERIMENTS = {
    found.name: found
    for found in (
        Experiment(
            "tau",
            "Bootstrapping decay rate τ",
            f"{_ACCURACY} With τ = 1 the anchor never changes. Unless set otherwise, it is updated "
            "after each of 600 steps, whatever the dataset. Accuracy by step is that of some "
            "refreshes.",
            (1.0, 0.99999, 0.9999, 0.999, 0.99),
            _one("tau", "anchor.tau"),
            sets=("anchor.c=1", "train.steps=600"),
            curves=True,
        ),
        Experiment(
            "features-mask",
            "Feature masking of the two views",
            f"{_ACCURACY} Rows: share masked in the learner view; columns: in the anchor view.",
            (0.1, 0.3, 0.5, 0.7, 0.9),
            _masks,
            seeds=1,
        ),
        Experiment(
            "edge-drop",
            "Edge dropping in both views",
            _ACCURACY,
            (0.0, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95),
            _one("drop", "contrast.drop_edges"),
        ),
        Experiment(
            "neighbours",
            "Number of neighbours k",
            f"{_ACCURACY} Beside it the kNN graph of the features with the same k.",
            (5, 10, 15, 20, 25, 30, 35, 40),
            _neighbours,
            series=("learned graph", "kNN graph"),
        ),
        Experiment(
            "robustness",
            "Edges deleted and added",
            "Test accuracy of a GCN on the graph learned from the damaged one, on the damaged "
            "(given) graph itself, and on the kNN graph, which no damage to edges reaches. Edges "
            "are deleted or added at random; the rate is a share of those there were.",
            (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
            _damage,
            series=("learned graph", "given graph", "kNN graph"),
            seeds=1,
        ),
        Experiment(
            "heatmap",
            "Weights between nodes of two classes",
            "Of each class ten labelled (L) and ten other (U) nodes: those with most edges to "
            "their own class in the graph there was, a choice that does not favour the learned "
            "one. Self-loops are shown. The stronger the colour, the heavier the edge.",
            (),
            _once,
            series=("weights",),
            seeds=1,
        ),
    )
}

# The paper's own numbers, where it gives any (its table of τ; its figures have none).
PAPER_TAU = {
    "cora": {1.0: 82.1, 0.99999: 83.2, 0.9999: 84.2, 0.999: 82.4, 0.99: 70.9},
    "citeseer": {1.0: 71.9, 0.99999: 72.6, 0.9999: 73.5, 0.999: 73.4, 0.99: 72.6},
    "pubmed": {1.0: 80.1, 0.99999: 80.3, 0.9999: 81.0, 0.999: 80.8, 0.99: 80.5},
}


def parsed(text: str | None) -> Values | None:
    """Values as they are written on the command line."""
    if text is None:
        return None
    try:
        values = tuple(float(value) for value in text.split(","))
    except ValueError:
        raise UserError(
            f"--values {text} is no list of numbers.", next_step="Write for example 0.1,0.5,0.9."
        ) from None
    if len(set(values)) < len(values):
        raise UserError(f"--values {text} names a value twice.", next_step="Give each one once.")
    return values
