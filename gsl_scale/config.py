"""What a run may say: YAML into typed, frozen models.

*What is learned* (`data`, `knn`) and *where it runs* (`run`) are separate blocks, and the
second never changes a digest. Unknown keys are errors that name the nearest key; every error
names the file, the line and the key path. Loading reads no data: see `ingest` for that.
"""

import difflib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gsl_scale.errors import ConfigError


class Block(BaseModel):
    """A frozen group of keys; keys it does not have are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Split(Block):
    """Labelled nodes drawn per class (stratified); what is left over is the test set."""

    train: int = Field(gt=0, description="labelled nodes to train on")
    valid: int = Field(ge=0, description="labelled nodes to validate on")
    seed: int = Field(0, ge=0, description="seed of the draw")


class DataBlock(Block):
    """What every source of data has."""

    # Keys that say where input lies. They are left out of digests, because what is
    # compared is the content of the files (see `ingest.inputs`), not their path.
    locations: ClassVar[tuple[str, ...]] = ()

    dtype: Literal["float32", "float16"] = Field(
        "float32", description="how features are stored; float16 halves the disk"
    )


class SklearnData(DataBlock):
    """A dataset that ships with scikit-learn: nothing to download."""

    source: Literal["sklearn"]
    name: Literal["wine", "cancer", "digits"] = Field(description="which one")
    split_seed: int = Field(0, ge=0, description="seed of the paper-sized label split")


class PlanetoidData(DataBlock):
    """A folder of `ind.NAME.*` files (Cora, Citeseer, Pubmed) with the public split."""

    locations: ClassVar[tuple[str, ...]] = ("folder",)

    source: Literal["planetoid"]
    name: str = Field(pattern=r"^[A-Za-z0-9_-]+$", description="cora, citeseer or pubmed")
    folder: str = Field("$GSL_DATA/planetoid", description="folder with the ind.NAME.* files")
    edges: bool = Field(True, description="false leaves the given graph out (structure inference)")


class OgbData(DataBlock):
    """An OGB node property dataset, downloaded by the ogb package or already on disk."""

    locations: ClassVar[tuple[str, ...]] = ("root",)

    source: Literal["ogb"]
    name: str = Field(pattern=r"^ogbn-[A-Za-z0-9_-]+$", description="for example ogbn-arxiv")
    root: str = Field("~/.cache/gsl_scale/ogb", description="holds (or will hold) ogbn_NAME/")
    download: bool = Field(True, description="false never uses the network")
    edges: bool = Field(True, description="false leaves the given graph out (structure inference)")


class TablesData(DataBlock):
    """Your own files: CSV, TSV, Parquet (file, folder or glob), NPY or NPZ (dense or CSR)."""

    locations: ClassVar[tuple[str, ...]] = ("features", "edges", "labels")

    source: Literal["tables"]
    features: str = Field(description="one row per node")
    edges: str | None = Field(None, description="one row per edge; none: structure inference")
    labels: str | None = Field(None, description="one row per node; only evaluation reads it")
    id_column: str | None = Field(None, description="column with your own node ids")
    feature_columns: tuple[str, ...] | None = Field(None, description="default: all that remain")
    label_column: str | None = Field(None, description="label column in labels (or features)")
    split_column: str | None = Field(None, description="train / valid / test per node")
    src_column: str | None = Field(None, description="default: src, source, from, or the first")
    dst_column: str | None = Field(None, description="default: dst, target, to, or the second")
    weight_column: str | None = Field(None, description="default: weight, if there is one")
    separator: str | None = Field(None, min_length=1, max_length=1, description="default: found")
    fill_missing: float | None = Field(None, description="number put where a feature is missing")
    unknown_nodes: Literal["refuse", "drop"] = Field(
        "refuse", description="edges that name a node without features"
    )
    split: Split | None = Field(None, description="draw a split where the files have none")


class SyntheticData(DataBlock):
    """Communities with noisy features and edges, of any size, made as a stream."""

    source: Literal["synthetic"]
    nodes: int = Field(gt=1, description="how many nodes")
    features: int = Field(64, gt=0, description="numbers per node")
    communities: int = Field(10, gt=0, description="classes; node i belongs to i mod this")
    degree: float = Field(10.0, ge=0, description="mean edges drawn per node; 0: no graph")
    mixing: float = Field(0.2, ge=0, le=1, description="share of edges that ignore communities")
    noise: float = Field(1.0, ge=0, description="feature noise against a community centre of 1")
    skew: float = Field(0.0, ge=0, lt=1, description="0: equal degrees; towards 1: a few hubs")
    seed: int = Field(0, ge=0, description="the same seed gives the same graph")


AnyData = Annotated[
    SklearnData | PlanetoidData | OgbData | TablesData | SyntheticData,
    Field(discriminator="source"),
]
DATA_BLOCKS: dict[str, type[DataBlock]] = {
    "sklearn": SklearnData,
    "planetoid": PlanetoidData,
    "ogb": OgbData,
    "tables": TablesData,
    "synthetic": SyntheticData,
}


class Knn(Block):
    """The candidates of the first round: each node's k most similar others."""

    k: int = Field(20, gt=0, description="neighbours per node")


