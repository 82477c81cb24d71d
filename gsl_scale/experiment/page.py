"""`report.html` of a folder of experiments: a section each, one file, no network."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import jinja2

from gsl_scale.experiment.grid import EXPERIMENTS
from gsl_scale.experiment.plots import panels
from gsl_scale.experiment.table import plus_minus, shown_value, spread
from gsl_scale.store.draft import explained
from gsl_scale.store.manifest import write_durably

FILE_NAME = "report.html"
_HERE = Path(__file__).parent


def write_page(out: Path) -> Path:
    """From the summaries that lie in the folder."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    style = (_HERE.parent / "report" / "page.css").read_text(encoding="utf-8")
    text = environment.get_template("page.html").render(
        sections=[_section(summary) for summary in _summaries(out)],
        style=style + (_HERE / "series.css").read_text(encoding="utf-8"),
    )
    with explained(out / FILE_NAME):
        write_durably(out / FILE_NAME, text)
    return out / FILE_NAME


def _summaries(out: Path) -> list[dict[str, Any]]:
    """In the order of the experiments, then of the datasets; other files are left alone."""
    found = []
    for name in EXPERIMENTS:
        for path in sorted(out.glob(f"{name}-*.json")):
            with suppress(ValueError):
                summary = json.loads(path.read_text(encoding="utf-8"))
                if isinstance(summary, dict) and summary.get("experiment") == name:
                    found.append(summary)
    return found


def _section(summary: dict[str, Any]) -> dict[str, Any]:
    rows = summary.get("rows", [])
    paper = any("paper" in row for row in rows)
    heads = [*summary["columns"], *summary["series"], *(["paper"] if paper else [])]
    return {
        "id": f"{summary['experiment']}-{summary['dataset']}",
        **{key: summary[key] for key in ("title", "dataset", "said", "version", "settings")},
        "spread": spread(summary) if rows else "",
        "heads": heads,
        "rows": [
            [
                *(shown_value(row[name]) for name in summary["columns"]),
                *(plus_minus(row[series]) for series in summary["series"]),
                *([shown_value(row.get("paper", "–"))] if paper else []),
            ]
            for row in rows
        ],
        "panels": panels(summary),
    }
