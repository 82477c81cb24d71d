"""Graphs to plan for, and costs that are easy to reckon with."""

from gsl_scale.config_file import make_config
from gsl_scale.plan.coefficients import Coefficients
from gsl_scale.plan.forecast import Cluster
from gsl_scale.plan.size import Case
from gsl_scale.plan.work import amounts, links_amounts

# Seconds, bytes or rows of a unit of each kind of work, for every quantity alike.
UNITS = {
    ".seconds": {"once": 0.01, "products": 1e-10, "moved": 1e-9, "pairs": 1e-9, "messages": 1e-5,
                 "message_bytes": 1e-9, "numbers": 1e-8, "edges": 1e-7, "exact": 1e-11,
                 "vectors": 1e-8, "weighed": 1e-9, "sorted": 1e-8, "embedded": 1e-10,
                 "smoothed": 1e-9, "projected": 1e-9, "represented": 1e-10, "started": 5.0},
    ".memory": {"base": 3e8, "largest": 1.2, "nodes": 4.0, "shard": 1.0, "graphs": 2.0, "hidden": 4.0},
    ".bytes": {"rows": 6.0},
    ".rows": {"candidates": 1.5, "given": 0.9},
}  # fmt: skip


def case(*sets: str, **data: object) -> Case:
    tree = {"data": {"source": "synthetic", "nodes": 100_000, "features": 64, **data}}
    return Case.of(make_config(tree, sets))


def costs(**update: object) -> Coefficients:
    small = case()
    quantities = {**links_amounts(small), **amounts(small, 1e6)}
    found = {name: UNITS["." + name.split(".")[1]] for name in quantities}
    values = {
        "costs": found,
        "jitter": [1.0],
        "threads": 1,
        "provisional": False,
        "about": {"machine": "paper", "commit": "0000000"},
        "largest": {"nodes": 1000, "features": 10, "workers": 2},
    }
    return Coefficients.model_validate(values | update)


def cluster(**update: float) -> Cluster:
    values = {"nodes": 4, "gpus": 0, "memory": 64 * 2**30, "bandwidth": 1.25e9, "latency": 5e-5}
    return Cluster(**(values | update))
