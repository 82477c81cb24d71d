"""How reports look in a terminal. Shows what it is given, computes nothing."""

import json
from pathlib import Path
from typing import Any

from rich.table import Table

from gsl_scale.memory import size
from gsl_scale.pipeline import StageStatus
from gsl_scale.printed import printed
from gsl_scale.remote.uri import is_uri

_COLOURS = {"complete": "green", "stale": "yellow", "partial": "yellow", "damaged": "red"}


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
    printed().print(table)


def print_run(folder: Path, statuses: list[StageStatus], place: str | None = None) -> None:
    """`place`: what the user calls it, if that is not the folder."""
    print_statuses(statuses)
    out = printed()
    out.print()
    if (folder / "metrics.json").exists():
        print_metrics(json.loads((folder / "metrics.json").read_text()))
    edges = folder / ("graph" if (folder / "graph").exists() else "knn") / "edges"
    if edges.exists():
        name = "learned graph" if edges.parent.name == "graph" else "kNN graph"
        out.print(f"The {name} lies in {edges}; read it with")
        out.print(f'  pandas.read_parquet("{edges}")', markup=False)
        out.print(f"  duckdb.sql(\"select * from '{edges}/*.parquet'\")", markup=False)
    if (folder / "report.html").exists():
        out.print(f"The page to look at: {folder / 'report.html'}")
    if place and is_uri(place):
        out.print(f"All of it lies in {place}; from anywhere:")
        out.print(f'  gsl_scale.load_graph("{place}")', markup=False)
    out.print(f"More: gsl-scale status {place or folder}, gsl-scale show {place or folder}")


def print_metrics(metrics: dict[str, Any]) -> None:
    """How good the graph is, beside the baselines; or, without labels, what it looks like."""
    out = printed()
    if scores := metrics.get("classification"):
        table = Table("test accuracy", "mean", "± std", "valid", box=None, pad_edge=False)
        for name, score in scores.items():
            style = "bold" if name == "GCN, learned graph" else ""
            cells = (f"{score['mean']:.1f}", f"{score['std']:.1f}", f"{score['valid']:.1f}")
            table.add_row(name, *cells, style=style)
        out.print(table)
        out.print()
    if clustering := metrics.get("clustering"):
        names = list(next(iter(clustering.values())))
        table = Table("clustering", *names, box=None, pad_edge=False)
        for name, score in clustering.items():
            table.add_row(name, *(f"{score[measure]['mean']:.1f}" for measure in names))
        out.print(table)
        out.print()
    table = Table(
        "graph", "edges", "degree", "isolated", "components", "modularity", box=None, pad_edge=False
    )
    for name, figures in metrics["graphs"].items():
        table.add_row(
            name,
            f"{figures['edges']:,}",
            f"{figures['degree'].get('mean', 0):.1f}",
            f"{figures['isolated']:,}",
            f"{figures['components']:,}",
            f"{figures['modularity']:.3f}",
        )
    out.print(table)
    if fate := metrics.get("edges"):
        out.print(
            f"given edges kept {fate['kept']:,}, dropped {fate['dropped']:,}; "
            f"new edges {fate['added']:,}"
        )
    if repaired := metrics.get("repair"):
        from gsl_scale.evaluate.repair import said

        out.print(said(repaired), markup=False)
    out.print()


def print_store(about: dict[str, Any]) -> None:
    out = printed()
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
    out = printed()
    out.print(
        f"{result['edges']:,} edges of {result['nodes']:,} nodes, median of {result['repeats']}"
    )
    table = Table("", "bytes/edge", "read s", box=None, pad_edge=False)
    for name, row in result["files"].items():
        table.add_row(name, f"{row['bytes_per_edge']:.2f}", f"{row['read']:.3f}")
    out.print(table)
    out.print(f"reading, ours / pyarrow default: {result['read_ratio']:.2f}")
    out.print(f"from unsorted edges to a complete store: {result['shuffle_sort_write']:.1f} s")


def print_load_bench(result: dict[str, Any]) -> None:
    out = printed()
    out.print(
        f"{result['edges']:,} edges of {result['nodes']:,} nodes, median of {result['repeats']}"
    )
    table = Table("", "seconds", "least", "most", "load_graph / it", box=None, pad_edge=False)
    for name, taken in result["seconds"].items():
        ratio = f"{result['ratio'][name]:.2f}" if name in result["ratio"] else ""
        cells = (f"{taken[which]:.3f}" for which in ("median", "least", "most"))
        table.add_row(name, *cells, ratio)
    out.print(table)


def print_train_bench(result: dict[str, Any]) -> None:
    out = printed()
    settings = ", ".join(f"{key} {value}" for key, value in result["settings"].items())
    out.print(f"{result['nodes']:,} nodes; {settings}")
    table = Table("", "set-up s", "search s", "step s", "peak memory", box=None, pad_edge=False)
    for name, row in result["ways"].items():
        table.add_row(
            name,
            f"{row['set_up']:.2f}",
            f"{row['search']:.2f}" if row["search"] else "in the step",
            f"{row['step']:.3f} ({row['spread'][0]:.3f} to {row['spread'][1]:.3f})",
            size(row["peak_bytes"]),
        )
    out.print(table)
    out.print(
        f"step, the paper's way / ours: {result['step_ratio']:.1f} "
        f"({result['step_ratio_with_search']:.1f} with our search shared among the steps)"
    )
    passes = ", ".join(f"{name} {row['pass']:,.1f} s" for name, row in result["ways"].items())
    out.print(f"a pass over all nodes: {passes}")
    out.print(f"peak memory, the paper's way / ours: {result['memory_ratio']:.1f}")


