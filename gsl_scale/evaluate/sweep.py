"""Settings compared by validation accuracy. Test labels are not read: nothing is tuned on them."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from gsl_scale import progress
from gsl_scale.config_file import load_config
from gsl_scale.errors import UserError
from gsl_scale.evaluate.cluster import MEASURES
from gsl_scale.evaluate.watch import cell, seeded


def sweep(
    configs: list[Path], grid: list[str], seeds: int, out: Path, sets: list[str]
) -> list[dict[str, Any]]:
    """One entry per combination of the grid, in its order; finished cells are kept."""
    combinations = list(_combinations(grid))
    found = []
    with progress.track("sweep", len(combinations) * len(configs) * seeds) as advance:
        for chosen in combinations:
            entry: dict[str, Any] = {"settings": list(chosen), "configs": {}}
            for path in configs:
                cells = []
                for seed in range(seeds):
                    config = load_config(path, [*seeded(path.stem, seed), *sets, *chosen])
                    cells.append(cell(path.stem, config, out, blind=True))
                    advance(1, f"{path.stem}, {' '.join(chosen)}")
                entry["configs"][path.stem] = _validation(cells)
            entry["valid"] = float(np.mean([v["final"] for v in entry["configs"].values()]))
            found.append(entry)
    return found


def _combinations(grid: list[str]) -> Iterator[tuple[str, ...]]:
    axes = []
    for axis in grid:
        key, equals, values = axis.partition("=")
        if not equals or not values:
            raise UserError(
                f"--grid {axis} names no values.",
                next_step="Write KEY=A,B,C, for example knn.k=10,20,30.",
            )
        axes.append([f"{key}={value}" for value in values.split(",")])
    return product(*axes)


def _validation(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over seeds: before training, the final graph, and at every refresh."""
    steps = sorted(set.intersection(*({point[0] for point in c["curve"]} for c in cells)))
    curves = [{step: valid for step, valid, _ in c["curve"]} for c in cells]
    return {
        "start": float(np.mean([c["start"]["valid"] for c in cells])),
        "final": float(np.mean([c["label_free"]["valid"] for c in cells])),
        "clustering": {
            name: float(np.mean([c["clustering"][name]["mean"] for c in cells]))
            for name in MEASURES
        },
        "curve": [[step, float(np.mean([c[step] for c in curves]))] for step in steps],
    }
