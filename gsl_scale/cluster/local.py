"""A real cluster on this machine: a head and several raylets, each with resources of its own.

Every node is a `ray start --block` process in a session of its own. What was started stands in
`nodes.json`, and only that is ever stopped. All of it asks for a token, which is made here, in a
file for you alone; the dashboard listens on loopback.

    FOLDER/cluster.yaml   address and token file, for `gsl-scale submit`
    FOLDER/nodes.json     the processes
    FOLDER/token          for you alone
    FOLDER/NODE.log       what `ray start` said
"""

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from gsl_scale.cluster.access import FILE_NAME, Access, make_token, read_access
from gsl_scale.cluster.http import get_json
from gsl_scale.errors import ClusterError, CorruptError

_MARK = "GSL_CLUSTER_ID"  # in the environment of everything that belongs to a cluster
_OBJECT_STORE = 200 << 20  # bytes per node; what passes between our workers lies in files
_SECONDS_TO_START, _SECONDS_TO_STOP = 90.0, 5.0
_AGENTS = ("ray::IDLE", "ray::DashboardAgent", "ray::RuntimeEnvAgent")


class Node(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    pid: int
    started: float  # tells it from a later process with the same id
    cpus: int


class Nodes(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    mark: str
    gcs: str
    temporary: str
    nodes: list[Node]


def default_folder() -> Path:
    return Path(os.environ.get("GSL_CLUSTER", "~/.gsl_scale/cluster")).expanduser()


def start(folder: Path, num_nodes: int, cpus: int, dashboard_port: int) -> Access:
    """A head without CPUs, so that only drivers run there, and nodes with `cpus` each."""
    if (folder / "nodes.json").exists() and any(map(_is_alive, _read(folder).nodes)):
        raise ClusterError(
            f"A cluster is already running from {folder}.",
            next_step="Use it (gsl-scale submit), or stop it first: gsl-scale cluster stop",
        )
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    token_file = folder / "token"
    token_file.unlink(missing_ok=True)
    make_token(token_file)
    dashboard = _free_port(dashboard_port)
    port = _free_port()
    # Short, because Ray puts sockets there, whose paths may have 107 bytes; and a folder around
    # Ray's own, which Ray opens to everyone.
    temporary = tempfile.mkdtemp(prefix="gsl-ray-")
    state = Nodes(mark=secrets.token_hex(8), gcs=_address(port), temporary=temporary, nodes=[])
    access = Access(address=f"http://127.0.0.1:{dashboard}", token_file=str(token_file))
    head = ["--head", f"--port={port}", "--num-cpus=0", "--include-dashboard=true",
            "--dashboard-host=127.0.0.1", f"--dashboard-port={dashboard}",
            f"--ray-client-server-port={_free_port()}", f"--temp-dir={temporary}/ray"]  # fmt: skip
    try:
        state = _add(folder, state, "head", head, 0)
        _wait(folder, access, 1)
        for number in range(1, num_nodes + 1):
            join = [f"--address={state.gcs}", f"--num-cpus={cpus}"]
            state = _add(folder, state, f"node-{number}", join, cpus)
            _wait(folder, access, 1 + number)
    except BaseException:
        stop(folder)
        raise
    text = {"address": access.address, "token_file": "token"}
    (folder / FILE_NAME).write_text(yaml.safe_dump(text, sort_keys=False))
    return access


def _add(folder: Path, state: Nodes, name: str, arguments: list[str], cpus: int) -> Nodes:
    """Start a node, and write it down before anything else happens."""
    environ = os.environ | {
        _MARK: state.mark,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(folder.absolute() / "token"),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_health_check_period_ms": "1000",  # a raylet that is gone is missed after 5 of them
        # `python` of a submitted job is the first on the head's path.
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
    }
    environ.pop("RAY_AUTH_TOKEN", None)
    environ.pop("RAY_ADDRESS", None)
    command = [
        sys.executable, "-m", "ray.scripts.scripts", "start", "--block", *arguments,
        f"--node-name={name}", f"--object-store-memory={_OBJECT_STORE}",
        f"--dashboard-agent-listen-port={_free_port()}", "--disable-usage-stats",
    ]  # fmt: skip
    with (folder / f"{name}.log").open("w") as log:
        process = subprocess.Popen(
            command, env=environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True, cwd=state.temporary,
        )  # fmt: skip
    began = psutil.Process(process.pid).create_time()
    node = Node(name=name, pid=process.pid, started=began, cpus=cpus)
    state = state.model_copy(update={"nodes": [*state.nodes, node]})
    (folder / "nodes.json").write_text(state.model_dump_json(indent=1))
    return state


def _wait(folder: Path, access: Access, number: int) -> None:
    """Until that many nodes are there."""
    limit = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < limit:
        for node in _read(folder).nodes:
            if not _is_alive(node):
                said = (folder / f"{node.name}.log").read_text(errors="replace").splitlines()
                raise ClusterError(f"{node.name} did not start.", "\n".join(said[-5:]))
        try:
            found = get_json(access, "/api/v0/nodes")
            alive = [n for n in found["data"]["result"]["result"] if n["state"] == "ALIVE"]
            if len(alive) >= number:
                return
        except (ClusterError, KeyError, TypeError):
            pass
        time.sleep(0.3)
    raise ClusterError(
        f"The cluster did not start in {_SECONDS_TO_START:.0f} seconds.",
        next_step=f"See the logs in {folder}.",
    )


def stop(folder: Path) -> int:
    """End what `start` started, and nothing else; how many nodes were still running."""
    if not (folder / "nodes.json").exists():
        raise ClusterError(
            f"No cluster was started from {folder}.",
            next_step="Start one: gsl-scale cluster start",
        )
    state = _read(folder)
    running = [node for node in state.nodes if _is_alive(node)]
    for node in reversed(running):  # the head last
        psutil.Process(node.pid).terminate()
    limit = time.monotonic() + _SECONDS_TO_STOP
    while time.monotonic() < limit and any(_belonging(state.mark)):
        time.sleep(0.2)
    left = list(_belonging(state.mark))
    for process in left:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(left, timeout=_SECONDS_TO_STOP)
    shutil.rmtree(state.temporary, ignore_errors=True)
    for name in ("nodes.json", FILE_NAME, "token"):
        (folder / name).unlink(missing_ok=True)
    return len(running)


def status(folder: Path) -> dict[str, Any]:
    """Each node: its raylet's process, and what runs there."""
    if not (folder / "nodes.json").exists():
        return {"running": False, "nodes": []}
    state = _read(folder)
    nodes = []
    for node in state.nodes:
        raylet = _raylet(node)
        nodes.append(
            {
                "node": node.name,
                "cpus": node.cpus,
                "alive": raylet is not None,
                "raylet": raylet.pid if raylet else None,
                "runs": _runs(raylet) if raylet else [],
            }
        )
    found = {"running": any(node["alive"] for node in nodes), "gcs": state.gcs, "nodes": nodes}
    if (folder / FILE_NAME).exists():
        found |= {"address": read_access(folder / FILE_NAME).address, "token_file": "token"}
        found["token_file"] = str(folder / "token")
    return found


def _read(folder: Path) -> Nodes:
    path = folder / "nodes.json"
    try:
        return Nodes.model_validate_json(path.read_bytes())
    except (OSError, ValidationError, json.JSONDecodeError):
        raise CorruptError(
            f"{path} is not what gsl-scale wrote.",
            "It says which processes belong to the cluster.",
            "End them yourself, then remove the file.",
        ) from None


def _is_alive(node: Node) -> bool:
    try:
        process = psutil.Process(node.pid)
        same = abs(process.create_time() - node.started) < 1.0
        return same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _belonging(mark: str) -> Iterator[psutil.Process]:
    """Every process that was started by the nodes, however indirectly."""
    for process in psutil.process_iter():
        try:
            if process.environ().get(_MARK) == mark and process.pid != os.getpid():
                yield process
        except (psutil.Error, OSError):
            continue


def _raylet(node: Node) -> psutil.Process | None:
    if not _is_alive(node):
        return None
    try:
        for child in psutil.Process(node.pid).children():
            if child.name() == "raylet" and child.status() != psutil.STATUS_ZOMBIE:
                return child
    except psutil.Error:
        pass
    return None


def _runs(raylet: psutil.Process) -> list[str]:
    found = []
    try:
        for child in raylet.children():
            title = (child.cmdline() or [""])[0]
            if title.startswith("ray::") and not title.startswith(_AGENTS):
                found.append(f"{title.removeprefix('ray::').strip()} ({child.pid})")
    except psutil.Error:
        pass
    return found


def _address(port: int) -> str:
    return f"127.0.0.1:{port}"


def _free_port(wanted: int = 0) -> int:
    """That port if nobody listens there, or any."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise ClusterError("This machine has no free port.")
