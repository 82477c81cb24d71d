"""New nodes for a finished run."""

from pathlib import Path
from typing import Annotated, Any

import typer

from gsl_scale.cli.options import (
    AsJson,
    FillMissing,
    IdColumn,
    LabelColumn,
    LabelsFile,
    Sets,
    here,
    own_tables,
    report,
    run_config,
)
from gsl_scale.config_file import load_config
from gsl_scale.errors import UserError


def extend(
    run: Annotated[str, typer.Argument(help="A finished run: folder or URI.")],
    features: Annotated[str, typer.Option(help="The new nodes: the same columns as before.")],
    out: Annotated[Path, typer.Option(help="Folder for the new run.", parser=here)],
    edges: Annotated[
        str | None, typer.Option(help="Their edges, to old nodes and to each other.")
    ] = None,
    labels: LabelsFile = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    fill_missing: FillMissing = None,
    renew: Annotated[
        bool, typer.Option("--renew", help="Make the edges between old nodes anew, too.")
    ] = False,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Add nodes to a learned graph without training: a new run with all of them.

    The trained learner embeds them and they are joined to those they are similar to. Edges between
    old nodes stay as they are, unless --renew.

    Example: gsl-scale extend runs/people --features new.csv --edges new-knows.csv --out runs/more
    """
    from gsl_scale.extend.run import extend as compute
    from gsl_scale.remote.places import local_copy
    from gsl_scale.render import print_extension

    for override in sets or ():
        if not override.startswith("run."):
            raise UserError(
                f"--set {override} would change what was learned.",
                next_step="Only keys of the run block may be set here, such as run.threads.",
            )
    flags = own_tables(features, edges, labels, id_column, label_column, fill_missing)
    folder = local_copy(run)
    config = load_config(run_config(folder, run), sets or ())
    facts: dict[str, Any] = compute(folder, out, config, flags, renew=renew)
    report(as_json, facts, lambda: print_extension(facts))
