"""Reading a config: YAML, overrides and paths into `Config`, and errors a person can act on.

Safe YAML only; loading reads no data (see `ingest` for that).
"""

import copy
import difflib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from gsl_scale.config import Config
from gsl_scale.config_block import Block
from gsl_scale.config_data import DATA_BLOCKS, DataBlock
from gsl_scale.errors import ConfigError

_MOST_CHARACTERS, _DEEPEST = 1 << 20, 50


def load_config(path: str | Path, overrides: Iterable[str] = ()) -> Config:
    """Read a YAML file, apply `a.b=c` overrides, validate; paths become absolute."""
    path = Path(path)
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_MOST_CHARACTERS + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path}: cannot be read as a config ({_reason(error)}).",
            next_step="Give the path of a YAML file; examples are in configs/.",
        ) from None
    if len(text) > _MOST_CHARACTERS:
        raise ConfigError(f"{path}: too long for a config ({_MOST_CHARACTERS:,} characters).")
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
    tree = copy.deepcopy(tree)
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
        _refuse_traps(text, file)
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
    except (ValueError, OverflowError) as error:  # dates and numbers that there are not
        raise ConfigError(f"{file}: not valid YAML: {error}.") from None
    if tree is None:
        tree = {}
    if not isinstance(tree, dict):
        raise ConfigError(
            f"{file}: expected keys such as 'data:' at the top, found a {type(tree).__name__}.",
            next_step="See configs/quickstart.yaml for the form.",
        )
    return tree, lines


def _refuse_traps(text: str, file: str) -> None:
    """A few aliases of aliases stand for more values than any memory holds, and brackets in
    brackets take a parser longer than anyone waits."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        at = f":{event.start_mark.line + 1}" if event.start_mark else ""
        if isinstance(event, yaml.AliasEvent):
            raise ConfigError(
                f"{file}{at}: *{event.anchor} repeats another value.",
                "Aliases are not read in a config.",
                "Write the value itself.",
            )
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise ConfigError(f"{file}{at}: nested too deeply to be a config.")


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
    except (yaml.YAMLError, ValueError, RecursionError):
        value = text
    block: Any = tree
    for key in keys[:-1]:
        if block.get(key) is None:
            block[key] = {}
        block = block[key]
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
        near = difflib.get_close_matches(loc[-1], known, n=1, cutoff=0.0)[0]
        hint = f"did you mean {'.'.join((*loc[:-1], near))}?"
        return f"unknown key; {hint} Known here: {', '.join(known)}"
    if kind == "missing":
        return "missing, and there is no default"
    if kind == "union_tag_not_found":
        return f"missing data.source; one of: {', '.join(DATA_BLOCKS)}"
    if kind == "union_tag_invalid":
        source = str(item["input"].get("source"))
        nearest = difflib.get_close_matches(source, DATA_BLOCKS, n=1)
        hint = f"; did you mean {nearest[0]}?" if nearest else ""
        return f"source {source!r} is none of: {', '.join(DATA_BLOCKS)}{hint}"
    problem = str(item["msg"]).removeprefix("Value error, ")
    # Of keys that contradict each other the message names both; a whole block says no more.
    return problem if isinstance(item.get("input"), dict) else f"{problem} (got {shown})"


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
        if key.isdigit():  # a place in a list, whose blocks are alike
            continue
        field = model.model_fields.get(key)
        options = _within(field.annotation if field else None)
        model = next((o for o in options if isinstance(o, type) and issubclass(o, Block)), Block)
    yield from model.model_fields


def _within(annotation: Any) -> Iterator[Any]:
    yield annotation
    for inner in getattr(annotation, "__args__", ()):
        yield from _within(inner)


AnyBlock = TypeVar("AnyBlock", bound=Block)
_VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")


def _with_absolute_paths(config: Config, folder: Path, file: str) -> Config:
    def absolute(block: AnyBlock, name: str) -> AnyBlock:
        update = {
            key: str(_absolute(getattr(block, key), folder, f"{file}: {name}.{key}"))
            for key in block.locations
            if getattr(block, key) is not None
        }
        return block.model_copy(update=update)

    anchor = config.anchor
    if anchor.sources is not None:
        sources = (absolute(s, f"anchor.sources.{i}") for i, s in enumerate(anchor.sources))
        anchor = anchor.model_copy(update={"sources": tuple(sources)})
    return config.model_copy(update={"data": absolute(config.data, "data"), "anchor": anchor})


def _absolute(text: str, folder: Path, where: str) -> Path:
    unset = [name for name in _VARIABLE.findall(text) if name not in os.environ]
    if unset:
        raise ConfigError(
            f"{where}: {text} uses the environment variable {unset[0]}, which is not set.",
            next_step=f"Set it (export {unset[0]}=/path/to/data) or write the path itself.",
        )
    path = Path(os.path.expandvars(text)).expanduser()
    return Path(os.path.abspath(folder / path))  # noqa: PTH100 (resolve() would follow links)
