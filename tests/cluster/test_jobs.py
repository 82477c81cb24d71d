"""What is decided before a job is launched, and what is said of a cluster that is not there."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

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


class Head(BaseHTTPRequestHandler):
    """Knows one job, which runs, and has no log."""

    def do_GET(self) -> None:
        known = {"/api/version": {"version": "4", "ray_version": "2.60.0", "ray_commit": ""}}
        job = {"type": "SUBMISSION", "status": "RUNNING", "entrypoint": "python"}
        body = json.dumps(known.get(self.path, job)).encode()
        self.send_response(404 if self.path.endswith("/tail") else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        pass


@pytest.fixture
def head():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Head)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.server_close()


def test_a_cluster_that_is_lost_while_a_job_is_followed(head, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    jobs = Jobs(Access(address=f"http://127.0.0.1:{head.server_port}"))
    monkeypatch.setattr("gsl_scale.cluster.jobs.time.sleep", lambda _: lose(head))
    with pytest.raises(ClusterError, match="cannot be reached"):
        jobs.follow("job", print)
    with pytest.raises(ClusterError, match="cannot be reached"):
        jobs.list()


def lose(server) -> None:
    server.shutdown()
    server.server_close()


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
