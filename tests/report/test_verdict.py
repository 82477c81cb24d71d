import pytest

from gsl_scale.evaluate.cluster import MEASURES
from gsl_scale.report.verdict import judge, judge_clusters


def metrics(learned, best, std=1.0):
    rows = {"GCN, learned graph": learned, "GCN, given graph": best, "MLP, no graph": best - 10}
    return {"classification": {name: {"mean": m, "std": std} for name, m in rows.items()}}


@pytest.mark.parametrize(
    ("learned", "best", "answer", "short"),
    [
        (90.0, 85.0, "yes", "Yes, by 5.0 points"),
        (85.0, 90.0, "no", "No, 5.0 points worse"),
        (90.0, 89.0, "same", "No clear difference"),  # within sqrt(2), the spread of the two
        (89.0, 90.0, "same", "No clear difference"),
    ],
)
def test_the_answer_follows_the_numbers(learned, best, answer, short):
    verdict = judge(metrics(learned, best), "split", 5, 1000, 140)
    assert (verdict.answer, verdict.short) == (answer, short)
    assert f"{learned:.1f} ± 1.0 % of the 1,000 test nodes" in verdict.sentence
    assert "a GCN on the given graph" in verdict.sentence  # not the MLP: the best one
    assert "140 labelled nodes" in verdict.caveats[0]


def test_one_training_is_no_proof():
    verdict = judge(metrics(95.0, 80.0, std=0.0), "split", 1, 1000, 140)
    assert verdict.answer == "same"
    assert "no spread" in verdict.sentence


@pytest.mark.parametrize(
    ("found", "labels", "words"),
    [
        ({"graphs": {}}, "none", "No labels were given, so this page cannot say"),
        (None, "none", "No labels were given, so this page cannot say"),
        (None, "split", "The run stopped before its evaluation"),
        ({"graphs": {}}, "unsplit", "no nodes to train and to test a classifier on"),
    ],
)
def test_what_cannot_be_said_is_not_said(found, labels, words):
    verdict = judge(found, labels, 5, 0, 0)
    assert verdict.answer == "unknown"
    assert words in verdict.sentence


def test_clusters_may_be_worse():
    ours = dict(zip(MEASURES, (50.0, 60.0, 70.0, 60.4), strict=True))
    clustering = {
        "K-means, representations": {m: {"mean": v, "std": 0.5} for m, v in ours.items()},
        "K-means, features": {m: {"mean": 60.0, "std": 0.5} for m in MEASURES},
    }
    said = judge_clusters(clustering)
    assert "better in F1; worse in C-ACC; not clearly apart in NMI, ARI" in said


def test_clusters_against_what_needs_no_learning():
    clustering = {
        name: {m: {"mean": mean, "std": 0.5} for m in MEASURES}
        for name, mean in (
            ("K-means, representations", 60.0),
            ("K-means, smoothed representations", 65.0),
            ("K-means, features", 50.0),
            ("K-means, smoothed features", 70.0),
        )
    }
    said = judge_clusters(clustering)
    assert "clusters of the bare features: better in C-ACC" in said
    assert "clusters of the smoothed features: worse in C-ACC" in said


def test_a_diffusion_that_wins_is_named():
    scores = metrics(80.0, 78.0)
    scores["classification"]["GCN, given graph diffused (PPR)"] = {"mean": 84.0, "std": 1.0}
    verdict = judge(scores, "split", 5, 1000, 140)
    assert verdict.answer == "no"
    assert "a GCN on the given graph diffused by PageRank" in verdict.sentence
