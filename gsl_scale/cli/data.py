"""Commands on data and stores: ingest, check, show, export."""

from pathlib import Path
from typing import Annotated, Any

import typer

from gsl_scale import progress
from gsl_scale.cli.options import (
    AsJson,
    EdgesFile,
    Features,
    FillMissing,
    IdColumn,
    LabelColumn,
    LabelsFile,
    MaybeConfig,
    Sets,
    config_from,
    own_tables,
    print_json,
    report,
)
from gsl_scale.config import AUTO


def ingest(
    config: MaybeConfig = None,
    features: Features = None,
    edges: EdgesFile = None,
    labels: LabelsFile = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    fill_missing: FillMissing = None,
    out: Annotated[Path, typer.Option(help="Folder for the store.")] = Path("data"),
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Check input and write it as a store: features, edges, labels, ids.

    Example: gsl-scale ingest --features people.csv --edges knows.csv --id-column name --out data
    """
    from gsl_scale.describe import describe
    from gsl_scale.ingest.write import write_data
    from gsl_scale.render import print_store
    from gsl_scale.store import Artifact

    tables = own_tables(features, edges, labels, id_column, label_column, fill_missing)
    write_data(config_from(config, sets, tables), out)
    about = describe(Artifact.open(out))
    report(as_json, about, lambda: print_store(about))


def check(
    path: Annotated[
        Path | None, typer.Argument(help="A config, a store, or a run folder; or use --features.")
    ] = None,
    features: Features = None,
    edges: EdgesFile = None,
    labels: LabelsFile = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    fill_missing: FillMissing = None,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Look for trouble: in input before a run, or in a store part by part. Changes nothing.

    Example: gsl-scale check configs/quickstart.yaml    or    gsl-scale check runs/quickstart
    """
    if path is not None and path.is_dir():
        _check_stores(path, as_json)
        return
    from gsl_scale.ingest.write import check_data
    from gsl_scale.knn.search import require_k

    tables = own_tables(features, edges, labels, id_column, label_column, fill_missing)
    config = config_from(path, sets, tables)
    source, findings = check_data(config)
    if config.knn.k != AUTO:
        require_k(config.knn.k, source.num_nodes)
    if as_json:
        print_json(
            {
                "nodes": source.num_nodes,
                "features": source.num_features,
                "findings": findings.to_json(),
            }
        )
        return
    for finding in findings.found:
        typer.echo(str(finding))
    typer.echo(f"usable: {source.num_nodes:,} nodes × {source.num_features:,} features")


def _check_stores(path: Path, as_json: bool) -> None:
    from gsl_scale.describe import artifacts_in

    report: list[dict[str, Any]] = []
    for artifact in artifacts_in(path):
        with progress.track(f"verifying {artifact.folder.name}", artifact.bytes) as advance:
            damage = [{"part": part.path, "why": why} for part, why in artifact.damage(advance)]
        parts = sum(len(table.parts) for table in artifact.manifest.tables.values())
        report.append({"path": str(artifact.folder), "parts": parts, "damaged": damage})
    if as_json:
        print_json(report)
    else:
        for store in report:
            bad = store["damaged"]
            typer.echo(f"{store['path']}: {store['parts']} parts, {len(bad) or 'none'} damaged")
            for part in bad:
                typer.echo(f"  {part['part']}: {part['why']}")
    if any(store["damaged"] for store in report):
        raise typer.Exit(1)


def show(
    folder: Annotated[Path, typer.Argument(help="A store, or a run folder.")],
    rows: Annotated[int, typer.Option(min=0, help="Rows of the head.")] = 5,
    as_json: AsJson = False,
) -> None:
    """The first rows and the statistics of a store.

    Example: gsl-scale show runs/quickstart/data --rows 10
    """
    from gsl_scale.describe import artifacts_in, describe
    from gsl_scale.render import print_store

    about = [describe(artifact, rows) for artifact in artifacts_in(folder)]
    if as_json:
        print_json(about if len(about) != 1 else about[0])
    else:
        for one in about:
            print_store(one)


def export(
    folder: Annotated[Path, typer.Argument(help="A run folder, or a store with edges.")],
    out: Annotated[Path, typer.Option(help="File to write: .parquet or .csv.")],
    as_json: AsJson = False,
) -> None:
    """The learned graph as one file, with your own ids.

    Example: gsl-scale export runs/people --out graph.csv
    """
    from gsl_scale.export_file import write_file
    from gsl_scale.store import Artifact

    store = folder / "graph" if (folder / "graph").is_dir() else folder
    artifact = Artifact.open(store)
    rows = write_file(artifact, out)
    one_way = artifact.manifest.kind == "candidates"
    what = "one for each neighbour" if one_way else f"both directions of {rows // 2:,} edges"
    if as_json:
        print_json({"file": str(out), "edges": rows})
    else:
        typer.echo(f"{out}: {rows:,} rows, {what}")
