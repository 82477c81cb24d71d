"""The whole pipeline as one function: features in, a better graph out."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gsl_scale.config_file import make_config
from gsl_scale.errors import InputError
from gsl_scale.load import StoredGraph, load_graph
from gsl_scale.pipeline import run_pipeline
from gsl_scale.remote.places import opened

Input = str | Path | npt.NDArray[Any]


def refine(
    features: Input,
    edges: Input | None = None,
    *,
    out: str | Path,
    settings: Iterable[str] = (),
    **data: Any,
) -> StoredGraph:
    """Learn a graph, as `gsl-scale refine` does; what is complete at `out` is not done again.

    Args:
        features: a file (CSV, TSV, Parquet, NPY, NPZ), or an array with a row per node.
        edges: a file, or an array of pairs of node numbers (m, 2). With edges their graph is
            refined, without them one is inferred.
        out: the run folder, or s3://BUCKET/PATH. Arrays are kept in `input/` of the folder (of a
            URI: of the one here that it is worked on in).
        settings: what should not be chosen from the data, as with `--set`: ["knn.k=10"].
        **data: further keys of the config's data block: id_column="name", labels="labels.csv".

    Returns:
        The learned graph; `RUN/report.html` says how good it is.

    Raises:
        InputError: the input cannot be used; the message says where and what to do.
        StaleArtifactError: `out` was made from other input or settings.
    """
    with opened(str(out)) as (folder, remote):
        tree = {"source": "tables", "features": _file(features, folder, "features"), **data}
        if edges is not None:
            tree["edges"] = _file(edges, folder, "edges")
        config = make_config({"data": tree}, settings, file="refine(...)")
        run_pipeline(config, folder, remote=remote)
    return load_graph(out)


def _file(given: Input, folder: Path, name: str) -> str:
    """The path of a file, or of the one that an array is put into; another array is another file,
    so that a run that refuses it keeps what it was made from."""
    if isinstance(given, str | Path):
        return str(given)
    if not isinstance(given, np.ndarray) or given.dtype.kind not in "fiub":
        kind = given.dtype if isinstance(given, np.ndarray) else type(given).__name__
        raise InputError(
            f"{name} are {kind}; expected a file, or a NumPy array of numbers.",
            next_step="Of a DataFrame give df.to_numpy(), or the path of a file written from it.",
        )
    rows = np.ascontiguousarray(given)
    content = hashlib.sha256(rows.view(np.uint8).data).hexdigest()[:12]
    path = folder.absolute() / "input" / f"{name}-{content}.npy"
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f"{path.stem}.half.npy")
    np.save(half, rows)
    half.replace(path)
    return str(path)
