"""How reports look in a terminal. Shows what it is given, computes nothing."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from gsl_scale.pipeline import StageStatus

_COLOURS = {"complete": "green", "stale": "yellow", "partial": "yellow", "damaged": "red"}


def _out() -> Console:
    return Console(highlight=False, soft_wrap=True)


def size(num_bytes: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if num_bytes < 1024:
            return f"{num_bytes:,.0f} {unit}" if unit == "B" else f"{num_bytes:,.1f} {unit}"
        num_bytes /= 1024
    return f"{num_bytes:,.1f} GiB"


def print_statuses(statuses: list[StageStatus]) -> None:
    table = Table("stage", "state", "rows", "size", "time", "why", box=None, pad_edge=False)
    for status in statuses:
        rows = ", ".join(f"{name} {count:,}" for name, count in (status.rows or {}).items())
        table.add_row(
            status.stage,
            f"[{_COLOURS.get(status.state, 'default')}]{status.state}[/]",
            rows or "–",
            size(status.bytes) if status.bytes else "–",
            f"{status.seconds:.1f} s" if status.seconds else "–",
            status.why,
        )
    _out().print(table)


def print_run(folder: Path, statuses: list[StageStatus]) -> None:
    from gsl_scale.describe import artifacts_in, describe

    print_statuses(statuses)
    out = _out()
    out.print()
    for about in map(describe, artifacts_in(folder)):
        if about["kind"] == "candidates":
            edges = about["edges"]
            out.print(
                f"kNN graph: {about['nodes']:,} nodes, {edges['rows']:,} edges, similarity "
                f"{edges['weight']['min']:.3f} to {edges['weight']['max']:.3f} "
                f"(mean {edges['weight']['mean']:.3f})"
            )
            edges_folder = Path(about["path"]) / "edges"
            out.print(f"It lies in {edges_folder}; read it with")
            out.print(f'  pandas.read_parquet("{edges_folder}")', markup=False)
            out.print(f"  duckdb.sql(\"select * from '{edges_folder}/*.parquet'\")", markup=False)
    out.print(f"More: gsl-scale status {folder}, gsl-scale show {folder}")


def print_store(about: dict[str, Any]) -> None:
    out = _out()
    out.print(
        f"[bold]{about['path']}[/bold]: {about['kind']}, {about['nodes']:,} nodes, "
        f"{about['shards']} shard{'s' if about['shards'] > 1 else ''}, {size(about['bytes'])}, "
        f"written {about['created']} by {about['written_by']}"
    )
    table = Table("table", "rows", "parts", "size", "columns", box=None, pad_edge=False)
    for name, one in about["tables"].items():
        columns = ", ".join(f"{column} {kind}" for column, kind in one["columns"].items())
        table.add_row(name, f"{one['rows']:,}", str(one["parts"]), size(one["bytes"]), columns)
    out.print(table)
    if features := about.get("features"):
        out.print(
            f"features: {features['shape'][0]:,} × {features['shape'][1]:,}, mean "
            f"{features['mean']:.4g}, std {features['std']:.4g}, {features['nonzero']:.1%} nonzero"
        )
        for row in features["head"]:
            out.print("  " + "  ".join(f"{number:.4g}" for number in row))
    if edges := about.get("edges"):
        degree, weight = edges["degree"], edges["weight"]
        weights = f"weight {weight['min']:.4g} to {weight['max']:.4g}" if edges["rows"] else "none"
        out.print(
            f"edges: {edges['rows']:,} ({edges['bytes_per_edge']:.2f} bytes each), {weights}, "
            f"degree {degree['min']} to {degree['max']:,} (mean {degree['mean']:.1f}), "
            f"{edges['isolated']:,} isolated"
        )
        for src, dst, one_weight in edges["head"]:
            out.print(f"  {src} → {dst}  {one_weight:.4g}", markup=False)
    if labels := about.get("labels"):
        split = ", ".join(f"{name} {count:,}" for name, count in labels["split"].items())
        out.print(f"labels: {labels['labelled']:,} of {labels['classes']} classes; {split}")
    for finding in about["facts"].get("findings", []):
        out.print(f"{finding['outcome']}: {finding['text']}", markup=False)


def print_store_bench(result: dict[str, Any]) -> None:
    out = _out()
    out.print(
        f"{result['edges']:,} edges of {result['nodes']:,} nodes, median of {result['repeats']}"
    )
    table = Table("", "bytes/edge", "read s", box=None, pad_edge=False)
    for name, row in result["files"].items():
        table.add_row(name, f"{row['bytes_per_edge']:.2f}", f"{row['read']:.3f}")
    out.print(table)
    out.print(f"reading, ours / pyarrow default: {result['read_ratio']:.2f}")
    out.print(f"from unsorted edges to a complete store: {result['shuffle_sort_write']:.1f} s")
