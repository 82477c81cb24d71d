"""What several commands share: their options, and how they report."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from gsl_scale.config import Config
from gsl_scale.config_file import load_config, make_config
from gsl_scale.errors import NotAStoreError, UserError
from gsl_scale.remote.uri import is_uri

ConfigFile = Annotated[Path, typer.Argument(help="YAML file; see configs/.")]
MaybeConfig = Annotated[Path | None, typer.Argument(help="YAML file; or use --features.")]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a key, e.g. knn.k=15. Repeatable."),
]
First = Annotated[
    str | None, typer.Option("--from", metavar="STAGE", help="Rebuild from this stage on.")
]
Until = Annotated[
    str | None, typer.Option("--until", metavar="STAGE", help="Stop after this stage.")
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


def own_tables(
    features: str | None,
    edges: str | None,
    labels: str | None,
    id_column: str | None,
    label_column: str | None,
    fill_missing: float | None,
) -> dict[str, Any]:
    """The flags that name a user's own files, as keys of the data block."""
    flags = {
        "features": features, "edges": edges, "labels": labels, "id_column": id_column,
        "label_column": label_column, "fill_missing": fill_missing,
    }  # fmt: skip
    return {key: value for key, value in flags.items() if value is not None}


def config_from(file: Path | None, sets: list[str] | None, flags: dict[str, Any]) -> Config:
    """A config from a file, or from flags that name the user's own tables."""
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


def one_config(given: Path | None, named: Path | None) -> Path:
    """The config file, given as an argument or as --config."""
    files = [file for file in (given, named) if file is not None]
    if len(files) != 1:
        raise UserError(
            f"Expected one config, found {len(files) or 'none'}.",
            next_step="Example: gsl-scale run configs/quickstart.yaml",
        )
    return files[0]


def run_config(folder: Path, place: str | Path | None = None) -> Path:
    """The config of a run folder; `place` is what the user called it."""
    path = folder / "config.yaml"
    if not path.exists():
        raise NotAStoreError(
            f"{place or folder} is not a run folder: it has no config.yaml.",
            next_step="Give the --out of a run, or look at one store with gsl-scale show.",
        )
    return path


def here(text: str) -> Path:
    """A path on this machine, for what is not written into object stores."""
    if is_uri(text):
        raise UserError(
            f"{text} cannot be written by this command.",
            next_step="Give a folder. run, refine, knn and submit write to s3:// and gs://.",
        )
    return Path(text)


def print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=1, ensure_ascii=False, default=str))


def report(as_json: bool, value: Any, show: Callable[[], None]) -> None:
    """One JSON value, or the same for a person to read."""
    if as_json:
        print_json(value)
    else:
        show()
