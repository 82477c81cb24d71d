"""What the README does, from a clean start: a cluster here, a job on it, a node lost, the graph read.

Everything in processes of its own, with real raylets and real `ray job submit`. One cluster for
all tests of this file, since a start takes twenty seconds; two of its three nodes are lost on the way.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest

from gsl_scale.cluster import local
from tests.conftest import ROOT

SMALL = [word for setting in (
    "run.workers=2", "run.threads=1", "data.name=wine", "train.steps=120", "train.refresh=10", "knn.k=8",
    "train.patience=100", "evaluate.seeds=1", "evaluate.epochs=20", "evaluate.cluster_runs=1",
    "learner.kind=mlp",
) for word in ("--set", setting)]  # fmt: skip


@pytest.fixture(scope="module")
def environ(tmp_path_factory):
    """A user's, with nothing of Ray in it."""
    home = tmp_path_factory.mktemp("home")
    (home / "configs").symlink_to(ROOT / "configs")
    clean = {
        key: value for key, value in os.environ.items() if not key.startswith(("RAY_", "GSL_"))
    }
    return clean | {
        "HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "OMP_NUM_THREADS": "1",
        "COLUMNS": "200",
    }


def command(environ, *words, within=150) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "gsl_scale", *map(str, words)],
        env=environ, cwd=environ["HOME"], capture_output=True, text=True, timeout=within, check=False,
    )  # fmt: skip


def read_me() -> list[list[str]]:
    """The lines of the README that start a cluster, and so on to its end."""
    text = (ROOT / "README.md").read_text().partition("## On a cluster")[2]
    block = text.partition("```bash\n")[2].partition("```")[0]
    return [shlex.split(line, comments=True) for line in block.splitlines()]


def as_told(environ, line, *more, **names) -> subprocess.CompletedProcess:
    """One of these lines; `names` are those that a reader fills in."""
    assert line[0] == "gsl-scale"
    return command(environ, *(names.get(word, word) for word in line[1:]), *more)


@pytest.fixture(scope="module")
def cluster(environ):
    first, last = read_me()[0], read_me()[-1]
    started = as_told(environ, first, "--nodes", 3, "--cpus", 2, "--port", 0, "--json")
    assert started.returncode == 0, started.stderr
    session = Path(
        json.loads((Path(environ["HOME"]) / ".gsl_scale/cluster/nodes.json").read_text())[
            "temporary"
        ]
    )
    assert session.stat().st_mode & 0o077 == 0
    yield json.loads(started.stdout)
    stopped = as_told(environ, last)
    assert stopped.returncode == 0, stopped.stderr
    assert not list(raylets(environ))
    assert not session.exists()


def raylets(environ):
    """Of this cluster, known by its token file."""
    for process in psutil.process_iter():
        try:
            if environ["HOME"] in process.environ().get("RAY_AUTH_TOKEN_PATH", ""):
                yield process
        except (psutil.Error, OSError):
            continue


def nodes(environ) -> dict[str, dict]:
    """As `gsl-scale cluster status` has it, without the seconds a process takes to start."""
    found = local.status(Path(environ["HOME"]) / ".gsl_scale/cluster")
    return {node["node"]: node for node in found["nodes"]}


def test_what_the_readme_does(cluster, environ):
    """Line by line, on smaller data and in fewer steps; the first and the last are the fixture's."""
    _, submit, jobs, status, kill, follow, show, _ = read_me()
    submitted = as_told(environ, submit, "--json", *SMALL)
    assert submitted.returncode == 0, submitted.stderr
    job = json.loads(submitted.stdout)["job"]
    out = Path(environ["HOME"]) / submit[submit.index("--out") + 1]

    twice = as_told(environ, submit, *SMALL)
    assert twice.returncode == 2
    assert f"is being written by job {job}" in twice.stderr
    assert job in as_told(environ, jobs).stdout

    assert kill == ["kill", "-9", "RAYLET"]
    lost = kill_a_node_that_trains(environ, out)
    followed = as_told(environ, follow, JOB=job)
    assert followed.returncode == 0, followed.stdout + followed.stderr
    assert "was lost; going on from step" in followed.stdout
    assert not nodes(environ)[lost]["alive"] and "gone" in as_told(environ, status).stdout
    shown = as_told(environ, show)
    assert shown.returncode == 0 and "178 nodes" in shown.stdout, shown.stdout + shown.stderr
    edges = pq.read_table(out / "graph/edges").to_pandas()
    assert set(edges.columns) == {"src", "dst", "weight"} and edges.src.nunique() >= 170
    assert (out / "report.html").exists()

    again = as_told(environ, submit, *SMALL)
    assert again.returncode == 0 and "already complete; nothing to do" in again.stdout
    session = json.loads((Path(environ["HOME"]) / ".gsl_scale/cluster/nodes.json").read_text())
    assert not_in(token(environ), Path(environ["HOME"]), Path(session["temporary"]))


