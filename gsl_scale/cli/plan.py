"""What a run will take, before it runs."""

from pathlib import Path
from typing import Annotated

import typer

from gsl_scale.cli.options import AsJson, Sets, report
from gsl_scale.config import Config
from gsl_scale.config_file import load_config
from gsl_scale.errors import UserError

_GIB = 2.0**30


def plan(
    config: Annotated[Path | None, typer.Argument(help="YAML file; see configs/.")] = None,
    nodes: Annotated[int, typer.Option(min=1, help="Machines.")] = 1,
    gpus: Annotated[int, typer.Option(min=0, help="GPUs of each; a worker has one.")] = 0,
    workers: Annotated[
        int | None,
        typer.Option(min=0, help="In all.", show_default="a worker per GPU, or run.workers"),
    ] = None,
    memory: Annotated[float, typer.Option(min=0.5, help="GiB of each machine.")] = 64.0,
    disk: Annotated[
        float | None, typer.Option(min=0.001, help="GiB of the storage they share.")
    ] = None,
    bandwidth: Annotated[float, typer.Option(min=0.001, help="Gbit/s of each machine.")] = 10.0,
    latency: Annotated[float, typer.Option(min=0, help="Microseconds, one way.")] = 50.0,
    until: Annotated[
        str | None, typer.Option("--until", metavar="STAGE", help="The last stage to be run.")
    ] = None,
    simulate: Annotated[
        int | None, typer.Option(min=2, help="Also simulate 1, 2, 4, ... up to so many workers.")
    ] = None,
    coefficients: Annotated[
        Path | None, typer.Option(help="JSON of --to.", show_default="those shipped")
    ] = None,
    fit: Annotated[
        Path | None, typer.Option(help="Fit to the scaling.json of a bench scaling instead.")
    ] = None,
    to: Annotated[Path | None, typer.Option(help="Where what was fitted is written.")] = None,
    table: Annotated[
        Path | None, typer.Option(help="Where predicted beside measured is written, as Markdown.")
    ] = None,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Memory, disk, network and time of a run before it runs, and what would make it fit.

    Exit code 2 if it does not fit. Times are extrapolated from runs measured on CPUs.

    Example: gsl-scale plan configs/products.yaml --nodes 2 --workers 16 --memory 128
    """
    if fit is not None:
        _fit(fit, to, table, as_json)
        return
    if config is None:
        raise UserError(
            "There is no config to plan.",
            next_step="Example: gsl-scale plan configs/products.yaml --nodes 2 --workers 16",
        )
    from gsl_scale.pipeline import require_stage
    from gsl_scale.plan import render
    from gsl_scale.plan.coefficients import SHIPPED, Coefficients
    from gsl_scale.plan.forecast import Cluster, forecast
    from gsl_scale.plan.shortages import shortages
    from gsl_scale.plan.simulate import ASSUMPTIONS
    from gsl_scale.plan.simulate import simulate as play
    from gsl_scale.plan.size import Case

    require_stage(until)
    costs = Coefficients.load(coefficients or SHIPPED)
    if workers is None and gpus:
        workers = nodes * gpus
    case = Case.of(_on(load_config(config, sets or ()), workers))
    room = None if disk is None else disk * _GIB
    net = (bandwidth * 1e9 / 8, latency * 1e-6)
    cluster = Cluster(nodes, gpus, memory * _GIB, *net, room)
    found = forecast(case, cluster, costs, until)
    lacking = shortages(found)
    body = found.to_json() | {
        "fits": not any(one.fatal for one in lacking),
        "shortages": [vars(one) for one in lacking],
        "never_measured": found.unmeasured,
        "provisional": costs.provisional,
        "measured": costs.about | {"largest": costs.largest},
    }
    played = [] if simulate is None else play(case, cluster, costs, _doubled(simulate))
    if played:
        rows = [one.to_json() for one in played]
        body["simulated"] = {"workers": rows, "assumptions": ASSUMPTIONS}

    def tell() -> None:
        render.print_plan(found, lacking, costs)
        if played:
            typer.echo()
            render.print_simulation(played, costs)

    report(as_json, body, tell)
    if not body["fits"]:
        raise typer.Exit(2)


def _on(config: Config, workers: int | None) -> Config:
    if workers is None:
        return config
    run = config.run.model_copy(update={"workers": workers})
    return config.model_copy(update={"run": run})


def _doubled(most: int) -> list[int]:
    numbers = [1]
    while 2 * numbers[-1] <= most:
        numbers.append(2 * numbers[-1])
    return numbers


def _fit(runs: Path, to: Path | None, table: Path | None, as_json: bool) -> None:
    from gsl_scale.plan.fit import fit, load_runs
    from gsl_scale.plan.render import fit_table, print_fit
    from gsl_scale.store.manifest import write_durably

    found, rows = fit(load_runs(runs))
    if to is not None:
        write_durably(to, found.to_json())
    if table is not None:
        write_durably(table, fit_table(rows))
    body = {"coefficients": found.model_dump(), "rows": rows}
    report(as_json, body, lambda: print_fit(found, rows))
    if to is not None and not as_json:
        typer.echo(f"\nwritten to {to}; use it with gsl-scale plan CONFIG --coefficients {to}")
