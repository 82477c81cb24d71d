"""`report.html`: one self-contained page, no network, light and dark."""

from pathlib import Path
from typing import Any

import jinja2
import yaml

from gsl_scale.evaluate.cluster import MEASURES
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.manifest import write_durably

_WIDTH, _HEIGHT, _LEFT, _TOP = 590, 180, 40, 10


def write_page(run: Path) -> Path:
    """Make the page of a finished run."""
    names = ("data", "knn", "embeddings", "graph", "metrics")
    artifacts = {name: Artifact.open(run / name) for name in names}
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True
    )
    page = environment.get_template("page.html").render(**_content(run, artifacts))
    write_durably(run / "report.html", page)
    return run / "report.html"


def _content(run: Path, artifacts: dict[str, Artifact]) -> dict[str, Any]:
    manifests = {name: artifact.manifest for name, artifact in artifacts.items()}
    metrics, history = manifests["metrics"].facts, manifests["embeddings"].facts["history"]
    data = artifacts["data"]
    num_nodes, num_features = data.nodes().shape
    edges = f" and {len(data.edges()) // 2:,} edges" if "edges" in data else ", no graph"
    learned = metrics["graphs"]["learned graph"]["edges"]
    return {
        "title": f"Learned graph: {run.name}",
        "summary": f"In: {num_nodes:,} nodes with {num_features:,} features{edges}. "
        f"Out: {learned:,} weighted edges, in {run.name}/graph/edges.",
        "seeds": manifests["metrics"].config["evaluate.seeds"],
        "scores": [
            {"name": name, "ours": name == "GCN, learned graph", **score}
            for name, score in metrics.get("classification", {}).items()
        ],
        "measures": MEASURES,
        "clustering": [
            {"name": name, "scores": [score[measure]["mean"] for measure in MEASURES]}
            for name, score in metrics.get("clustering", {}).items()
        ],
        "fates": _fates(metrics.get("edges")),
        "graphs": [
            {
                **figures,
                "name": name,
                "degree": figures["degree"].get("mean", 0.0),
                "weight": figures["weight"].get("mean", 0.0),
            }
            for name, figures in metrics["graphs"].items()
        ],
        "curve": _curve(history["step"], history["loss"]),
        "first_loss": history["loss"][0],
        "last_loss": history["loss"][-1],
        "last_step": history["step"][-1],
        "stopped": history["stopped"],
        "stages": [
            {
                "name": name,
                "seconds": manifest.seconds,
                "bytes": artifacts[name].bytes,
                "content": manifest.content[:12],
            }
            for name, manifest in manifests.items()
        ],
        "findings": [
            f"{finding['outcome']}: {finding['text']}"
            for finding in manifests["data"].facts["findings"]
        ],
        "config": (run / "config.yaml").read_text(),
        "settings": yaml.safe_dump(manifests["embeddings"].facts["settings"], sort_keys=False),
    }


def _fates(edges: dict[str, int] | None) -> str:
    if edges is None:
        return ""
    return (
        f"Of the given edges {edges['kept']:,} were kept and {edges['dropped']:,} dropped; "
        f"{edges['added']:,} were added."
    )


def _curve(steps: list[int], losses: list[float]) -> str:
    low, high = min(losses), max(losses)
    span = (high - low) or 1.0
    points = (
        f"{_LEFT + _WIDTH * step / steps[-1]:.1f},{_TOP + _HEIGHT * (high - loss) / span:.1f}"
        for step, loss in zip(steps, losses, strict=True)
    )
    return "M" + " L".join(points)