class Run(Block):
    """Where it runs. Nothing here changes what is learned, nor any digest."""

    shards: int | Literal["auto"] = Field("auto", description="node ranges on disk")
    threads: int | Literal["auto"] = Field("auto", description="threads per process")
    batch: int = Field(8192, gt=0, description="query rows per kNN search")

    @model_validator(mode="after")
    def _positive(self) -> "Run":
        for key in ("shards", "threads"):
            number = getattr(self, key)
            if number != "auto" and number < 1:
                raise ValueError(f"{key} must be 'auto' or at least 1 (got {number})")
        return self


class Config(Block):
    """Everything a run may say."""

    data: AnyData
    knn: Knn = Knn()
    run: Run = Run()

    def to_yaml(self) -> str:
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def depends_on(config: Config, blocks: Iterable[str]) -> dict[str, Any]:
    """The keys (dotted) and values of these blocks that decide a stage's result."""
    found: dict[str, Any] = {}
    for name in blocks:
        block = getattr(config, name)
        left_out = block.locations if isinstance(block, DataBlock) else ()
        for key, value in block.model_dump(mode="json").items():
            if key not in left_out:
                found[f"{name}.{key}"] = value
    return found


def digest(values: Any) -> str:
    """SHA-256 of a JSON value, independent of the order of its keys."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def load_config(path: str | Path, overrides: Iterable[str] = ()) -> Config:
    """Read a YAML file, apply `a.b=c` overrides, validate; paths become absolute."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path}: cannot be read as a config ({_reason(error)}).",
            next_step="Give the path of a YAML file; examples are in configs/.",
        ) from None
    tree, lines = _parse_yaml(text, str(path))
    return make_config(tree, overrides, file=str(path), lines=lines, folder=path.parent)


def make_config(
    tree: dict[str, Any],
    overrides: Iterable[str] = (),
    *,
    file: str = "config",
    lines: dict[tuple[str, ...], int] | None = None,
    folder: Path | None = None,
) -> Config:
    """Validate a tree of plain values; relative paths are taken from `folder`."""
    for override in overrides:
        _apply_override(tree, override)
    try:
        config = Config.model_validate(tree)
    except ValidationError as error:
        raise _explain(error, tree, file, lines or {}) from None
    return _with_absolute_paths(config, folder or Path.cwd(), file)


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


def _parse_yaml(text: str, file: str) -> tuple[dict[str, Any], dict[tuple[str, ...], int]]:
    lines: dict[tuple[str, ...], int] = {}
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        _note_lines(node, (), lines, file)
        tree = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        at = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ConfigError(
            f"{file}{at}: not valid YAML: {problem}.", next_step="Mend that line."
        ) from None
    except RecursionError:
        raise ConfigError(f"{file}: nested too deeply to be a config.") from None
    if tree is None:
        tree = {}
    if not isinstance(tree, dict):
        raise ConfigError(
            f"{file}: expected keys such as 'data:' at the top, found a {type(tree).__name__}.",
            next_step="See configs/quickstart.yaml for the form.",
        )
    return tree, lines