def print_reproduction(table: list[dict[str, Any]]) -> None:
    def cell(row: dict[str, Any], name: str) -> str:
        return f"{row[name]['mean']:.1f} ± {row[name]['std']:.1f}" if name in row else "–"

    from gsl_scale.evaluate.reproduce import CLUSTERINGS, COLUMNS

    names = [name for name in COLUMNS if any(name in row for row in table)]
    out = printed()
    shown = Table(
        "accuracy", "paper", *(name.replace("_", " ") for name in names), box=None, pad_edge=False
    )
    for row in table:
        cells = [cell(row, name) for name in names]
        shown.add_row(row["row"], f"{row['paper']:.1f}", *cells)
    out.print(shown)
    clustered = [row for row in table if row["paper_clustering"]]
    if clustered:
        out.print()
        shown = Table("clustering", "", *clustered[0]["clustering"], box=None, pad_edge=False)
        for row in clustered:
            shown.add_row(row["row"], "paper", *(f"{v:.1f}" for v in row["paper_clustering"]))
            for key, name in CLUSTERINGS.items():
                if found := row.get(key):
                    shown.add_row("", name, *(f"{v:.1f}" for v in found.values()))
        out.print(shown)


def print_extension(facts: dict[str, Any]) -> None:
    out = printed()
    out.print(
        f"{facts['new']:,} nodes added, {facts['nodes']:,} in all; {facts['new_edges']:,} new "
        f"edges, {facts['between_new']:,} of them between new nodes"
    )
    if facts["alone"]:
        out.print(f"{facts['alone']:,} of the new nodes are similar to no one and have no edge")
    edges = Path(facts["run"]) / "graph" / "edges"
    out.print(f"The graph lies in {edges}; read it with")
    out.print(f'  pandas.read_parquet("{edges}")', markup=False)
    out.print(f"More: gsl-scale status {facts['run']}, gsl-scale evaluate {facts['run']}")


def print_knn(facts: dict[str, Any]) -> None:
    out = printed()
    how = "exact" if facts["index"] == "exact" else f"{facts['index']}, re-ranked exactly"
    out.print(f"{facts['rows']:,} rows, {facts['k']} neighbours each, cosine, {how}")
    for gate in facts["recall"] if facts["index"] != "exact" else ():
        out.print(f"recall {gate['recall']:.4f} on {gate['sample']:,} rows that were checked")
    out.print(f"\nThe neighbours lie in {facts['folder']}/edges; read them with", soft_wrap=True)
    out.print(f'  pandas.read_parquet("{facts["folder"]}/edges")', soft_wrap=True)
    out.print(f"  gsl-scale export {facts['folder']} --out neighbours.csv", soft_wrap=True)


def print_knn_bench(result: dict[str, Any]) -> None:
    out = printed()
    out.print(
        f"{result['rows']:,} × {result['dim']}, {result['vectors']}, k = {result['k']}, "
        f"{result['threads']} threads, recall {result['recall']} wanted"
    )
    attempts = result["attempts"]
    slow = next((a["seconds"] for a in attempts if a["way"].startswith("blocked")), None)
    table = Table("", "settings", "seconds", "recall", "blocked / it", box=None, pad_edge=False)
    for found in attempts:
        ratio = f"{slow / found['seconds']:.1f}" if slow else "–"
        cells = (found["way"], found["settings"], f"{found['seconds']:.1f}")
        table.add_row(*cells, f"{found['recall']:.4f}", ratio)
    out.print(table)


def print_growth_bench(result: dict[str, Any]) -> None:
    out = printed()
    out.print(f"{result['dim']} columns, k = {result['k']}, clustered vectors")
    table = Table("nodes", "seconds", "peak memory", "recall", "index", box=None, pad_edge=False)
    for point in result["points"]:
        table.add_row(
            f"{point['nodes']:,}",
            f"{point['seconds']:.1f}",
            size(point["peak_bytes"]),
            f"{point['recall']:.4f}",
            f"{point['index']}, {', '.join(f'{k} {v}' for k, v in point['effort'].items())}",
        )
    out.print(table)
    if result["exponent"] is not None:
        out.print(f"time grows as n to the power of {result['exponent']:.2f}")


def print_workers_bench(result: dict[str, Any]) -> None:
    out = printed()
    out.print(f"{result['steps']} steps, one thread per worker, median of {result['repeats']}")
    heads = ("workers", "seeds per second", "(from, to)", "ratio", "refresh", "memory of one")
    table = Table(*heads, box=None, pad_edge=False)
    for row in result["rows"]:
        table.add_row(
            str(row["workers"]),
            f"{row['seeds_per_second']:,.0f}",
            "({:,.0f}, {:,.0f})".format(*row["spread"]),
            f"{row['ratio']:.2f}",
            f"{row['refresh_seconds']:.1f} s",
            size(row["peak_bytes"]),
        )
    out.print(table)


def print_extend_bench(results: list[dict[str, Any]]) -> None:
    ways = list(results[0]["mean"])
    table = Table("accuracy on held-back nodes", "seed", *ways, box=None, pad_edge=False)
    for result in results:
        name = f"{result['name']}, {result['held_back']:,} of {result['nodes']:,} nodes"
        for cell in result["seeds"]:
            table.add_row(name, str(cell["seed"]), *(f"{cell[way]['mean']:.1f}" for way in ways))
            name = ""
        table.add_row("", "mean", *(f"{result['mean'][way]:.1f}" for way in ways), style="bold")
    printed().print(table)
