"""How everything grows, measured."""

from pathlib import Path
from typing import Annotated

import typer

from gsl_scale.cli.options import AsJson, Sets, one_config, report
from gsl_scale.config_file import load_config
from gsl_scale.errors import UserError

Numbers = list[int] | None


def bench_scaling(
    config: Annotated[
        Path | None, typer.Argument(help="YAML file.", show_default="configs/scaling.yaml")
    ] = None,
    named: Annotated[
        Path | None, typer.Option("--config", help="The same, by name, as jobs give it.")
    ] = None,
    series: Annotated[
        list[str] | None,
        typer.Option(
            help="strong, weak, nodes, neighbours, columns, classifier or mixed. Repeatable.  [all]"
        ),
    ] = None,
    workers: Annotated[Numbers, typer.Option(min=1, help="Of strong and weak.  [1, 2]")] = None,
    nodes: Annotated[
        Numbers, typer.Option(min=1000, help="[20000, 50000, 100000, 200000, 500000, 1000000]")
    ] = None,
    k: Annotated[Numbers, typer.Option(min=1, help="[5, 10, 20, 40]")] = None,
    dim: Annotated[Numbers, typer.Option(min=2, help="[32, 64, 128, 256]")] = None,
    hidden: Annotated[
        Numbers, typer.Option(min=1, help="Of classifier, with --evaluate.  [32, 64, 128, 256]")
    ] = None,
    steps: Annotated[int, typer.Option(min=3, help="Training steps of each run.")] = 30,
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each; the median counts.")] = 3,
    threads: Annotated[int, typer.Option(min=1, help="Of each worker or process.")] = 1,
    evaluate: Annotated[
        bool, typer.Option("--evaluate", help="The evaluation too, of runs without workers.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Results; finished points are kept here.")] = Path(
        "runs/scaling"
    ),
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Time, memory and disk as workers, nodes, neighbours and columns grow: JSON, table, plots.

    Real runs of the pipeline, stage by stage. gsl-scale plan --fit OUT/scaling.json learns from
    them, but for those that are mixed, on which it is tested; gsl-scale submit CONFIG --bench
    scaling runs them on a cluster.

    Example: gsl-scale bench scaling --series nodes --nodes 20000 --nodes 50000 --out runs/grow
    """
    from gsl_scale.bench.scaling import CLASSIFIER, MIXTURES, SERIES, measure
    from gsl_scale.bench.scaling_report import write_report
    from gsl_scale.plan.fit import MIXED

    for name in series or ():
        if name not in SERIES:
            raise UserError(f"There is no series {name!r}.", f"There are: {', '.join(SERIES)}.")
    if CLASSIFIER in (series or ()) and not evaluate:
        raise UserError(
            f"The series {CLASSIFIER} changes the evaluation, which is not measured.",
            next_step="Add --evaluate.",
        )
    shared = workers or [1, 2]
    points = {
        "strong": shared,
        "weak": shared,
        "nodes": nodes or [20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000],
        "neighbours": k or [5, 10, 20, 40],
        "columns": dim or [32, 64, 128, 256],
        CLASSIFIER: hidden or [32, 64, 128, 256],
        MIXED: list(range(1, 1 + len(MIXTURES))),
    }
    if not evaluate:
        del points[CLASSIFIER]
    asked = {name: sorted(set(points[name])) for name in series or points}
    file = one_config(config, named or (None if config else Path("configs/scaling.yaml")))
    loaded = load_config(file, sets or ())
    how = {"steps": steps, "repeats": repeats, "threads": threads}
    out.mkdir(parents=True, exist_ok=True)
    result = measure(loaded, asked, out.absolute(), evaluate=evaluate, **how)
    written = write_report(result, out)

    def tell() -> None:
        typer.echo((out / "scaling.md").read_text(encoding="utf-8"))
        typer.echo("\n".join(f"written: {path}" for path in [out / "scaling.json", *written]))

    report(as_json, result, tell)
