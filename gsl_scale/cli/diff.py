"""What became of a graph."""

from pathlib import Path
from typing import Annotated

import typer

from gsl_scale.cli.options import AsJson, LabelColumn, report

_GRAPH = "A run folder, a store with edges, or an edge file: CSV, TSV, Parquet, NPY, NPZ."


def diff(
    old: Annotated[str, typer.Argument(help=_GRAPH)],
    new: Annotated[str, typer.Argument(help="The same, of the other graph.")],
    labels: Annotated[
        str | None, typer.Option(help="Labels, for homophily.", show_default="those of the run")
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help="Column of the labels with your node ids.")
    ] = None,
    label_column: LabelColumn = None,
    nodes: Annotated[int, typer.Option(min=0, help="Nodes to list, worst and best.")] = 5,
    page: Annotated[Path | None, typer.Option(help="Also write a page: an .html file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two graphs: edges kept, dropped and added, degrees, homophily, worst and best nodes.

    Nodes are matched by your ids. Graphs are taken as undirected.

    Example: gsl-scale diff runs/people/data runs/people --page changes.html
    """
    from gsl_scale.diff.compare import diff as compare
    from gsl_scale.diff.page import write_diff_page
    from gsl_scale.diff.text import print_diff

    found = compare(
        old, new, labels=labels, id_column=id_column, label_column=label_column, num_listed=nodes
    )
    if page is not None:
        write_diff_page(found, page)
    report(as_json, found, lambda: print_diff(found))
    if page is not None and not as_json:
        typer.echo(f"\nThe page to look at: {page}")
