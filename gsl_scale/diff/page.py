"""A comparison as one self-contained page: no network, light and dark."""

from pathlib import Path
from typing import Any

import jinja2

from gsl_scale.diff import text
from gsl_scale.store.manifest import write_durably

_FATES = ("kept", "dropped", "added")


def write_diff_page(report: dict[str, Any], path: Path) -> Path:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_durably(path, environment.get_template("page.html").render(**_content(report)))
    return path


def _content(report: dict[str, Any]) -> dict[str, Any]:
    edges, degree, homophily = report["edges"], report["degree"], report["homophily"]
    total = sum(edges[name] for name in _FATES) or 1
    charts = degree["histogram"]
    return {
        "report": report,
        "matched": text.matched(report),
        "kept_weights": text.kept_weights(report),
        "degree_shift": text.degree_shift(report),
        "fates": [
            {"name": name, "count": edges[name], "percent": 100 * edges[name] / total}
            for name in _FATES
        ],
        "degree_rows": [
            {"name": name, **degree[name]} for name in ("old", "new", "shift") if degree[name]
        ],
        "degree_chart": _bars({"old": charts["old"], "new": charts["new"]}),
        "jaccard_chart": _bars({"new": report["node_jaccard"]["histogram"]}),
        "homophily": [
            {"name": name, **homophily[name], "text": text.share(homophily[name]["share"])}
            for name in ("old", "new", *_FATES)
        ]
        if homophily
        else [],
        "lists": [
            {"title": title, "rows": report["nodes"][name], "labels": name.startswith("homophily")}
            for name, title in text.LISTS.items()
            if report["nodes"].get(name)
        ],
    }


def _bars(charts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Histograms over the same borders, side by side, in per cent of width and height."""
    tallest = max((count for chart in charts.values() for count in chart["counts"]), default=0)
    bars = []
    for place, (name, chart) in enumerate(charts.items()):
        slot = 100 / len(chart["counts"])
        for i, count in enumerate(chart["counts"]):
            low, high = chart["borders"][i : i + 2]
            bars.append(
                {
                    "name": name,
                    "x": (i + 0.08 + 0.84 * place / len(charts)) * slot,
                    "width": 0.84 * slot / len(charts),
                    "height": 100 * count / max(tallest, 1),
                    "title": f"{name}: {count:,} nodes, {low:.3g} to {high:.3g}",
                }
            )
    borders = next(iter(charts.values()))["borders"]
    return {"bars": bars, "low": borders[0], "high": borders[-1], "tallest": tallest}
