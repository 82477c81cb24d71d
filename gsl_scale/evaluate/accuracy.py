"""The share of right predictions: by us, or for OGB's datasets by OGB's own evaluator."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import Tensor

from gsl_scale.config_data import AnyData, OgbData

Accuracy = Callable[[Tensor, Tensor], float]  # of labels and predictions


def plain(labels: Tensor, predicted: Tensor) -> float:
    return float((labels == predicted).float().mean())


def accuracy_of(data: AnyData) -> Accuracy:
    """How a dataset wants to be judged."""
    return OgbAccuracy(data.name) if isinstance(data, OgbData) else plain


class OgbAccuracy:
    """`ogb.nodeproppred.Evaluator`, loaded from its file: importing the package asks the network
    for a newer version, and loads PyG and DGL."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._evaluator = _evaluator_class()(name)

    def __call__(self, labels: Tensor, predicted: Tensor) -> float:
        asked = {"y_true": labels[:, None], "y_pred": predicted[:, None]}
        return float(self._evaluator.eval(asked)["acc"])


def _evaluator_class() -> Any:
    package = importlib.util.find_spec("ogb")
    assert package is not None and package.submodule_search_locations
    path = Path(package.submodule_search_locations[0]) / "nodeproppred" / "evaluate.py"
    spec = importlib.util.spec_from_file_location("ogb_nodeproppred_evaluate", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Evaluator
