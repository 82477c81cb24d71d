"""gsl-scale: the commands. Each parses, calls one function and shows the result.

Exit codes: 0 done, 2 the user's mistake, 1 our failure. Reports go to standard output, progress
and errors to standard error; with --json a report (or an error) is one JSON value.
"""

import os
import sys
from typing import Annotated, NoReturn

import typer

from gsl_scale import __version__, progress
from gsl_scale.cli import bench, cluster, data, jobs, runs, scaling
from gsl_scale.cli.diff import diff
from gsl_scale.cli.experiment import experiment
from gsl_scale.cli.extend import extend
from gsl_scale.cli.knn import knn
from gsl_scale.cli.options import print_json
from gsl_scale.cli.plan import plan
from gsl_scale.errors import GslError, UserError

app = typer.Typer(
    name="gsl-scale",
    help="Learn a better graph from features and, perhaps, a noisy graph; no labels needed.\n\n"
    "Start here: [bold]gsl-scale run configs/quickstart.yaml[/bold], or with your own files: "
    "[bold]gsl-scale refine --features F --edges E --out DIR[/bold].",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
bench_app = typer.Typer(help="Measure speed and size, as ratios taken side by side in one run.")
app.add_typer(bench_app, name="bench")
for command in (
    runs.refine, runs.run, extend, runs.evaluate, runs.status, data.export, diff, data.show,
    data.ingest, data.check, knn, runs.reproduce, runs.sweep, experiment, plan,
    jobs.submit,
):  # fmt: skip
    app.command()(command)
app.command(name="config")(runs.show_config)
bench_app.command(name="store")(bench.bench_store)
bench_app.command(name="load")(bench.bench_load)
bench_app.command(name="train")(bench.bench_train)
bench_app.command(name="knn")(bench.bench_knn)
bench_app.command(name="growth")(bench.bench_growth)
bench_app.command(name="workers")(bench.bench_workers)
bench_app.command(name="extend")(bench.bench_extend)
bench_app.command(name="scaling")(scaling.bench_scaling)
jobs_app = typer.Typer(help="Jobs on a Ray cluster.", no_args_is_help=True)
app.add_typer(jobs_app, name="jobs")
jobs_app.command(name="list")(jobs.list_jobs)
jobs_app.command()(jobs.logs)
jobs_app.command()(jobs.stop)
jobs_app.command()(jobs.resume)
cluster_app = typer.Typer(help="A cluster of several nodes, here.", no_args_is_help=True)
app.add_typer(cluster_app, name="cluster")
cluster_app.command()(cluster.start)
cluster_app.command()(cluster.stop)
cluster_app.command()(cluster.status)


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
        print_json(error.to_json())
    text = f"{type(error).__name__}: {error}"
    # What is told may come from a hostile file: no control codes for the terminal.
    shown = "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in text)
    progress.console.print(shown, markup=False, soft_wrap=True)
    sys.exit(error.exit_code)


def main(arguments: list[str] | None = None) -> None:
    # Threads that wait for each other give way soon, not after milliseconds of turning in circles:
    # on a machine that others use too, small graphs otherwise take many times as long.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # read when torch is loaded: not yet
    try:
        app(arguments)
    except GslError as error:
        _fail(error)
    except PermissionError as error:
        _fail(UserError(f"{error.filename}: permission denied."))
    except MemoryError as error:
        _fail(GslError(f"Out of memory: {error}.", next_step="See run.memory and contrast.batch."))
    except BrokenPipeError:  # the reader of a pipe left, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
