"""Checkpoints: each one file, there whole or not at all, read without running anything in it.

Tensors (model, optimiser) are the file's body; how it went so far and which versions of the graphs
belong to it are its header. Older checkpoints, and versions that none needs, are removed.
"""

import json
import os
import re
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import TypeAdapter
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from gsl_scale.errors import CorruptError
from gsl_scale.store.manifest import sync_folder
from gsl_scale.train.history import History

_NAME = "checkpoint-{:07d}.safetensors"
_NAMED = re.compile(r"checkpoint-(\d{7,})\.safetensors")
_KINDS = ("sketch", "anchor")  # of graphs that have versions
_HISTORY = TypeAdapter(History)


@dataclass(frozen=True)
class Checkpoint:
    """After the last step of the history."""

    tensors: dict[str, Tensor]
    history: History
    versions: dict[str, int]

    @classmethod
    def of(
        cls, model: nn.Module, optimiser: torch.optim.Optimizer, history: History,
        versions: dict[str, int],
    ) -> "Checkpoint":  # fmt: skip
        tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
        for number, state in optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser.{number}.{name}": value for name, value in state.items()}
        return cls(tensors, history, versions)

    def load_into(self, model: nn.Module, optimiser: torch.optim.Optimizer) -> None:
        self._require_fit(model, optimiser)
        model.load_state_dict(
            {name[6:]: value for name, value in self.tensors.items() if name.startswith("model.")}
        )
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in self.tensors.items():
            kind, number, *key = name.split(".")
            if kind == "optimiser":
                state.setdefault(int(number), {})[key[0]] = value
        groups: list[Any] = optimiser.state_dict()["param_groups"]
        optimiser.load_state_dict({"state": state, "param_groups": groups})

    def _require_fit(self, model: nn.Module, optimiser: torch.optim.Optimizer) -> None:
        """The tensors of this very model and its optimiser, and no others."""
        wanted = {f"model.{name}": value.shape for name, value in model.state_dict().items()}
        given = [p for group in optimiser.param_groups for p in group["params"]]
        for number, parameter in enumerate(given):
            shapes = {"step": torch.Size(), "exp_avg": parameter.shape}
            for key, shape in (shapes | {"exp_avg_sq": parameter.shape}).items():
                if f"optimiser.{number}.{key}" in self.tensors:
                    wanted[f"optimiser.{number}.{key}"] = shape
        found = {name: value.shape for name, value in self.tensors.items()}
        if found != wanted or not all(v.is_floating_point() for v in self.tensors.values()):
            raise CorruptError(
                "The last checkpoint is not of this model.",
                "Its tensors have other names, shapes or types.",
                "Start the stage over: --from train",
                stage="train",
            )


class Checkpoints:
    """The checkpoints of one training in its folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, checkpoint: Checkpoint) -> None:
        path = self.path(checkpoint.history.done)
        temporary = path.with_suffix(".tmp")
        header = {
            "history": json.dumps(asdict(checkpoint.history)),
            "versions": json.dumps(checkpoint.versions),
        }
        tensors = {name: value.cpu().contiguous() for name, value in checkpoint.tensors.items()}
        try:
            save_file(tensors, temporary, header)
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
            temporary.replace(path)
        except SafetensorError as error:
            raise OSError(str(error)) from None  # it says what the system said, without its number
        finally:
            temporary.unlink(missing_ok=True)
        sync_folder(self._folder)
        self._clean(path, checkpoint.versions)

    def path(self, step: int) -> Path:
        return self._folder / _NAME.format(step)

    def _clean(self, newest: Path, versions: dict[str, int]) -> None:
        for path in self._paths():
            if path != newest:
                path.unlink()
        for kind, number in versions.items():
            for folder in self._folder.glob(f"{kind}-*"):
                if folder != version_folder(self._folder, kind, number):
                    shutil.rmtree(folder, ignore_errors=True)

    def latest(self) -> Checkpoint | None:
        """The newest that can be read and whose versions are there."""
        for path in reversed(self._paths()):
            try:
                with safe_open(path, "pt") as file:
                    header = file.metadata()
                    tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                history = _HISTORY.validate_json(header["history"], strict=True)
                versions = {kind: int(json.loads(header["versions"])[kind]) for kind in _KINDS}
            except (
                SafetensorError, OSError, ValueError, TypeError, KeyError, RecursionError,
                OverflowError,
            ):  # fmt: skip
                continue
            if _is_whole(history) and all(
                version_folder(self._folder, *one).is_dir() for one in versions.items()
            ):
                return Checkpoint(tensors, history, versions)
        return None

    @property
    def step(self) -> int:
        """Of the newest; 0 if there is none."""
        paths = self._paths()
        return int(paths[-1].stem.split("-")[1]) if paths else 0

    def _paths(self) -> list[Path]:
        found = self._folder.glob("checkpoint-*.safetensors")
        return sorted(path for path in found if _NAMED.fullmatch(path.name) and path.is_file())


def _is_whole(history: History) -> bool:
    """As many entries of each kind, at steps that follow each other."""
    steps = history.step
    return len(steps) == len(history.loss) == len(history.kept) and all(
        a < b for a, b in zip([0, *steps], steps, strict=False)
    )


def version_folder(work: Path, kind: str, number: int) -> Path:
    return work / f"{kind}-{number:05d}"
