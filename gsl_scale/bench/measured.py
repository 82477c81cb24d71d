"""One measured run: its stages one by one, and what their manifests and the journal say of it."""

import json
import statistics
from pathlib import Path
from typing import Any

from gsl_scale.config import Config
from gsl_scale.config_block import Block


def run_stage(config: Config, run: Path, stage: str) -> None:
    """Without the page and the checks around it."""
    from gsl_scale.pipeline import STAGES, prepare_process

    run.mkdir(parents=True, exist_ok=True)
    prepare_process(config)
    next(one for one in STAGES if one.name == stage).run(config, run)


def measured(config: Config, run: Path) -> dict[str, Any]:
    """Quantities by the names that a plan has for them (`plan/work.py`)."""
    from gsl_scale.plan.blocks import messages
    from gsl_scale.plan.size import Case, Size
    from gsl_scale.store.artifact import Artifact
    from gsl_scale.train.journal import FILE_NAME

    folders = ("data", "knn", "embeddings", "graph")
    artifacts = {name: Artifact.open(run / name) for name in folders}
    manifests = {name: artifact.manifest for name, artifact in artifacts.items()}
    size = Size.of_data(artifacts["data"])
    case = Case.of(config, size)
    lines = (run / FILE_NAME).read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    steps, times = _steps(events, case.config.anchor.c)
    rounds = [event for event in events if event["event"] == "round"]
    on_workers = case.config.run.workers > 0
    found = {
        "ingest.seconds": manifests["data"].seconds,
        "ingest.memory": manifests["data"].peak_bytes,
        "knn.seconds": manifests["knn"].seconds,
        "step.seconds": statistics.median(times),
        "refresh.seconds": statistics.median(one["refresh_seconds"] for one in rounds),
        "anchor.seconds": statistics.median(one["anchor_seconds"] for one in rounds),
        "prepare.seconds": manifests["embeddings"].seconds - _in_rounds(steps, rounds),
        "export.seconds": manifests["graph"].seconds,
        "edges.bytes": _bytes(manifests["data"]),
        "candidates.bytes": _bytes(manifests["knn"]),
        "graph.bytes": _bytes(manifests["graph"]),
        "graph.rows": manifests["graph"].tables["edges"].rows,
    }
    if on_workers:
        found["rank.memory"] = manifests["embeddings"].facts["peak_bytes"]
        found["driver.memory"] = manifests["embeddings"].peak_bytes
    else:
        found["knn.memory"] = manifests["knn"].peak_bytes
        found["train.memory"] = manifests["embeddings"].peak_bytes
        found["export.memory"] = manifests["graph"].peak_bytes
    sent = rounds[0].get("exchanged_bytes", 0.0)
    facts = {
        "index": manifests["knn"].facts["index"],
        "recall": min((one["recall"] for one in manifests["knn"].facts["recall"]), default=None),
        "batch": case.config.contrast.batch,
        "seeds_per_second": min(case.config.contrast.batch, size.nodes) / found["step.seconds"],
        "exchanged_bytes": sent,  # measured, without DDP's gradients
        "message_bytes": messages(case),  # as a plan has them
    }
    return {
        "size": vars(size),
        "config": _recorded(case.config),
        "quantities": found,
        "facts": facts,
        "steps": times,
    }


def evaluated(run: Path) -> dict[str, float]:
    from gsl_scale.store.artifact import Artifact

    manifest = Artifact.open(run / "metrics").manifest
    return {"evaluate.seconds": manifest.seconds, "evaluate.memory": manifest.peak_bytes}


def _steps(events: list[dict[str, Any]], every: int) -> tuple[list[float], list[float]]:
    """Seconds of all steps; and of those that neither warm up nor update the anchor."""
    steps = [event for event in events if event["event"] == "step"]
    plain = [one["seconds"] for one in steps if one["step"] > 1 and one["step"] % every]
    return [one["seconds"] for one in steps], plain or [one["seconds"] for one in steps]


def _in_rounds(steps: list[float], rounds: list[dict[str, Any]]) -> float:
    between = (one["refresh_seconds"] + one["checkpoint_seconds"] for one in rounds)
    return sum(steps) + float(sum(between))


def _bytes(manifest: Any) -> int:
    return manifest.tables["edges"].bytes if "edges" in manifest.tables else 0


def _recorded(config: Config) -> dict[str, Any]:
    """Every key; of files only the names, as paths say something about a machine."""
    tree = config.model_dump(mode="json")
    data: Block = config.data
    for key in data.locations:
        if tree["data"][key] is not None:
            tree["data"][key] = Path(tree["data"][key]).name
    return tree
