"""Datasets that ship with scikit-learn: real, small, and there without a download."""

import numpy as np
from sklearn import datasets

from gsl_scale.config_data import SklearnData, Split
from gsl_scale.ingest import splits
from gsl_scale.ingest.source import Source, labels_table

_LOADERS = {
    "wine": datasets.load_wine,
    "cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
}


def open_bundled(data: SklearnData) -> Source:
    loaded = _LOADERS[data.name]()
    features, labels = loaded.data.astype(np.float32), loaded.target.astype(np.int64)
    train, valid = splits.PAPER[data.name]
    split = splits.draw(labels, Split(train=train, valid=valid, seed=data.split_seed))
    return Source(
        num_nodes=len(features),
        num_features=features.shape[1],
        features=lambda: iter([features]),
        labels=lambda: iter([labels_table(labels, split)]),
        feature_names=tuple(str(name) for name in loaded.feature_names),
        facts={"classes": [str(name) for name in loaded.target_names]},
    )
