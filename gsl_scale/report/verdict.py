"""Is the learned graph better? Said in words, from the numbers alone, whichever way they fall."""

import math
from dataclasses import dataclass, field
from typing import Any

from gsl_scale.evaluate.cluster import MEASURES

LEARNED = "GCN, learned graph"
_NAMES = {
    "GCN, given graph": "a GCN on the given graph",
    "GCN, kNN graph": "a GCN on the kNN graph of the features",
    "GCN, given graph diffused (PPR)": "a GCN on the given graph diffused by PageRank",
    "GCN, given graph diffused (heat)": "a GCN on the given graph diffused by heat",
    "GCN, kNN graph diffused (PPR)": "a GCN on the kNN graph diffused by PageRank",
    "GCN, kNN graph diffused (heat)": "a GCN on the kNN graph diffused by heat",
    "MLP, no graph": "an MLP that sees no graph",
    "logistic regression, no graph": "logistic regression without a graph",
}
_CLUSTERED = {  # like against like
    "bare": ("K-means, representations", "K-means, features"),
    "smoothed": ("K-means, smoothed representations", "K-means, smoothed features"),
}


@dataclass(frozen=True)
class Verdict:
    """`answer` is yes, no, same or unknown."""

    answer: str
    short: str
    brief: str
    sentence: str
    caveats: list[str] = field(default_factory=list)


def judge(
    metrics: dict[str, Any] | None, labels: str, seeds: int, num_test: int, num_train: int
) -> Verdict:
    """`labels` is none, unsplit (labels without nodes to train and to test on) or split."""
    if labels == "none":
        return Verdict(
            "unknown",
            "Cannot be said",
            "No labels were given to judge it by.",
            "No labels were given, so this page cannot say whether the graph is better. The "
            "figures below need no labels; they say how the graph changed, not that it improved.",
        )
    if metrics is None:
        return Verdict(
            "unknown",
            "Not evaluated yet",
            "The run stopped before its evaluation.",
            "The run stopped before its evaluation. To have the learned graph compared with the "
            "baselines, run the same command without --until, or gsl-scale evaluate.",
        )
    if "classification" not in metrics:
        return Verdict(
            "unknown",
            "Cannot be said",
            "There are labels, but no nodes to train and to test on.",
            "There are labels, but no nodes to train and to test a classifier on, so this page "
            "cannot say whether the graph is better. What the labels do tell is how much of the "
            "edge weight joins nodes of the same label, below.",
        )
    return _compared(metrics["classification"], seeds, num_test, num_train)


def _compared(scores: dict[str, Any], seeds: int, num_test: int, num_train: int) -> Verdict:
    learned = scores[LEARNED]
    name, best = max(
        ((name, score) for name, score in scores.items() if name != LEARNED),
        key=lambda row: row[1]["mean"],
    )
    ahead = learned["mean"] - best["mean"]
    spread = math.hypot(learned["std"], best["std"])
    baseline = _NAMES.get(name, name)
    numbers = (
        f"A GCN on the learned graph gets {learned['mean']:.1f} ± {learned['std']:.1f} % of the "
        f"{num_test:,} test nodes right; the best of the baselines, {baseline}, "
        f"{best['mean']:.1f} ± {best['std']:.1f} %."
    )
    brief = (
        f"A classifier on it is right for {learned['mean']:.1f} % of test nodes; on the best "
        f"baseline, for {best['mean']:.1f} %."
    )
    by = f"{abs(ahead):.1f} points"
    caveats = [
        f"± is the standard deviation over {seeds} trainings of the classifier; the graph was "
        f"learned once, and there is one split, with {num_train:,} labelled nodes to train on. "
        "Another split or seed can turn a small difference around."
    ]
    if seeds == 1:
        short = "Too early to say"
        sentence = f"{numbers} With one training of each there is no spread to compare {by} with."
        return Verdict(
            "same", short, brief, sentence, ["Set evaluate.seeds to 5 or more.", *caveats]
        )
    if abs(ahead) <= spread:
        sentence = (
            f"{numbers} The difference of {by} lies within the spread of repeated trainings "
            f"({spread:.1f}), so this run does not show that the learned graph is better."
        )
        return Verdict("same", "No clear difference", brief, sentence, caveats)
    beyond = f"which is beyond the spread of repeated trainings ({spread:.1f})"
    if ahead > 0:
        sentence = f"{numbers} That is {by} more, {beyond}."
        return Verdict("yes", f"Yes, by {by}", brief, sentence, caveats)
    sentence = f"{numbers} The learned graph is worse by {by}, {beyond}."
    return Verdict("no", f"No, {by} worse", brief, sentence, caveats)


def judge_clusters(clustering: dict[str, Any]) -> str:
    """The representations learned with the graph against features: bare ones and (where that was
    computed) both smoothed, each over its own graph."""
    said = [
        _against(clustering[ours], clustering[theirs], kind)
        for kind, (ours, theirs) in _CLUSTERED.items()
        if ours in clustering and theirs in clustering
    ]
    return " ".join(said)


def _against(ours: dict[str, Any], theirs: dict[str, Any], kind: str) -> str:
    better: list[str] = []
    worse: list[str] = []
    for measure in MEASURES:
        ahead = ours[measure]["mean"] - theirs[measure]["mean"]
        if abs(ahead) > math.hypot(ours[measure]["std"], theirs[measure]["std"]):
            (better if ahead > 0 else worse).append(measure)
    unclear = [measure for measure in MEASURES if measure not in [*better, *worse]]
    said = [
        f"{word} in {', '.join(names)}"
        for word, names in (("better", better), ("worse", worse), ("not clearly apart", unclear))
        if names
    ]
    return f"Against clusters of the {kind} features: {'; '.join(said)}."
