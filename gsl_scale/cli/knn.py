"""The nearest neighbours alone, for those who want no more."""

from typing import Annotated, Any

import typer

from gsl_scale.cli.options import AsJson, FillMissing, IdColumn, Sets, own_tables, report
from gsl_scale.config_file import make_config


def knn(
    features: Annotated[str, typer.Argument(help="CSV, TSV, Parquet, NPY or NPZ.")],
    k: Annotated[int, typer.Option(min=1, help="Neighbours per row.")] = 20,
    out: Annotated[
        str, typer.Option(help="Folder for the result, or s3://BUCKET/PATH.")
    ] = "runs/knn",
    index: Annotated[
        str, typer.Option(help="auto, exact, ivf, hnsw or a FAISS factory string.")
    ] = "auto",
    recall: Annotated[
        float, typer.Option(min=0.01, max=1, help="What an approximate search must find.")
    ] = 0.99,
    workers: Annotated[int, typer.Option(min=0, help="Ray workers; 0: in this process.")] = 0,
    id_column: IdColumn = None,
    fill_missing: FillMissing = None,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """The k most similar rows of every row, by cosine, as Parquet. Interrupted, it goes on.

    Exact where that takes seconds, otherwise approximate and checked: a sample is compared with
    exact answers, and the search works harder until it finds enough of them.

    Example: gsl-scale knn vectors.npy --k 20 --out runs/knn
    """
    from gsl_scale.pipeline import run_pipeline
    from gsl_scale.remote.places import local_copy, opened
    from gsl_scale.render import print_knn
    from gsl_scale.store import Artifact

    tables = own_tables(features, None, None, id_column, None, fill_missing)
    settings: dict[str, Any] = {
        "data": {"source": "tables", "scale": "none", **tables},
        "knn": {"k": k, "index": index, "recall": recall},
        "run": {"workers": workers},
    }
    config = make_config(settings, sets or (), file="command line")
    with opened(out) as (folder, remote):
        run_pipeline(config, folder, until="knn", remote=remote)
    found = Artifact.open(local_copy(out, ["knn"]) / "knn").manifest
    facts = {"folder": str(folder / "knn"), "rows": found.num_nodes, **found.facts}
    report(as_json, facts, lambda: print_knn(facts))
