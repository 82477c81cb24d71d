"""A cluster of several nodes on this machine."""

import os
from pathlib import Path
from typing import Annotated

import typer

from gsl_scale.cli.options import AsJson, report

Folder = Annotated[
    Path | None,
    typer.Option(
        help="Where it is written down.", show_default="$GSL_CLUSTER, ~/.gsl_scale/cluster"
    ),
]


def start(
    nodes: Annotated[int, typer.Option(min=1, help="Nodes beside the head.")] = 3,
    cpus: Annotated[
        int | None, typer.Option(min=1, help="CPUs of each.", show_default="half of this machine's")
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Of the dashboard; another if it is taken.")
    ] = 8265,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Start a head and several raylets here; a token is made and asked for by all of them.

    Example: gsl-scale cluster start --nodes 3
    """
    from gsl_scale.cluster import local

    where = folder or local.default_folder()
    local.start(where, nodes, cpus or max(1, (os.cpu_count() or 1) // 2), port)
    _show(where, as_json)


def stop(folder: Folder = None) -> None:
    """End the processes that `cluster start` started, and only those.

    Example: gsl-scale cluster stop
    """
    from gsl_scale.cluster import local

    number = local.stop(folder or local.default_folder())
    typer.echo(f"stopped; {number} nodes were running")


def status(folder: Folder = None, as_json: AsJson = False) -> None:
    """The nodes, the process of each raylet, and what runs there.

    Example: gsl-scale cluster status
    """
    from gsl_scale.cluster import local

    _show(folder or local.default_folder(), as_json)


def _show(folder: Path, as_json: bool) -> None:
    from gsl_scale.cluster import local
    from gsl_scale.cluster.render import print_cluster

    found = local.status(folder)
    report(as_json, found, lambda: print_cluster(found))
