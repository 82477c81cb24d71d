"""A comparison as text for a terminal. Shows what it is given, computes nothing."""

from typing import Any

from rich.markup import escape
from rich.table import Table

from gsl_scale.printed import printed

LISTS = {
    "changed_most": "changed most",
    "changed_least": "changed least",
    "homophily_lost": "lost most neighbours of their class",
    "homophily_gained": "gained most neighbours of their class",
}


def print_diff(report: dict[str, Any]) -> None:
    out = printed()
    for name in ("old", "new"):
        side = report[name]
        line = f"{name}: {side['path']}, {side['nodes']:,} nodes, {side['edges']:,} edges"
        out.print(line, markup=False)
    out.print(matched(report))
    out.print()
    out.print(f"Jaccard {report['jaccard']:.3f}: {fates(report)}")
    out.print(kept_weights(report))
    out.print()
    out.print(_degrees(report["degree"]))
    out.print(degree_shift(report))
    if homophily := report["homophily"]:
        out.print()
        out.print(_homophily(homophily))
    for name, title in LISTS.items():
        if rows := report["nodes"].get(name):
            out.print()
            out.print(_listed(title, rows))
    for note in report["notes"]:
        out.print(f"noted: {note}", markup=False)


def matched(report: dict[str, Any]) -> str:
    match = report["match"]
    return (
        f"nodes matched {match['how']}: {match['both']:,} in both, "
        f"{match['only_old']:,} only in old, {match['only_new']:,} only in new"
    )


def fates(report: dict[str, Any]) -> str:
    edges = report["edges"]
    words = []
    for name in ("kept", "dropped", "added"):
        gone = edges.get(f"{name}_with_node")
        words.append(f"{edges[name]:,} {name}" + (f" ({gone:,} with a node)" if gone else ""))
    return "edges " + ", ".join(words)


def kept_weights(report: dict[str, Any]) -> str:
    kept = report["weight"]["kept"]
    return (
        f"of kept edges {kept['heavier']:,} heavier, {kept['lighter']:,} lighter, "
        f"{kept['same']:,} the same; {kept['mean_change']:+.3f} on average"
    )


def degree_shift(report: dict[str, Any]) -> str:
    degree = report["degree"]
    return (
        f"{degree['more']:,} nodes have more edges, {degree['fewer']:,} fewer, "
        f"{degree['same']:,} as many; {degree['isolated_now']:,} lost all, "
        f"{degree['isolated_before']:,} had none before, {degree['isolated_in_both']:,} have none "
        "in either"
    )


def _degrees(degree: dict[str, Any]) -> Table:
    names = ("mean", "min", "lower", "median", "upper", "max")
    table = Table("degree, of nodes in both", *names, box=None, pad_edge=False)
    for row in ("old", "new", "shift"):
        table.add_row(row, *(f"{degree[row][name]:.4g}" for name in names if degree[row]))
    return table


def _homophily(homophily: dict[str, Any]) -> Table:
    title = f"homophily ({homophily['labelled']:,} labels, chance {homophily['chance']:.3f})"
    table = Table(title, "share", "by weight", "labelled edges", box=None, pad_edge=False)
    for name in ("old", "new", "kept", "dropped", "added"):
        row = homophily[name]
        cells = (share(row["share"]), share(row["weighted"]), f"{row['edges']:,}")
        table.add_row(name, *cells)
    return table


def _listed(title: str, rows: list[dict[str, Any]]) -> Table:
    by_label = "old_homophily" in rows[0]
    heads = ["old", "new", "kept", "jaccard", *(["homophily"] if by_label else [])]
    table = Table(title, *heads, box=None, pad_edge=False)
    for row in rows:
        cells = [f"{row[f'{name}_edges']:,}" for name in ("old", "new", "kept")]
        cells.append(f"{row['jaccard']:.3f}")
        if by_label:
            cells.append(f"{row['old_homophily']:.3f} → {row['new_homophily']:.3f}")
        table.add_row(escape(str(row["id"])), *cells)
    return table


def share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
