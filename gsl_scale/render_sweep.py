"""How a sweep looks in a terminal."""

from typing import Any

from rich.table import Table

from gsl_scale.printed import printed


def print_sweep(table: dict[str, Any]) -> None:
    """The best setting first; those that could not be tried last, and why."""
    entries = table["settings"]
    tried = [entry for entry in entries if entry["score"] is not None]
    describe = _COLUMNS[table["objective"]]
    names = list(tried[0]["configs"])
    heads = [head for name in names for head in (name, *describe(tried[0]["configs"][name]))]
    shown = Table("settings", *heads, "mean", box=None, pad_edge=False)
    for entry in tried:
        cells = []
        for name in names:
            found = entry["configs"][name]
            spread = f" ± {_number(found['std'])}" if table["seeds"] > 1 else ""
            cells += [_number(found["score"]) + spread, *describe(found).values()]
        style = "bold" if entry is tried[0] else ""
        shown.add_row(_settings(entry), *cells, _number(entry["score"]), style=style)
    out = printed()
    out.print(shown)
    for entry in entries[len(tried) :]:
        out.print(f"\n{_settings(entry)} could not be tried: {entry['failed']}", markup=False)
    out.print(f"\nBest by {table['objective']}: {_settings(tried[0])}", markup=False)
    for path in table["best"]:
        out.print(f"Run it with: gsl-scale run {path}", markup=False)


def _settings(entry: dict[str, Any]) -> str:
    return " ".join(entry["settings"]) or "(as it is)"


def _number(value: float) -> str:
    """Accuracies in percent, correlations below 1."""
    return f"{value:.2f}" if abs(value) > 1 else f"{value:.4f}"


def _validated(found: dict[str, Any]) -> dict[str, str]:
    """The validation loss, which tells apart equal accuracies; the accuracy before training, and
    where it was best on the way."""
    step, valid = max(found["curve"], key=lambda point: point[1])
    return {
        "loss": f"{found['loss']:.4f}",
        "before": f"{found['start']:.1f}",
        "best at": f"{valid:.1f} ({step})",
    }


def _held_out(found: dict[str, Any]) -> dict[str, str]:
    """What else was measured on what was hidden."""
    return {name: f"{value:.3f}" for name, value in found["held_out"].items() if name != "features"}


_COLUMNS = {"validation": _validated, "label-free": _held_out}
