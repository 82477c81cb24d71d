"""How the page's numbers came about: stages, inputs, digests, versions, and what to beware of."""

import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from gsl_scale.memory import size
from gsl_scale.pipeline import STAGES
from gsl_scale.report.curves import Curves
from gsl_scale.store.artifact import Artifact

_PACKAGES = ("gsl-scale", "torch", "numpy", "scipy", "scikit-learn", "pyarrow", "ray")
_FAISS = ("faiss-cpu", "faiss-gpu", "faiss-gpu-cuvs")


def stages(artifacts: dict[str, Artifact]) -> list[dict[str, Any]]:
    """Those that have run, in order."""
    rows = []
    for stage in STAGES:
        if stage.folder not in artifacts:
            continue
        artifact = artifacts[stage.folder]
        manifest = artifact.manifest
        # A training on several workers has recorded the largest of them.
        peak = max(manifest.peak_bytes, manifest.facts.get("peak_bytes", 0))
        rows.append(
            {
                "name": stage.name,
                "folder": stage.folder,
                "seconds": manifest.seconds,
                "peak": size(peak) if peak else "not recorded",
                "size": size(artifact.bytes),
                "content": manifest.content,
                "settings": manifest.config_digest,
                "written": f"{manifest.created} by {manifest.written_by}",
            }
        )
    return rows


def inputs(data: Artifact) -> list[dict[str, str]]:
    return [
        {
            "role": file.role,
            "name": file.path.replace("\\", "/").rsplit("/", 1)[-1],
            "size": size(file.bytes),
            "sha256": file.sha256,
        }
        for file in data.manifest.inputs
    ]


def versions() -> dict[str, str]:
    """Of the process that writes the page."""
    found = {"Python": platform.python_version()}
    for package in (*_PACKAGES, *_FAISS):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    found["machine"] = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    found["page written"] = datetime.now(UTC).isoformat(timespec="seconds")
    return found


def warnings(artifacts: dict[str, Artifact], curves: Curves) -> list[str]:
    """What ingest found, and what searches and training had trouble with."""
    found = [
        f"{finding['outcome']}: {finding['text']}"
        for finding in artifacts["data"].manifest.facts.get("findings", [])
    ]
    if curves.attempts > 1:
        found.append(f"noted: the training was interrupted and took {curves.attempts} attempts.")
    history = artifacts["embeddings"].manifest.facts["history"]
    if history["stopped"] == "all steps done" and curves.still_falling:
        found.append(
            "noted: the loss was still falling when the steps were done; more may help "
            "(train.steps)."
        )
    return found


def search_line(knn: Artifact) -> str:
    """How the first candidates were found."""
    facts = knn.manifest.facts
    exact = facts.get("index") == "exact"
    line = f"{facts['k']} neighbours per node by cosine, {facts.get('index', '')} index"
    recalls = [gate["recall"] for gate in facts.get("recall", [])]
    if exact or not recalls:
        return f"{line}."
    return f"{line}, which found {min(recalls):.1%} of a sample's true neighbours."
