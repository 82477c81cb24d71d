"""What the README does, from a clean start: a cluster here, a job on it, a node lost, the graph read.

Everything in processes of its own, with real raylets and real `ray job submit`. One cluster for
all tests of this file, since a start takes twenty seconds.
"""

import json
import os
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


@pytest.fixture(scope="module")
def cluster(environ):
    started = command(environ, "cluster", "start", "--nodes", 2, "--cpus", 2, "--port", 0, "--json")
    assert started.returncode == 0, started.stderr
    session = Path(
        json.loads((Path(environ["HOME"]) / ".gsl_scale/cluster/nodes.json").read_text())[
            "temporary"
        ]
    )
    assert session.stat().st_mode & 0o077 == 0
    yield json.loads(started.stdout)
    stopped = command(environ, "cluster", "stop")
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


def test_a_job_survives_the_loss_of_a_node(cluster, environ, tmp_path):
    out, config = tmp_path / "run", ROOT / "configs/quickstart.yaml"
    submitted = command(environ, "submit", config, "--out", out, "--no-wait", "--json", *SMALL)
    assert submitted.returncode == 0, submitted.stderr
    job = json.loads(submitted.stdout)["job"]

    twice = command(environ, "submit", config, "--out", out, "--no-wait", *SMALL)
    assert twice.returncode == 2
    assert f"is being written by job {job}" in twice.stderr

    lost = kill_a_node_that_trains(environ, out)
    followed = command(environ, "jobs", "logs", job, "--follow")
    assert followed.returncode == 0, followed.stdout + followed.stderr
    assert "was lost; going on from step" in followed.stdout
    assert not nodes(environ)[lost]["alive"]
    edges = pq.read_table(out / "graph/edges").to_pandas()
    assert set(edges.columns) == {"src", "dst", "weight"} and edges.src.nunique() >= 170
    assert (out / "report.html").exists()

    again = command(environ, "submit", config, "--out", out, *SMALL)
    assert again.returncode == 0 and "already complete; nothing to do" in again.stdout
    assert job in command(environ, "jobs", "list").stdout
    assert "gone" in command(environ, "cluster", "status").stdout
    session = json.loads((Path(environ["HOME"]) / ".gsl_scale/cluster/nodes.json").read_text())
    assert not_in(token(environ), tmp_path, Path(environ["HOME"]), Path(session["temporary"]))


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
    """The very line of `jobs/knn.py`, in a checkout."""
    for part in ("gsl_scale", "jobs", "configs"):
        left_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / part, tmp_path / "checkout" / part, ignore=left_out)
    access = {
        "RAY_AUTH_MODE": "token", "RAY_API_SERVER_ADDRESS": cluster["address"],
        "RAY_AUTH_TOKEN_PATH": str(Path(environ["HOME"]) / ".gsl_scale/cluster/token"),
    }  # fmt: skip
    ray = [sys.executable, "-m", "ray.scripts.scripts", "job", "submit", "--working-dir", ".", "--"]
    job = [
        "python",
        "-m",
        "jobs.knn",
        "--config",
        "configs/quickstart.yaml",
        "--out",
        str(tmp_path / "run"),
    ]
    done = subprocess.run(
        [*ray, *job, "--set", "run.threads=1"], env=environ | access, cwd=tmp_path / "checkout",
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "config.yaml",
        "data",
        "knn",
    ]


def test_exit_code_resume_and_stop(cluster, environ, tmp_path):
    """A job that ends half way through, goes on there, and is stopped."""
    words = ("--out", tmp_path / "run", "--set", "knn.k=500", "--set", "run.threads=1")
    begun = command(environ, "submit", ROOT / "configs/wine.yaml", *words, "--no-wait", "--json")
    assert begun.returncode == 0, begun.stderr
    job = json.loads(begun.stdout)["job"]
    failed = command(environ, "jobs", "logs", job, "--follow")
    assert failed.returncode == 2 and "knn.k is 500" in failed.stdout
    resumed = command(environ, "jobs", "resume", job, "--no-wait", "--json")
    assert "goes on with what is there: ingest" in resumed.stderr
    again = json.loads(resumed.stdout)["job"]
    assert f"{again}: stopped; go on with" in command(environ, "jobs", "stop", again).stdout
