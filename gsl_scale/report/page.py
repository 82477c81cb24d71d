"""`report.html`: one self-contained page, no network, light and dark.

Gathers what the artifacts of a run say and puts it into `page.html`. Works as soon as there is a
learned graph; what has not been evaluated, or was evaluated for another graph, is not shown.
"""

import base64
import hashlib
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import yaml

from gsl_scale.config import Export
from gsl_scale.pipeline import STAGES
from gsl_scale.report import provenance
from gsl_scale.report.change import Change, compare, graph_before
from gsl_scale.report.curves import Curves
from gsl_scale.report.explorer import explore
from gsl_scale.report.groups import Groups
from gsl_scale.report.sections import changes, learning, scores, times
from gsl_scale.report.verdict import judge
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import explained
from gsl_scale.store.manifest import write_durably

FILE_NAME = "report.html"
_HERE = Path(__file__).parent


def write_page(run: Path) -> Path:
    """Make the page of a run that has a learned graph."""
    with explained(run / FILE_NAME):
        write_durably(run / FILE_NAME, render(run))
    return run / FILE_NAME


def render(run: Path) -> str:
    artifacts = _artifacts(run)
    data, knn, graph = (artifacts[name] for name in ("data", "knn", "graph"))
    groups = Groups.find(data, artifacts.get("metrics"))
    with graph_before(run, data, knn) as before:
        change = compare(before, graph.edges(), groups)
        name = "given graph" if "edges" in data else "kNN graph"
        content = {
            **_summary(run, artifacts, change, groups, name),
            **changes(change, groups, (before, graph.edges()), name),
            "explorer": explore(data, before, graph.edges(), change, groups),
        }
    script = (_HERE / "page.js").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["unbroken"] = _unbroken
    return environment.get_template("page.html").render(
        **content,
        style=(_HERE / "page.css").read_text(encoding="utf-8"),
        script=script,
        # The browser runs this script and no other, whatever is in the data.
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _unbroken(text: str) -> str:
    """A number stays on one line with its sign and its spread."""
    return text.replace(" %", "\u00a0%").replace(" ± ", "\u00a0±\u00a0")


def _artifacts(run: Path) -> dict[str, Artifact]:
    """Those of the stages that belong together: made from one another as they are now."""
    found: dict[str, Artifact] = {}
    for stage in STAGES:
        if not (run / stage.folder / "manifest.json").exists():
            continue
        artifact = Artifact.open(run / stage.folder)
        if all(
            name in found and found[name].manifest.content == content
            for name, content in artifact.manifest.parents.items()
        ):
            found[stage.folder] = artifact
    return found


def _summary(
    run: Path, artifacts: dict[str, Artifact], change: Change, groups: Groups | None, before: str
) -> dict[str, Any]:
    data, learned = artifacts["data"], artifacts["embeddings"].manifest
    metrics = artifacts["metrics"].manifest if "metrics" in artifacts else None
    facts = None if metrics is None else metrics.facts
    curves = Curves.read(run, learned.facts["history"])
    splits = _splits(data)
    labels = "none" if "labels" not in data else "split" if splits["test"] else "unsplit"
    seeds = 0 if metrics is None else int(metrics.config["evaluate.seeds"])
    num_nodes, num_features = data.nodes().shape
    return {
        "name": run.resolve().name,
        "source": _source(data),
        "num_nodes": num_nodes,
        "num_features": num_features,
        "given_edges": len(data.edges()) // 2 if "edges" in data else None,
        "num_labelled": splits["known"],
        "num_classes": groups.used if groups and groups.what == "label" else 0,
        "change": change,
        "before": before,
        "keeps_given": "edges" in data and learned.facts["settings"]["knn"]["keep_given"],
        "written": Export.model_validate(artifacts["graph"].manifest.facts.get("export", {})),
        "verdict": judge(facts, labels, seeds, splits["test"], splits["train"]),
        "labels": labels,
        "has_ids": "ids" in data,
        **scores(facts, before),
        **learning(curves, learned.facts["history"]),
        **times(provenance.stages(artifacts)),
        "search": provenance.search_line(artifacts["knn"]),
        "inputs": provenance.inputs(data),
        "versions": provenance.versions(),
        "warnings": provenance.warnings(artifacts, curves),
        "config": (run / "config.yaml").read_text(encoding="utf-8"),
        "settings": yaml.safe_dump(learned.facts["settings"], sort_keys=False),
    }


def _source(data: Artifact) -> str:
    """The file of the features, or the dataset by its name."""
    files = [file["name"] for file in provenance.inputs(data) if file["role"] == "features"]
    config = data.manifest.config
    return str(config.get("data.name") or (files or [config.get("data.source", "")])[0])


def _splits(data: Artifact) -> dict[str, int]:
    """How many nodes have a known label, and how many of these are for what."""
    if "labels" not in data:
        return {"known": 0, "train": 0, "test": 0}
    table = data.columns("labels")
    known = table["label"].is_valid().to_numpy()
    split = np.array(table["split"].fill_null("").to_pylist())
    counts = {name: int((known & (split == name)).sum()) for name in ("train", "test")}
    return {"known": int(known.sum()), **counts}
