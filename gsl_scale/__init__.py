"""Unsupervised graph structure learning as a pipeline.

    ingest ─► features, edges, labels? ─► knn ─► train ─► export ─► evaluate ─► report

Every arrow is an artifact on disk (`gsl_scale.store`): a folder of parts and a manifest. Labels
are kept apart and no learning stage opens them.

    from gsl_scale import load_graph, refine
    refine("people.csv", "knows.csv", out="runs/people")     # or arrays
    load_graph("runs/people").to_networkx()      # or to_scipy, to_torch, to_dgl, to_pyg, to_pandas
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gsl_scale.config import Config
    from gsl_scale.load import StoredGraph, load_graph
    from gsl_scale.refining import refine

__version__ = "0.1.0"
__all__ = ["Config", "StoredGraph", "__version__", "load_graph", "refine"]

# Importing the package is light; what is asked for is imported then.
_PUBLIC = {
    "Config": "gsl_scale.config",
    "StoredGraph": "gsl_scale.load",
    "load_graph": "gsl_scale.load",
    "refine": "gsl_scale.refining",
}


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
