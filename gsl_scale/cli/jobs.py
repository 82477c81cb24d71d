"""Jobs on a cluster: submit, and what one does with them afterwards."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gsl_scale.cli.options import AsJson, ConfigFile, First, Sets, Until, print_json, report
from gsl_scale.config_file import load_config
from gsl_scale.errors import UserError
from gsl_scale.remote.uri import is_uri

if TYPE_CHECKING:
    from gsl_scale.cluster.jobs import Jobs

Address = Annotated[
    str | None,
    typer.Option(help="Dashboard, http://HOST:8265.", show_default="the cluster started here"),
]
Cluster = Annotated[
    Path | None, typer.Option(metavar="FILE", help="YAML with address and token_file.")
]
Job = Annotated[str, typer.Argument(help="As `gsl-scale jobs list` has it.")]
Wait = Annotated[bool, typer.Option(help="Show the log and end with the job, or return at once.")]


def submit(
    config: ConfigFile,
    out: Annotated[
        str | None,
        typer.Option(
            help="Run folder, at this path on all nodes; or s3://BUCKET/PATH.",
            show_default="runs/CONFIG-NAME",
        ),
    ] = None,
    address: Address = None,
    cluster: Cluster = None,
    wait: Wait = True,
    first: First = None,
    until: Until = None,
    bench: Annotated[
        str | None,
        typer.Option(help="Run this benchmark instead: scaling, with its options, in quotes."),
    ] = None,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Run a config as a job on a Ray cluster. The code here and the config are shipped with it.

    Before anything starts, the cluster is asked whether it can: versions, storage that all nodes
    share, CPUs, GPUs and memory. What is finished is not run again; what is half finished goes on.
    Ends with the exit code of the job.

    Example: gsl-scale submit configs/quickstart.yaml --out /shared/runs/q --set run.workers=2
    """
    loaded = load_config(config, sets or ())
    place = out or f"runs/{config.stem}"
    _require_bench(bench, place, first or until)
    if not is_uri(place):
        place = str(Path(place).absolute())
    jobs = _jobs(address, cluster)
    job = jobs.submit(loaded, place, config.stem, first=first, until=until, bench=bench)
    _report(jobs, job, place, wait, as_json)


def _require_bench(bench: str | None, place: str, stage: str | None) -> None:
    """One that writes into a folder which all nodes see, and has no stages of its own."""
    if bench is None:
        return
    if bench.split()[:1] != ["scaling"]:
        raise UserError(
            f"--bench {bench} is not run as a job.",
            next_step='Give scaling, with its options: --bench "scaling --workers 1 --workers 8"',
        )
    if is_uri(place):
        raise UserError(
            f"A benchmark cannot write to {place}.",
            next_step="Give --out a folder that all nodes see.",
        )
    if stage is not None:
        raise UserError(
            f"--bench has no stage {stage}.", next_step="Leave out --from and --until, or --bench."
        )


def list_jobs(address: Address = None, cluster: Cluster = None, as_json: AsJson = False) -> None:
    """The jobs of a cluster, newest first.

    Example: gsl-scale jobs list
    """
    from gsl_scale.cluster.render import print_jobs

    found = _jobs(address, cluster).list()
    report(as_json, found, lambda: print_jobs(found))


def logs(
    job: Job,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Until the job ends.")] = False,
    address: Address = None,
    cluster: Cluster = None,
) -> None:
    """What a job has said.

    Example: gsl-scale jobs logs quickstart-1a2b3c4d --follow
    """
    jobs = _jobs(address, cluster)
    if follow:
        raise typer.Exit(jobs.follow(job, _show))
    typer.echo(jobs.logs(job), nl=False)


def stop(job: Job, address: Address = None, cluster: Cluster = None) -> None:
    """End a job; what it has finished is kept.

    Example: gsl-scale jobs stop quickstart-1a2b3c4d
    """
    jobs = _jobs(address, cluster)
    if not jobs.stop(job):
        typer.echo(f"{job} had already ended")
        return
    state, _ = jobs.wait(job)
    typer.echo(f"{job}: {state.lower()}; go on with gsl-scale jobs resume {job}")


def resume(
    job: Job,
    address: Address = None,
    cluster: Cluster = None,
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """Submit again what a job was given; it goes on where that one ended.

    Example: gsl-scale jobs resume quickstart-1a2b3c4d
    """
    jobs = _jobs(address, cluster)
    _report(jobs, jobs.resume(job), f"what {job} was given", wait, as_json)


def _jobs(address: str | None, cluster: Path | None) -> "Jobs":
    from gsl_scale.cluster.access import find_access
    from gsl_scale.cluster.jobs import Jobs
    from gsl_scale.cluster.local import default_folder

    return Jobs(find_access(address, cluster, default_folder()))


def _show(lines: str) -> None:
    typer.echo(lines, nl=False)


def _report(jobs: "Jobs", job: str | None, what: str, wait: bool, as_json: bool) -> None:
    if job is None:
        if as_json:
            print_json({"job": None, "state": "complete"})
        else:
            typer.echo(f"{what} is already complete; nothing to do. To rebuild: --from STAGE")
        return
    if as_json:
        print_json({"job": job, "dashboard": jobs.page(job)})
    else:
        typer.echo(f"job {job}\ndashboard {jobs.page(job)}")
    if not wait:
        if not as_json:
            typer.echo(f"follow it with gsl-scale jobs logs {job} --follow")
        return
    try:
        code = jobs.follow(job, (lambda _: None) if as_json else _show)
    except KeyboardInterrupt:
        typer.echo(f"\nthe job goes on; stop it with gsl-scale jobs stop {job}", err=True)
        raise typer.Exit(130) from None
    raise typer.Exit(code)
