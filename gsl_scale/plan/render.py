"""How plans, fits and simulations look in a terminal."""

from typing import Any

from rich.table import Table

from gsl_scale.memory import size
from gsl_scale.plan.coefficients import Coefficients
from gsl_scale.plan.forecast import Forecast
from gsl_scale.plan.shortages import Shortage
from gsl_scale.plan.simulate import ASSUMPTIONS, Simulated
from gsl_scale.plan.work import num_shards
from gsl_scale.printed import printed


def duration(seconds: float | None) -> str:
    """For a person to read."""
    if seconds is None:
        return "not measured"
    for unit, long in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * long:
            return f"{seconds / long:,.1f} {unit}"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def _bytes(number: float | None) -> str:
    return "not measured" if number is None else size(number)


def print_plan(found: Forecast, lacking: list[Shortage], coefficients: Coefficients) -> None:
    out, case, cluster = printed(), found.case, found.cluster
    edges = f", {case.size.edges:,} stored edges" if case.size.edges else ", no edges"
    workers = case.config.run.workers
    on = f"{workers} workers on {cluster.nodes} nodes" if workers else "in one process"
    out.print(
        f"{case.size.nodes:,} nodes × {case.size.features}{edges}; {on}, "
        f"{num_shards(case)} shards, index in {found.pieces} piece(s), "
        f"{size(cluster.memory)} per node"
    )
    heads = ("stage", "time", "memory of a worker", "of the driver", "disk", "beside it, meanwhile")
    table = Table(*heads, box=None, pad_edge=False)
    for stage in found.stages:
        table.add_row(
            stage.stage,
            duration(stage.seconds),
            _bytes(stage.memory),
            _bytes(stage.driver) if workers and stage.stage == "train" else "–",
            size(stage.disk),
            size(stage.scratch) if stage.scratch else "–",
        )
    out.print(table)
    out.print(
        f"a step: {duration(found.step)}; each worker sends {size(found.sent)} and reads "
        f"{size(found.read)}\na refresh: {duration(found.refresh)}; an update of the anchor: "
        f"{duration(found.anchor)}"
    )
    for one in lacking:
        head = "[red]does not fit[/]" if one.fatal else "[yellow]slow[/]"
        out.print(f"{head}: {one.what}")
        out.print(f"  {one.remedy}", markup=False)
    if not any(one.fatal for one in lacking):
        unknown = ", ".join(found.unmeasured)
        out.print(f"fits, as far as known; never measured: {unknown}" if unknown else "fits")
    print_basis(coefficients, found.cluster.gpus)


def print_basis(coefficients: Coefficients, gpus: int = 0) -> None:
    """What the numbers rest on."""
    out, largest, about = printed(), coefficients.largest, coefficients.about
    out.print(
        f"Training was measured up to {largest['nodes']:,} nodes, {largest['features']} columns "
        f"and {largest['workers']} workers of {coefficients.threads} thread(s): "
        f"{about['machine']}, commit {about['commit']}. What lies beyond is extrapolated.",
        markup=False,
    )
    if coefficients.provisional:
        out.print("Provisional: these were short runs, made to try the model.", style="yellow")
    if gpus:
        out.print("No GPU has been measured: times are those of CPU workers.", style="yellow")


_WHOLE = ("run.seconds", "run.memory")
_TOLD = ("measured", "predicted", "error")


def fit_table(rows: list[dict[str, Any]]) -> str:
    """In Markdown, a line per measured run: what it took as a whole, then the error of each
    quantity."""
    runs: dict[str, dict[str, Any]] = {}
    for row in rows:
        runs.setdefault(row["point"], {})[row["quantity"]] = row
    quantities = list(dict.fromkeys(row["quantity"] for row in rows))
    parts = [name for name in quantities if name not in _WHOLE]
    heads = ["run", "", *(f"{name.split('.')[1]}, {told}" for name in _WHOLE for told in _TOLD)]
    whole = [
        [*_named(name, run), *(cell for quantity in _WHOLE for cell in _told(run.get(quantity)))]
        for name, run in runs.items()
    ]
    errors = [
        [*_named(name, run), *(_told(run.get(quantity))[-1] for quantity in parts)]
        for name, run in runs.items()
    ]
    return f"{markdown(heads, whole)}\n{markdown(['run', '', *parts], errors)}"


def _named(name: str, run: dict[str, Any]) -> list[str]:
    held_out = next(iter(run.values()))["held_out"]
    return [name, "held out" if held_out else "fitted"]


def _told(row: dict[str, Any] | None) -> list[str]:
    if row is None:
        return ["–"] * len(_TOLD)
    values = (amount(row["quantity"], row[name]) for name in _TOLD[:2])
    return [*values, f"{row['error']:+.0%}"]


def markdown(heads: list[str], rows: list[list[str]]) -> str:
    """A table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def print_fit(coefficients: Coefficients, rows: list[dict[str, Any]]) -> None:
    out = printed()
    heads = ("point", "quantity", "measured", "predicted", "error", "")
    table = Table(*heads, box=None, pad_edge=False)
    for row in rows:
        told = "held out" if row["held_out"] else ""
        cells = (amount(row["quantity"], row[name]) for name in ("measured", "predicted"))
        table.add_row(row["point"], row["quantity"], *cells, f"{row['error']:+.0%}", told)
    out.print(table)
    print_basis(coefficients)


def amount(quantity: str, value: float) -> str:
    if quantity.endswith(".seconds"):
        return duration(value)
    return f"{value:,.0f}" if quantity.endswith(".rows") else size(value)


def _short(seconds: float | None) -> str:
    return "–" if seconds is None else duration(seconds)


def print_simulation(rows: list[Simulated], coefficients: Coefficients) -> None:
    out = printed()
    out.print("Simulated; none of this has run.", style="bold")
    heads = ("workers", "step", "send", "wait", "read", "refresh", "anchor", "total",
             "efficient", "steps")  # fmt: skip
    table = Table(*heads, box=None, pad_edge=False)
    for row in rows:
        parts = (row.step, row.sending, row.waiting, row.reading, row.refresh, row.anchor)
        table.add_row(
            str(row.workers), *(_short(part) for part in parts), _short(row.total),
            f"{row.efficiency:.0%}", f"{row.step_efficiency:.0%}",
        )  # fmt: skip
    out.print(table)
    if rows[0].refresh is None or rows[0].anchor is None:
        out.print("– was never measured at such a size and is left out of the total.")
    out.print("It assumes:")
    for line in ASSUMPTIONS:
        out.print(f"- {line}", markup=False)
    print_basis(coefficients)
