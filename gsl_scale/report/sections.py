"""What each section of the page shows, drawn."""

from collections.abc import Callable
from typing import Any

from gsl_scale.evaluate import repair
from gsl_scale.evaluate.cluster import MEASURES
from gsl_scale.report import distributions
from gsl_scale.report.change import Change
from gsl_scale.report.charts import Bar, bar_chart, line_chart, share_bar
from gsl_scale.report.curves import Curves
from gsl_scale.report.groups import Groups
from gsl_scale.report.heatmap import group_map, node_map, pick_nodes
from gsl_scale.report.verdict import LEARNED, judge_clusters
from gsl_scale.store.edges import EdgeTable

_PERCENT = ("0", "25", "50", "75", "100 %")
_FIGURES: dict[str, Callable[[dict[str, Any]], str]] = {
    "edges": lambda of: f"{of['edges']:,}",
    "mean degree": lambda of: f"{of['degree'].get('mean', 0):.1f}",
    "mean weight": lambda of: f"{of['weight'].get('mean', 0):.3f}",
    "isolated nodes": lambda of: f"{of['isolated']:,}",
    "components": lambda of: f"{of['components']:,}",
    "modularity": lambda of: f"{of['modularity']:.3f}",
}
_STOPPED = {
    "plateau": "until the loss no longer fell",
    "all steps done": "which is all that were asked for",
}


def scores(metrics: dict[str, Any] | None, before: str) -> dict[str, Any]:
    """Against the baselines; nothing where nothing was evaluated."""
    shown: dict[str, Any] = {"accuracy": "", "clustering": "", "clusters_said": "", "figures": []}
    if metrics is None:
        return shown
    if found := metrics.get("repair"):
        shown["repaired"] = repair.said(found)
    if found := metrics.get("classification"):
        bars = [
            Bar(name, score["mean"], score["std"], _role(name, before), _plus_minus(score))
            for name, score in found.items()
        ]
        label = "Test accuracy. " + " ".join(f"{bar.name}: {bar.text}." for bar in bars)
        shown["accuracy"] = bar_chart(label, bars, 100, _PERCENT)
    if found := metrics.get("clustering"):
        bars = [
            Bar(f"{measure}, {name.split(', ')[1]}", score["mean"], score["std"], role, text)
            for measure in MEASURES
            for name, role in (
                ("K-means, representations", "after"),
                ("K-means, smoothed representations", "after"),
                ("K-means, features", "other"),
                ("K-means, smoothed features", "other"),
            )
            if name in found
            for score in [found[name][measure]]
            for text in [_plus_minus(score)]
        ]
        label = "Clustering. " + " ".join(f"{bar.name}: {bar.text}." for bar in bars)
        shown["clustering"] = bar_chart(label, bars, 100, _PERCENT)
        shown["clusters_said"] = judge_clusters(found)
    graphs = metrics["graphs"]
    shown["figures"] = [{"name": name, "ours": name == "learned graph"} for name in graphs]
    shown["figure_rows"] = [
        (name, [write(figures) for figures in graphs.values()]) for name, write in _FIGURES.items()
    ]
    return shown


def _plus_minus(score: dict[str, float]) -> str:
    return f"{score['mean']:.1f} ± {score['std']:.1f}"


def _role(name: str, before: str) -> str:
    if name == LEARNED:
        return "after"
    return "before" if name == f"GCN, {before}" else "other"


def changes(
    change: Change, groups: Groups | None, tables: tuple[EdgeTable, EdgeTable], before: str
) -> dict[str, Any]:
    """What became of the edges; before and after side by side."""
    fates = change.fates
    roles = {"dropped": "before", "kept": "both", "added": "after"}
    parts = [(name, int(fates[name]), role) for name, role in roles.items()]
    label = ", ".join(f"{count:,} edges {name}" for name, count, _ in parts)
    shown: dict[str, Any] = {
        "fates": fates,
        "fates_chart": share_bar(label, parts),
        "degrees": distributions.degree_chart(change, before),
        "weights": distributions.weight_chart(change, before),
        "weight_note": distributions.weight_note(change.before, before),
        "group_word": "",
        "same_group": "",
    }
    if groups is None:
        return shown
    names = [groups.names[group] for group in groups.largest]
    picked = pick_nodes(tables[0], change, groups)
    picked_names = [groups.names[int(groups.of[some[0]])] for some in picked]
    titles = (before, "learned graph")
    return {
        **shown,
        "group_word": groups.what,
        "picked_groups": len(picked),
        **_within_groups(change, groups, before),
        "groups_left_out": groups.used - len(names),
        "group_maps": [
            (title, group_map(f"Where edge weight goes, by {groups.what}, {title}", side, names))
            for title, side in zip(titles, (change.before, change.after), strict=True)
        ],
        "node_maps": [
            (title, node_map(f"Weights among some nodes, {title}", table, picked, picked_names))
            for title, table in zip(titles, tables, strict=True)
        ],
        "nodes_each": max(map(len, picked)),
    }


def _within_groups(change: Change, groups: Groups, before: str) -> dict[str, Any]:
    """How much of the weight joins nodes of one group."""
    sides = ((before, "before", change.before), ("learned graph", "after", change.after))
    bars = [
        Bar(name, 100 * share, None, role, f"{100 * share:.1f}")
        for name, role, side in sides
        for share in [side.same_group]
        if share is not None
    ]
    said = "Share of all edge weight that joins two nodes of the same label."
    if groups.what == "cluster":
        said = (
            "Share of all edge weight that joins two nodes of the same cluster. The clusters were "
            "found in what was learned, so this favours the learned graph: it describes, it does "
            "not prove."
        )
    label = f"{said} " + " ".join(f"{bar.name}: {bar.text} %." for bar in bars)
    return {
        "same_group": bar_chart(label, bars, 100, _PERCENT) if bars else "",
        "same_group_said": said,
    }


def learning(curves: Curves, history: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "loss": "",
        "changed": "",
        "stopped": _STOPPED.get(history["stopped"], ""),
    }
    if curves.step:
        shown["last_step"] = curves.step[-1]
        label = f"Loss, {curves.loss[0]:.3g} at first and {curves.loss[-1]:.3g} at last"
        behind = (curves.every_step, curves.every_loss)
        shown["loss"] = line_chart(label, curves.step, curves.loss, behind=behind)
        label = (
            f"Candidates replaced at a refresh, {curves.changed[0]:.3g} % at first and "
            f"{curves.changed[-1]:.3g} % at last"
        )
        shown["changed"] = line_chart(label, curves.step, curves.changed, from_zero=True, unit=" %")
        shown["loss_ends"] = (curves.loss[0], curves.loss[-1])
        shown["changed_ends"] = (curves.changed[0], curves.changed[-1])
    return shown


def times(stages: list[dict[str, Any]]) -> dict[str, Any]:
    end = max([stage["seconds"] for stage in stages] + [0.001])
    bars = [
        Bar(
            stage["name"],
            stage["seconds"],
            None,
            "other",
            f"{duration(stage['seconds'])} · {stage['peak']}",
        )
        for stage in stages
    ]
    label = "Time and memory of stages. " + " ".join(f"{bar.name}: {bar.text}." for bar in bars)
    return {
        "stages": stages,
        "total": duration(sum(stage["seconds"] for stage in stages)),
        "stage_chart": bar_chart(label, bars, end, ("0", duration(end))),
    }


def duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
