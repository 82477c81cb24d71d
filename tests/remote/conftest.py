"""A real S3 server: moto's, in a process of its own, asked over HTTP.

It is installed in an environment of its own (`make .venv-s3/.installed`), since its libraries need
an older python-dateutil than ours. `GSL_MOTO` names another Python that has it.
"""

import os
import re
import secrets
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from gsl_scale.config_file import make_config
from gsl_scale.store import Artifact, Draft, ShardPlan
from gsl_scale.store.nodes import write_rows
from tests.conftest import ROOT

SECRET = "a-secret-that-must-not-be-seen"
SMALL = {
    "data": {"source": "sklearn", "name": "wine"},
    "learner": {"kind": "mlp", "context": "none"},
    "knn": {"k": 5},
    "train": {"steps": 4, "refresh": 2},
    "evaluate": {"seeds": 1, "epochs": 5, "cluster_runs": 1},
    "run": {"shards": 2, "threads": 1},
}


def moto_python() -> str:
    python = os.environ.get("GSL_MOTO", str(ROOT / ".venv-s3" / "bin" / "python"))
    if not Path(python).exists():
        pytest.skip("no S3 server: make .venv-s3/.installed, or set GSL_MOTO")
    return python


def _without_python(environ: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in environ.items() if not key.startswith("PYTHON")}


class Server:
    def __init__(self, log: Path, **environ: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.log = log
        self.url = f"http://127.0.0.1:{self.port}"
        with log.open("wb") as file:
            self.process = subprocess.Popen(
                [moto_python(), "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)],
                stdout=file, stderr=file, env=_without_python(os.environ) | environ,
            )  # fmt: skip
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{self.url}/moto-api/", timeout=5)
                return
            except urllib.error.HTTPError:
                return
            except OSError:
                assert self.process.poll() is None, log.read_text()
                time.sleep(0.1)
        raise AssertionError("moto's server did not answer")

    def ask(self, method: str, path: str, body: bytes | None = None, service: str = "s3") -> bytes:
        """Without a signature, which moto checks only if it is told to."""
        scope = f"AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/{service}/aws4_request"
        headers = {"Authorization": f"{scope}, SignedHeaders=host, Signature=0"}
        if service == "s3":
            headers["Content-Type"] = "application/octet-stream"
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return bytes(answer.read())

    def iam(self, action: str, **values: str) -> bytes:
        fields = {"Action": action, "Version": "2010-05-08", **values}
        return self.ask("POST", "/", urllib.parse.urlencode(fields).encode(), "iam")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


class Store:
    """A bucket, and what a test wants to know about it."""

    def __init__(self, server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.server = server
        self.bucket = f"bucket-{secrets.token_hex(4)}"
        server.ask("PUT", f"/{self.bucket}")
        self.uri = f"s3://{self.bucket}/runs/small"
        self._caches, self._patch = cache, monkeypatch
        for key, value in {
            "AWS_ENDPOINT_URL": server.url, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "someone",
            "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_EC2_METADATA_DISABLED": "true",
        }.items():  # fmt: skip
            monkeypatch.setenv(key, value)
        self.another_machine()

    def another_machine(self) -> Path:
        """Which has nothing yet."""
        folder = self._caches / secrets.token_hex(4)
        self._patch.setenv("GSL_CACHE", str(folder))
        return folder

    def objects(self, below: str = "") -> list[str]:
        query = urllib.parse.urlencode({"list-type": 2, "prefix": f"runs/small/{below}"})
        found = self.server.ask("GET", f"/{self.bucket}?{query}").decode()
        names = [key.removeprefix("runs/small/") for key in re.findall("<Key>(.*?)</Key>", found)]
        return [name for name in names if name and not name.endswith("/")]

    def get(self, key: str) -> bytes:
        return self.server.ask("GET", f"/{self.bucket}/runs/small/{key}")

    def put(self, key: str, body: bytes) -> None:
        self.server.ask("PUT", f"/{self.bucket}/runs/small/{key}", body)

    def delete(self, key: str) -> None:
        self.server.ask("DELETE", f"/{self.bucket}/runs/small/{key}")

    def flip(self, key: str) -> None:
        """One bit of an object."""
        body = bytearray(self.get(key))
        body[len(body) // 2] ^= 1
        self.put(key, bytes(body))

    def asked(self, method: str, part: str) -> int:
        """How often the server was asked so, by what it wrote down."""
        lines = self.server.log.read_text().splitlines()
        return sum(f"{method} /{self.bucket}/" in line and part in line for line in lines)


class Wire:
    """A network between us and the server that can be cut."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._serve()

    def cut(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        for one in (self._listener, *self._open):
            one.close()
        self._open.clear()

    def mend(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._serve()

    def _serve(self) -> None:
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                near, _ = listener.accept()
                far = socket.create_connection(("127.0.0.1", self._to))
            except OSError:
                return
            self._open += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while block := source.recv(1 << 16):
                sink.sendall(block)
        except OSError:
            pass
        for one in (source, sink):
            one.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("moto") / "log")
    yield server
    server.stop()


@pytest.fixture
def store(server, tmp_path, monkeypatch):
    return Store(server, tmp_path / "caches", monkeypatch)


@pytest.fixture
def small():
    return make_config(SMALL)


def write_version(folder: Path, version: int) -> None:
    """An artifact whose every number is its version, in three parts."""
    plan = ShardPlan(9, 3)
    with Draft(folder, "data", plan, {"version": version}) as draft:
        rows = np.full((9, 2), version, np.float32)
        draft.add_table("features", write_rows(draft, "features", [rows], 2, "float32"))
        draft.publish()


def version_of(folder: Path) -> int:
    """The one version that a whole artifact holds."""
    artifact = Artifact.open(folder)
    artifact.verify()
    version = artifact.manifest.config["version"]
    assert (artifact.nodes().read() == version).all()
    return int(version)