def _note_lines(
    node: yaml.Node | None, path: tuple[str, ...], lines: dict[tuple[str, ...], int], file: str
) -> None:
    if not isinstance(node, yaml.MappingNode):
        return
    for key_node, value_node in node.value:
        key_path = (*path, str(key_node.value))
        if key_path in lines:
            raise ConfigError(
                f"{file}:{key_node.start_mark.line + 1}: {'.'.join(key_path)} is set twice "
                f"(first at line {lines[key_path]}).",
                next_step="Keep one of the two.",
            )
        lines[key_path] = key_node.start_mark.line + 1
        _note_lines(value_node, key_path, lines, file)


def _apply_override(tree: dict[str, Any], override: str) -> None:
    key_path, equals, text = override.partition("=")
    keys = key_path.strip().split(".")
    if not equals or not all(keys):
        raise ConfigError(
            f"--set {override}: expected KEY.PATH=VALUE.", next_step="Example: --set knn.k=15"
        )
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        value = text
    block: Any = tree
    for key in keys[:-1]:
        block = block.setdefault(key, {})
        if not isinstance(block, dict):
            raise ConfigError(f"--set {override}: {key} is a value, not a block of keys.")
    block[keys[-1]] = value


def _explain(
    error: ValidationError,
    tree: dict[str, Any],
    file: str,
    lines: dict[tuple[str, ...], int],
) -> ConfigError:
    """Pydantic's findings as lines that name file, line, key path and the nearest key."""
    found = []
    for item in error.errors(include_url=False):
        loc = tuple(str(part) for part in item["loc"])
        if len(loc) > 1 and loc[0] == "data" and loc[1] in DATA_BLOCKS:
            loc = (loc[0], *loc[2:])  # pydantic puts the source's name into the path
        line = next((lines[loc[:end]] for end in range(len(loc), 0, -1) if loc[:end] in lines), 0)
        at = f"{file}:{line}" if line else file
        found.append(f"{at}: {'.'.join(loc) or 'config'}: {_problem(item, loc, tree)}")
    return ConfigError(
        "\n".join(found), next_step="All keys with defaults: gsl-scale config CONFIG"
    )


def _problem(item: Any, loc: tuple[str, ...], tree: dict[str, Any]) -> str:
    kind, shown = item["type"], _short(item.get("input"))
    if kind == "extra_forbidden":
        known = list(_fields(loc[:-1], tree))
        near = difflib.get_close_matches(loc[-1], known, n=1, cutoff=0.5)
        hint = f"did you mean {'.'.join((*loc[:-1], near[0]))}?" if near else ""
        return f"unknown key; {hint or 'known: ' + ', '.join(known)}"
    if kind == "missing":
        return "missing, and there is no default"
    if kind == "union_tag_not_found":
        return f"missing data.source; one of: {', '.join(DATA_BLOCKS)}"
    if kind == "union_tag_invalid":
        source = str(item["input"].get("source"))
        near = difflib.get_close_matches(source, DATA_BLOCKS, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"source {source!r} is none of: {', '.join(DATA_BLOCKS)}{hint}"
    return f"{item['msg'].removeprefix('Value error, ')} (got {shown})"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _fields(loc: tuple[str, ...], tree: dict[str, Any]) -> Iterator[str]:
    model: type[BaseModel] = Config
    for key in loc:
        if key == "data":
            source = tree.get("data", {}).get("source")
            model = DATA_BLOCKS.get(source, DataBlock)
            continue
        field = model.model_fields.get(key)
        annotation = field.annotation if field else None
        options = [annotation, *getattr(annotation, "__args__", ())]
        model = next((o for o in options if isinstance(o, type) and issubclass(o, Block)), Block)
    yield from model.model_fields


_VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")


def _with_absolute_paths(config: Config, folder: Path, file: str) -> Config:
    data = config.data
    update = {
        key: str(_absolute(getattr(data, key), folder, f"{file}: data.{key}"))
        for key in data.locations
        if getattr(data, key) is not None
    }
    return config.model_copy(update={"data": data.model_copy(update=update)}) if update else config


def _absolute(text: str, folder: Path, where: str) -> Path:
    unset = [name for name in _VARIABLE.findall(text) if name not in os.environ]
    if unset:
        raise ConfigError(
            f"{where}: {text} uses the environment variable {unset[0]}, which is not set.",
            next_step=f"Set it (export {unset[0]}=/path/to/data) or write the path itself.",
        )
    path = Path(os.path.expandvars(text)).expanduser()
    return Path(os.path.abspath(folder / path))  # noqa: PTH100 (resolve() would follow links)
