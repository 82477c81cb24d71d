"""Stores of rows for the kNN tests."""

import numpy as np

from gsl_scale.config_file import make_config
from gsl_scale.ingest.write import write_data
from gsl_scale.store import Artifact


def write_store(folder, rows, num_shards=1):
    np.save(folder / "x.npy", rows)
    data = {"source": "tables", "features": str(folder / "x.npy")}
    write_data(make_config({"data": data, "run": {"shards": num_shards}}), folder / "data")
    return Artifact.open(folder / "data")