def kill_a_node_that_trains(environ, out) -> str:
    """The raylet of a node with a worker that has come to a checkpoint."""
    limit = time.monotonic() + 120
    while time.monotonic() < limit:
        if any(out.glob(".embeddings.draft-*/scratch/checkpoint-*")):
            for name, node in nodes(environ).items():
                if node["alive"] and any("RayTrainWorker" in what for what in node["runs"]):
                    os.kill(node["raylet"], signal.SIGKILL)
                    return name
        time.sleep(0.2)
    raise TimeoutError("no training to disturb")


def token(environ) -> str:
    return (Path(environ["HOME"]) / ".gsl_scale/cluster/token").read_text()


def not_in(secret: str, *folders: Path) -> bool:
    """In no file but the one for it: no config, no manifest, no log."""
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    holders = [path for path in files if secret.encode() in path.read_bytes()]
    assert [path.name for path in holders] in ([], ["token"])
    assert all(path.stat().st_mode & 0o077 == 0 for path in holders)
    return True


def test_without_the_token_nothing_is_done(cluster, environ):
    address = cluster["address"]
    assert address.startswith("http://127.0.0.1:")
    for path in ("/api/version", "/api/jobs/", "/api/v0/nodes"):
        for headers, code in (({}, 401), ({"Authorization": "Bearer wrong"}, 403)):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(urllib.request.Request(address + path, headers=headers))
            assert refused.value.code == code
        asked = urllib.request.Request(
            address + path, headers={"Authorization": f"Bearer {token(environ)}"}
        )
        assert urllib.request.urlopen(asked).status == 200
    refused = command(environ, "jobs", "list", "--address", address)
    assert refused.returncode == 2 and "refuses the token" in refused.stderr


def test_ray_job_submit_as_the_entry_points_say(cluster, environ, tmp_path):
    """The very line of `jobs/train.py`, in a checkout; and a node is lost here too."""
    for part in ("gsl_scale", "jobs", "configs"):
        left_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / part, tmp_path / "checkout" / part, ignore=left_out)
    access = {
        "RAY_AUTH_MODE": "token", "RAY_API_SERVER_ADDRESS": cluster["address"],
        "RAY_AUTH_TOKEN_PATH": str(Path(environ["HOME"]) / ".gsl_scale/cluster/token"),
    }  # fmt: skip
    ray = [sys.executable, "-m", "ray.scripts.scripts", "job", "submit", "--working-dir", ".", "--"]
    out = tmp_path / "run"
    job = ["python", "-m", "jobs.train", "--config", "configs/quickstart.yaml", "--out", str(out)]
    with (tmp_path / "log").open("w") as log:
        submitted = subprocess.Popen(
            [*ray, *job, *SMALL], env=environ | access, cwd=tmp_path / "checkout",
            stdout=log, stderr=log,
        )  # fmt: skip
    kill_a_node_that_trains(environ, out)
    code, said = submitted.wait(150), (tmp_path / "log").read_text()
    assert code == 0, said
    assert "was lost; going on from step" in said
    assert (out / "embeddings/manifest.json").exists() and not (out / "graph").exists()


def test_exit_code_resume_and_stop(cluster, environ, tmp_path):
    """A job that ends half way through, goes on there, and is stopped."""
    words = ("--out", tmp_path / "run", "--set", "knn.k=500", "--set", "run.threads=1")
    failed = command(environ, "submit", ROOT / "configs/wine.yaml", *words)
    assert failed.returncode == 2 and "knn.k is 500" in failed.stdout, failed.stderr
    job = failed.stdout.split()[1]
    assert f"job {job}\ndashboard {cluster['address']}/#/jobs/{job}\n" in failed.stdout
    assert "knn.k is 500" in command(environ, "jobs", "logs", job).stdout
    resumed = command(environ, "jobs", "resume", job, "--no-wait", "--json")
    assert "goes on with what is there: ingest" in resumed.stderr
    again = json.loads(resumed.stdout)["job"]
    assert f"{again}: stopped; go on with" in command(environ, "jobs", "stop", again).stdout
