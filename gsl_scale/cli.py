"""gsl-scale: the commands. Each parses, calls one function and shows the result.

Exit codes: 0 done, 2 the user's mistake, 1 our failure. Reports go to standard output, progress
and errors to standard error; with --json a report (or an error) is one JSON value.
"""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from gsl_scale import __version__, progress
from gsl_scale.config import AUTO, Config
from gsl_scale.config_file import load_config, make_config
from gsl_scale.errors import GslError, UserError

app = typer.Typer(
    name="gsl-scale",
    help="Learn a better graph from features and, perhaps, a noisy graph; no labels needed.\n\n"
    "Start here: [bold]gsl-scale run configs/quickstart.yaml[/bold], or with your own files: "
    "[bold]gsl-scale ingest --features F --edges E --out DIR[/bold].",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
bench_app = typer.Typer(help="Measure speed and size, as ratios taken side by side in one run.")
app.add_typer(bench_app, name="bench")

ConfigFile = Annotated[Path, typer.Argument(help="YAML file; see configs/.")]
MaybeConfig = Annotated[Path | None, typer.Argument(help="YAML file; or use --features.")]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a key, e.g. knn.k=15. Repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Report as JSON on standard output.")]
Features = Annotated[
    str | None,
    typer.Option(help="Your features: CSV, TSV, Parquet (file, folder, glob), NPY or NPZ."),
]
EdgesFile = Annotated[str | None, typer.Option(help="Your edge list, same kinds.")]
LabelsFile = Annotated[str | None, typer.Option(help="Labels, for evaluation only.")]
IdColumn = Annotated[str | None, typer.Option(help="Column of the features with your node ids.")]
LabelColumn = Annotated[str | None, typer.Option(help="Column with the labels.")]
FillMissing = Annotated[float | None, typer.Option(help="Number put where a feature is missing.")]


def _config(
    file: Path | None, sets: list[str] | None, tables: dict[str, Any] | None = None
) -> Config:
    """A config from a file, or from flags that name the user's own tables."""
    flags = {key: value for key, value in (tables or {}).items() if value is not None}
    if file is not None:
        if flags:
            raise UserError(
                f"Give either a config ({file}) or --{next(iter(flags)).replace('_', '-')}.",
                next_step="In a config, these are keys of the data block.",
            )
        return load_config(file, sets or ())
    if "features" not in flags:
        raise UserError(
            "There is no input.",
            next_step="Give a config, or --features FILE (and --edges FILE if you have a graph).",
        )
    return make_config({"data": {"source": "tables", **flags}}, sets or (), file="command line")


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=1, ensure_ascii=False, default=str))


@app.command()
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

    tables = {
        "features": features, "edges": edges, "labels": labels, "id_column": id_column,
        "label_column": label_column, "fill_missing": fill_missing,
    }  # fmt: skip
    write_data(_config(config, sets, tables), out)
    about = describe(Artifact.open(out))
    if as_json:
        _print_json(about)
    else:
        print_store(about)


