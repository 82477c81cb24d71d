"""What is in a store, in numbers and in its first rows. Reads one shard at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gsl_scale.store.artifact import Artifact
from gsl_scale.store.manifest import FILE_NAME


def artifacts_in(folder: Path) -> Iterator[Artifact]:
    """The artifact at a path, or those of a run folder."""
    if (folder / FILE_NAME).exists() or not (folder / "config.yaml").exists():
        yield Artifact.open(folder)
        return
    for inner in sorted(folder.iterdir()):
        if (inner / FILE_NAME).exists():
            yield Artifact.open(inner)


def describe(artifact: Artifact, num_rows: int = 5) -> dict[str, Any]:
    manifest = artifact.manifest
    about: dict[str, Any] = {
        "path": str(artifact.folder),
        "kind": manifest.kind,
        "nodes": manifest.num_nodes,
        "shards": manifest.num_shards,
        "bytes": artifact.bytes,
        "created": manifest.created,
        "written_by": manifest.written_by,
        "seconds": manifest.seconds,
        "content": manifest.content,
        "tables": {
            name: {
                "rows": table.rows,
                "parts": len(table.parts),
                "bytes": table.bytes,
                "columns": table.columns,
            }
            for name, table in manifest.tables.items()
        },
        "facts": manifest.facts,
    }
    if "features" in artifact:
        about["features"] = _features(artifact, num_rows)
    if "edges" in artifact:
        about["edges"] = _edges(artifact, num_rows)
    if "labels" in artifact:
        about["labels"] = _labels(artifact)
    return about


def _features(artifact: Artifact, num_rows: int) -> dict[str, Any]:
    table = artifact.nodes("features")
    total = squares = nonzero = 0.0
    for _, rows in table.parts():
        total += float(rows.sum(dtype=np.float64))
        squares += float(np.square(rows, dtype=np.float64).sum())
        nonzero += float(np.count_nonzero(rows))
    size = table.shape[0] * table.shape[1]
    mean = total / size
    return {
        "shape": list(table.shape),
        "mean": mean,
        "std": max(squares / size - mean * mean, 0.0) ** 0.5,
        "nonzero": nonzero / size,
        "head": table.read(0, min(num_rows, table.shape[0]))[:, :8].tolist(),
    }


def _edges(artifact: Artifact, num_rows: int) -> dict[str, Any]:
    table = artifact.edges()
    num_nodes = artifact.manifest.num_nodes
    degree = np.zeros(num_nodes, np.int64)
    low, high, total = np.inf, -np.inf, 0.0
    head: list[tuple[Any, Any, float]] = []
    for part, edges in table.parts():
        degree[part.start : part.stop] = np.bincount(
            edges.src - part.start, minlength=part.stop - part.start
        )
        if len(edges.weight):
            low, high = min(low, edges.weight.min()), max(high, edges.weight.max())
            total += float(edges.weight.sum(dtype=np.float64))
        if len(head) < num_rows:
            head += list(
                zip(*(column[: num_rows - len(head)].tolist() for column in edges), strict=True)
            )
    if "ids" in artifact:
        ids = artifact.columns("ids")["id"]
        head = [(ids[src].as_py(), ids[dst].as_py(), weight) for src, dst, weight in head]
    return {
        "rows": len(table),
        "bytes_per_edge": table.table.bytes / max(len(table), 1),
        "degree": {
            "min": int(degree.min()),
            "mean": float(degree.mean()),
            "max": int(degree.max()),
        },
        "isolated": int((degree == 0).sum()),
        "weight": {
            "min": float(low) if len(table) else None,
            "mean": total / max(len(table), 1),
            "max": float(high) if len(table) else None,
        },
        "head": [list(edge) for edge in head],
    }


def _labels(artifact: Artifact) -> dict[str, Any]:
    table = artifact.columns("labels")
    split = table["split"].value_counts().to_pylist()
    known = len(table) - table["label"].null_count
    return {
        "labelled": known,
        "classes": len(artifact.manifest.facts.get("classes", [])),
        "split": {str(row["values"] or "none"): row["counts"] for row in split},
    }
