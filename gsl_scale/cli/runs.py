"""Commands on runs: run, refine, evaluate, status, reproduce, sweep, config."""

import json
from pathlib import Path
from typing import Annotated

import typer

from gsl_scale.cli.options import (
    AsJson,
    ConfigFile,
    EdgesFile,
    FillMissing,
    First,
    IdColumn,
    LabelColumn,
    LabelsFile,
    MaybeConfig,
    Sets,
    Until,
    config_from,
    here,
    one_config,
    own_tables,
    print_json,
    report,
    run_config,
)
from gsl_scale.config import Config
from gsl_scale.config_file import load_config
from gsl_scale.errors import UserError

Fresh = Annotated[
    bool, typer.Option("--fresh", help="Start over, with nothing of earlier attempts.")
]
FIRST = "ingest"


def run(
    config: MaybeConfig = None,
    named: Annotated[
        Path | None, typer.Option("--config", help="The same, by name, as jobs give it.")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(help="Run folder, or s3://BUCKET/PATH.", show_default="runs/CONFIG-NAME"),
    ] = None,
    first: First = None,
    fresh: Fresh = False,
    until: Until = None,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Run all stages; complete ones are skipped, an interrupted run goes on where it was.

    With --set run.workers=N searches and training run on N Ray workers, at RAY_ADDRESS or here.

    Example: gsl-scale run configs/quickstart.yaml --out runs/quickstart --set knn.k=15
    """
    file = one_config(config, named)
    place = out or f"runs/{file.stem}"
    if fresh and first:
        raise UserError(
            f"--fresh starts over from {FIRST}, --from {first} keeps what comes before {first}.",
            next_step="Give one of the two.",
        )
    start = FIRST if fresh else first
    _run(load_config(file, sets or ()), place, as_json, first=start, until=until)


def refine(
    features: Annotated[str, typer.Option(help="Your features: CSV, TSV, Parquet, NPY or NPZ.")],
    edges: EdgesFile = None,
    labels: LabelsFile = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    fill_missing: FillMissing = None,
    out: Annotated[str, typer.Option(help="Run folder, or s3://BUCKET/PATH.")] = "runs/refined",
    fresh: Fresh = False,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Your files in, a better graph out; everything else is chosen from the data.

    With --edges the given graph is refined, without it one is inferred. Labels, if you have some,
    only tell how good the result is.

    Example: gsl-scale refine --features people.csv --edges knows.csv --out runs/people
    """
    tables = own_tables(features, edges, labels, id_column, label_column, fill_missing)
    _run(config_from(None, sets, tables), out, as_json, first=FIRST if fresh else None)


def _run(
    config: Config, out: str, as_json: bool, first: str | None = None, until: str | None = None
) -> None:
    from gsl_scale.pipeline import run_pipeline
    from gsl_scale.remote.places import opened
    from gsl_scale.render import print_run

    with opened(out) as (folder, remote):
        statuses = run_pipeline(config, folder, first=first, until=until, remote=remote)
    place = str(folder) if remote is None else remote.uri
    facts = {"run": place, "folder": str(folder), "stages": [vars(status) for status in statuses]}
    report(as_json, facts, lambda: print_run(folder, statuses, place))


def evaluate(
    run: Annotated[str, typer.Argument(help="A run folder, or its URI.")],
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """How good a run's graph is, beside the baselines; written to metrics.json and report.html.

    Example: gsl-scale evaluate runs/quickstart --set evaluate.seeds=10
    """
    from gsl_scale.pipeline import run_pipeline
    from gsl_scale.remote.places import opened
    from gsl_scale.render import print_metrics

    with opened(run) as (folder, remote):
        if remote is not None:
            remote.fetch_files()
        config = load_config(run_config(folder, run), sets or ())
        run_pipeline(config, folder, first="evaluate", remote=remote)
    metrics = json.loads((folder / "metrics.json").read_text())
    report(as_json, metrics, lambda: print_metrics(metrics))


def status(
    run: Annotated[str, typer.Argument(help="A run folder, or its URI.")],
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
    from gsl_scale.remote.places import seen
    from gsl_scale.render import print_statuses

    with seen(run) as folder:
        loaded = load_config(config or run_config(folder, run))
        statuses = [stage_status(loaded, folder, stage) for stage in STAGES]
    report(as_json, [vars(status) for status in statuses], lambda: print_statuses(statuses))


def reproduce(
    only: Annotated[
        list[str] | None, typer.Option(help="A row, by its config's name. Repeatable.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Trainings per row: seeds 0, 1, ...")] = 5,
    first_seed: Annotated[int, typer.Option(min=0, help="Begin with this seed instead.")] = 0,
    out: Annotated[Path, typer.Option(help="Finished cells are kept here.", parser=here)] = Path(
        "runs/reproduce"
    ),
    configs: Annotated[Path, typer.Option(help="Folder of the configs.")] = Path("configs"),
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """The paper's table for this method, beside the paper's numbers. Goes on where it stopped.

    Example: gsl-scale reproduce --only wine --only digits --seeds 3 --set run.workers=2
    """
    from gsl_scale.evaluate.reproduce import reproduce as compute
    from gsl_scale.render import print_reproduction

    table = compute(configs, out, range(first_seed, first_seed + seeds), only or [], sets or [])
    report(as_json, table, lambda: print_reproduction(table))


def sweep(
    grid: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=A,B,...", help="Values to try, or 'paper': its search space. Repeatable."
        ),
    ],
    configs: Annotated[list[Path] | None, typer.Argument(help="YAML files; see configs/.")] = None,
    named: Annotated[
        list[Path] | None, typer.Option("--config", help="The same, by name, as jobs give it.")
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10_000,
            help="Not all settings but this many: the config as it is, and others drawn.",
            show_default="all",
        ),
    ] = None,
    objective: Annotated[
        str, typer.Option(help="validation: accuracy; label-free: what was hidden, told.")
    ] = "validation",
    seeds: Annotated[int, typer.Option(min=1, help="Trainings of each: seeds 0, 1, ...")] = 3,
    workers: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Trials at a time, under Ray Tune; 0: in this process.",
            show_default="run.workers",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Finished trials are kept here.", parser=here)] = Path(
        "runs/sweep"
    ),
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Compare settings, over one dataset or several; the best is written as a config for `run`.

    By validation accuracy, or without labels by how well the learned graph tells features that its
    training did not see. Labels of test nodes are never read. Interrupted, it goes on.

    Example: gsl-scale sweep configs/digits.yaml --grid knn.k=10,20,30 --grid learner.own=0,1
    """
    from gsl_scale.evaluate.sweep import Sweep
    from gsl_scale.render_sweep import print_sweep

    files = [*(configs or ()), *(named or ())]
    if not files:
        raise UserError(
            "Expected a config, found none.",
            next_step="Example: gsl-scale sweep configs/digits.yaml --grid knn.k=10,20,30",
        )
    table = Sweep(files, grid, out, objective, seeds, trials, tuple(sets or ()), workers).run()
    report(as_json, table, lambda: print_sweep(table))


def show_config(config: ConfigFile, sets: Sets = None, as_json: AsJson = False) -> None:
    """The config as a run would see it, defaults and overrides included.

    Example: gsl-scale config configs/quickstart.yaml --set knn.k=15
    """
    loaded = load_config(config, sets or ())
    if as_json:
        print_json(loaded.model_dump(mode="json"))
    else:
        typer.echo(loaded.to_yaml(), nl=False)