@app.command()
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

    tables = {
        "features": features, "edges": edges, "labels": labels, "id_column": id_column,
        "label_column": label_column, "fill_missing": fill_missing,
    }  # fmt: skip
    config = _config(path, sets, tables)
    source, findings = check_data(config)
    if config.knn.k != AUTO:
        require_k(config.knn.k, source.num_nodes)
    if as_json:
        _print_json(
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
        _print_json(report)
    else:
        for store in report:
            bad = store["damaged"]
            typer.echo(f"{store['path']}: {store['parts']} parts, {len(bad) or 'none'} damaged")
            for part in bad:
                typer.echo(f"  {part['part']}: {part['why']}")
    if any(store["damaged"] for store in report):
        raise typer.Exit(1)


@app.command()
def run(
    config: ConfigFile,
    out: Annotated[
        Path | None, typer.Option(help="Run folder.", show_default="runs/CONFIG-NAME")
    ] = None,
    first: Annotated[
        str | None, typer.Option("--from", metavar="STAGE", help="Rebuild from this stage on.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="STAGE", help="Stop after this stage.")
    ] = None,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Run all stages; complete ones are skipped, interrupted ones go on where they stopped.

    Example: gsl-scale run configs/quickstart.yaml --out runs/quickstart --set knn.k=15
    """
    from gsl_scale.pipeline import run_pipeline
    from gsl_scale.render import print_run

    folder = out or Path("runs") / config.stem
    statuses = run_pipeline(load_config(config, sets or ()), folder, first=first, until=until)
    if as_json:
        _print_json({"run": str(folder), "stages": [vars(status) for status in statuses]})
    else:
        print_run(folder, statuses)


@app.command()
def refine(
    features: Annotated[str, typer.Option(help="Your features: CSV, TSV, Parquet, NPY or NPZ.")],
    edges: EdgesFile = None,
    labels: LabelsFile = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    fill_missing: FillMissing = None,
    out: Annotated[Path, typer.Option(help="Run folder.")] = Path("runs/refined"),
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Your files in, a better graph out; everything else is chosen from the data.

    With --edges the given graph is refined, without it one is inferred. Labels, if you have some,
    only tell how good the result is.

    Example: gsl-scale refine --features people.csv --edges knows.csv --out runs/people
    """
    from gsl_scale.pipeline import run_pipeline
    from gsl_scale.render import print_run

    tables = {
        "features": features, "edges": edges, "labels": labels, "id_column": id_column,
        "label_column": label_column, "fill_missing": fill_missing,
    }  # fmt: skip
    statuses = run_pipeline(_config(None, sets, tables), out)
    if as_json:
        _print_json({"run": str(out), "stages": [vars(status) for status in statuses]})
    else:
        print_run(out, statuses)


@app.command()
def evaluate(
    folder: Annotated[Path, typer.Argument(help="A run folder.")],
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """How good a run's graph is, beside the baselines; written to metrics.json and report.html.

    Example: gsl-scale evaluate runs/quickstart --set evaluate.seeds=10
    """
    from gsl_scale.pipeline import run_pipeline
    from gsl_scale.render import print_metrics

    run_pipeline(load_config(_run_config(folder), sets or ()), folder, first="evaluate")
    metrics = json.loads((folder / "metrics.json").read_text())
    if as_json:
        _print_json(metrics)
    else:
        print_metrics(metrics)


def _run_config(folder: Path) -> Path:
    from gsl_scale.errors import NotAStoreError

    path = folder / "config.yaml"
    if not path.exists():
        raise NotAStoreError(
            f"{folder} is not a run folder: it has no config.yaml.",
            next_step="Give the --out of a run, or look at one store with gsl-scale show.",
        )
    return path


@app.command()
def status(
    folder: Annotated[Path, typer.Argument(help="A run folder.")],
    config: Annotated[
        Path | None,
        typer.Option(help="Compare with this config.", show_default="the run's own"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Each stage of a run: complete, partial, claimed, stale (and why), rows, bytes, time.

    Example: gsl-scale status runs/quickstart
    """
    from gsl_scale.pipeline import STAGES, stage_status
    from gsl_scale.render import print_statuses

    loaded = load_config(config or _run_config(folder))
    statuses = [stage_status(loaded, folder, stage) for stage in STAGES]
    if as_json:
        _print_json([vars(status) for status in statuses])
    else:
        print_statuses(statuses)


@app.command()
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
        _print_json(about if len(about) != 1 else about[0])
    else:
        for one in about:
            print_store(one)


@app.command()
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
    edges = write_file(Artifact.open(store), out)
    if as_json:
        _print_json({"file": str(out), "edges": edges})
    else:
        typer.echo(f"{out}: {edges:,} rows, both directions of {edges // 2:,} edges")


@app.command(name="config")
def show_config(config: ConfigFile, sets: Sets = None, as_json: AsJson = False) -> None:
    """The config as a run would see it, defaults and overrides included.

    Example: gsl-scale config configs/quickstart.yaml --set knn.k=15
    """
    loaded = load_config(config, sets or ())
    if as_json:
        _print_json(loaded.model_dump(mode="json"))
    else:
        typer.echo(loaded.to_yaml(), nl=False)


@app.command()
def reproduce(
    only: Annotated[
        list[str] | None, typer.Option(help="A row, by its config's name. Repeatable.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Trainings per row: seeds 0, 1, ...")] = 5,
    out: Annotated[Path, typer.Option(help="Finished cells are kept here.")] = Path(
        "runs/reproduce"
    ),
    configs: Annotated[Path, typer.Option(help="Folder of the configs.")] = Path("configs"),
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """The paper's table for this method, beside the paper's numbers. Goes on where it stopped.

    Example: gsl-scale reproduce --only wine --only digits --seeds 3
    """
    from gsl_scale.evaluate.reproduce import reproduce as compute
    from gsl_scale.render import print_reproduction

    table = compute(configs, out, seeds, only or [], sets or [])
    if as_json:
        _print_json(table)
    else:
        print_reproduction(table)


@bench_app.command(name="store")
def bench_store(
    edges: Annotated[int, typer.Option(min=1000, help="Edges in the measured graph.")] = 6_000_000,
    repeats: Annotated[
        int, typer.Option(min=1, help="Measurements of each; the median counts.")
    ] = 7,
    as_json: AsJson = False,
) -> None:
    """Bytes per edge and reading time, against pyarrow's own default file of the same table.

    Example: gsl-scale bench store --edges 1000000
    """
    from gsl_scale.bench.store import measure
    from gsl_scale.render import print_store_bench

    result = measure(edges, repeats)
    if as_json:
        _print_json(result)
    else:
        print_store_bench(result)


@bench_app.command(name="train")
def bench_train(
    config: Annotated[Path, typer.Argument(help="YAML file.")] = Path("configs/pubmed.yaml"),
    steps: Annotated[int, typer.Option(min=1, help="Steps of ours that are timed.")] = 15,
    paper_steps: Annotated[int, typer.Option(min=1, help="Steps the paper's way.")] = 3,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """A training step beside one done the paper's way, and the memory each takes.

    Example: gsl-scale bench train configs/pubmed.yaml
    """
    from gsl_scale.bench.train import measure
    from gsl_scale.render import print_train_bench

    result = measure(load_config(config, sets or ()), steps, paper_steps)
    if as_json:
        _print_json(result)
    else:
        print_train_bench(result)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gsl-scale {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    progress.show(not quiet)


def _fail(error: GslError) -> NoReturn:
    if "--json" in sys.argv:
        _print_json(error.to_json())
    progress.console.print(f"{type(error).__name__}: {error}", markup=False, soft_wrap=True)
    sys.exit(error.exit_code)


def main(arguments: list[str] | None = None) -> None:
    try:
        app(arguments)
    except GslError as error:
        _fail(error)
    except PermissionError as error:
        _fail(UserError(f"{error.filename}: permission denied."))
    except BrokenPipeError:  # the reader of a pipe left, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


if __name__ == "__main__":
    main()
