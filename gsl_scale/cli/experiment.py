"""The paper's studies beyond its table."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gsl_scale.cli.options import AsJson, Sets, report
from gsl_scale.errors import UserError


class Name(StrEnum):
    tau = "tau"
    features_mask = "features-mask"
    edge_drop = "edge-drop"
    neighbours = "neighbours"
    robustness = "robustness"
    heatmap = "heatmap"


def experiment(
    name: Annotated[Name, typer.Argument(help="What is varied.", show_default=False)],
    dataset: Annotated[
        str | None, typer.Argument(help="A config's name, such as cora, or a YAML file.")
    ] = None,
    named: Annotated[
        str | None, typer.Option("--config", help="The same, by name, as jobs give it.")
    ] = None,
    values: Annotated[
        str | None, typer.Option(help="Values to try: A,B,C.", show_default="the paper's")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Trainings of each.", show_default="3; some 1")
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="heatmap: classes A,B.", show_default="the last two")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for results; finished cells are kept.")] = Path(
        "runs/experiments"
    ),
    configs: Annotated[Path, typer.Option(help="Folder of the configs.")] = Path("configs"),
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Vary one thing, train, judge: a CSV, a plot and a section of OUT/report.html.

    tau: decay of the anchor; features-mask, edge-drop: augmentation; neighbours: k; robustness:
    edges deleted and added; heatmap: weights between nodes of two classes. Interrupted, it goes
    on with the cells that are missing. With --set run.workers=N cells run on N Ray workers.

    Example: gsl-scale experiment tau cora --seeds 1
    """
    from gsl_scale.experiment.grid import parsed
    from gsl_scale.experiment.study import Study, run_study
    from gsl_scale.experiment.table import print_summary

    given = [one for one in (dataset, named) if one is not None]
    if len(given) != 1:
        raise UserError(
            f"Expected one dataset, found {len(given) or 'none'}.",
            next_step=f"Example: gsl-scale experiment {name.value} cora",
        )
    asked = Study(
        name.value,
        given[0],
        out,
        configs,
        parsed(values),
        seeds,
        tuple(classes.split(",")) if classes else (),
        tuple(sets or ()),
    )
    summary = run_study(asked)
    report(as_json, summary, lambda: print_summary(summary))
