"""What is decided before a job is launched, without a cluster."""

import pytest

from gsl_scale.cluster.access import Access
from gsl_scale.cluster.jobs import Jobs, _environment, _refuse_stale, _states
from gsl_scale.cluster.probe import Facts
from gsl_scale.errors import ClusterError, StaleArtifactError


def facts(**states: str) -> Facts:
    return Facts(
        [],
        1,
        [
            {"stage": stage, "state": state, "why": "k was 1, is 2"}
            for stage, state in states.items()
        ],
    )


def test_only_the_stages_that_are_asked_for():
    found = facts(ingest="complete", knn="partial", train="stale")
    assert _states(found, "knn") == {"ingest": "complete", "knn": "partial"}
    _refuse_stale(found, "knn")
    with pytest.raises(StaleArtifactError, match="train is stale: k was 1, is 2"):
        _refuse_stale(found, None)


def test_a_cluster_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ClusterError, match="http://127.0.0.1:9 cannot be reached"):
        Jobs(Access(address="http://127.0.0.1:9"))


def test_a_job_is_told_where_the_store_is_and_no_secret(monkeypatch):
    monkeypatch.setenv("GSL_CACHE", "/shared/cache")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://store:9000")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    assert "secret" not in str(_environment("s3://bucket/run"))
    assert _environment("s3://bucket/run").items() >= {
        "GSL_CACHE": "/shared/cache", "AWS_ENDPOINT_URL": "http://store:9000",
    }.items()  # fmt: skip
    assert _environment("/shared/run") == {"PYTHONUNBUFFERED": "1"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--bench", "knn"), "--bench knn is not run as a job"),
        (("--bench", "scaling --repeats 1", "--until", "knn"), "--bench has no stage knn"),
        (("--bench", "scaling", "--out", "s3://bucket/b"), "cannot write to s3://bucket/b"),
    ],
)
def test_a_benchmark_that_is_no_job(gsl, words, told):
    done = gsl("submit", "configs/scaling.yaml", *words)
    assert done.code == 2
    assert told in done.err
