"""Commands on data and stores: ingest, check, show, export."""

from collections.abc import Iterator
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
    here,
    own_tables,
    print_json,
    report,
)
from gsl_scale.config import AUTO
from gsl_scale.remote.uri import is_uri


def ingest(
    config: MaybeConfig = None,
    features: Features = None,
    edges: EdgesFile = None,
    labels: LabelsFile = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    fill_missing: FillMissing = None,
    out: Annotated[Path, typer.Option(help="Folder for the store.", parser=here)] = Path("data"),
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
        str | None,
        typer.Argument(help="A config, a store, or a run (folder or URI); or use --features."),
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
    if path is not None and (is_uri(path) or Path(path).is_dir()):
        _check_stores(path, as_json)
        return
    from gsl_scale.ingest.write import check_data
    from gsl_scale.knn.search import require_k

    tables = own_tables(features, edges, labels, id_column, label_column, fill_missing)
    config = config_from(None if path is None else Path(path), sets, tables)
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


def _check_stores(path: str, as_json: bool) -> None:
    report = list(_checked_there(path) if is_uri(path) else _checked_here(Path(path)))
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


def _checked_here(path: Path) -> Iterator[dict[str, Any]]:
    from gsl_scale.describe import artifacts_in

    for artifact in artifacts_in(path):
        with progress.track(f"verifying {artifact.folder.name}", artifact.bytes) as advance:
            damage = [{"part": part.path, "why": why} for part, why in artifact.damage(advance)]
        parts = sum(len(table.parts) for table in artifact.manifest.tables.values())
        yield {"path": str(artifact.folder), "parts": parts, "damaged": damage}


def _checked_there(uri: str) -> Iterator[dict[str, Any]]:
    """In an object store, where the parts are read and not brought here."""
    from gsl_scale.remote.places import find

    run, names = find(uri)
    for name in names:
        parts, damage = run.damage(name)
        damaged = [{"part": part, "why": why} for part, why in damage]
        yield {"path": f"{run.uri}/{name}", "parts": parts, "damaged": damaged}


def show(
    store: Annotated[str, typer.Argument(help="A store, or a run: folder or URI.")],
    rows: Annotated[int, typer.Option(min=0, help="Rows of the head.")] = 5,
    as_json: AsJson = False,
) -> None:
    """The first rows and the statistics of a store.

    Example: gsl-scale show runs/quickstart/data --rows 10
    """
    from gsl_scale.describe import artifacts_in, describe
    from gsl_scale.remote.places import local_copy
    from gsl_scale.render import print_store

    about = [describe(artifact, rows) for artifact in artifacts_in(local_copy(store))]
    if as_json:
        print_json(about if len(about) != 1 else about[0])
    else:
        for one in about:
            print_store(one)


def export(
    run: Annotated[str, typer.Argument(help="A run, or a store with edges: folder or URI.")],
    kind: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="parquet, csv, npz, graphml, dgl or pyg.",
            show_default="by the ending of --out",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File to write.", show_default="graph.ENDING", parser=here),
    ] = None,
    top_k: Annotated[
        int | None, typer.Option(min=1, help="Keep the heaviest edges of each node, this many.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Keep edges of at least this weight.")
    ] = None,
    nodes: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="TABLE",
            help="Also write embeddings, representations or features. Repeatable.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """The learned graph as a file for other programs, with your own ids.

    With --top-k an edge is kept if it is among the heaviest of either of its ends.

    Example: gsl-scale export runs/people --format graphml --top-k 5 --out people.graphml
    """
    from gsl_scale.export_file import OPENED_BY, choose_format, write_file
    from gsl_scale.load import load_graph

    kind, path = choose_format(kind, out)
    graph = load_graph(run, top_k=top_k, threshold=threshold)
    written = write_file(graph, path, kind, nodes or ())
    what = f"both directions of {written['edges'] // 2:,} edges"
    if not graph.undirected:
        what = "one for each neighbour"
    elif kind == "graphml":
        what = "each edge once"

    def tell() -> None:
        typer.echo(f"{path}: {written['edges']:,} rows, {what}; read it with")
        typer.echo(f"  {OPENED_BY[kind].format(path)}")
        for more in written["files"][1:]:
            typer.echo(f"{more}: {graph.num_nodes:,} rows, one for each node")

    report(as_json, written, tell)
