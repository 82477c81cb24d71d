"""Artifacts on their way: there whole or not at all, and never two versions mixed."""

import subprocess
import sys
import time

import pytest

from gsl_scale.errors import CorruptError, NetworkError
from gsl_scale.remote import bucket as bucket_module
from gsl_scale.remote.run import RemoteRun
from tests.conftest import ROOT
from tests.remote.conftest import Wire, version_of, write_version


def push(uri, version=None):
    with RemoteRun(uri).written() as run:
        run.fetch(["data"])
        if version is not None:
            write_version(run.folder / "data", version)
        run.push("data")
    return run


def fetch(uri):
    run = RemoteRun(uri)
    run.look()
    run.fetch(run.names)
    return run


def test_what_is_pushed_is_fetched_elsewhere(store):
    push(store.uri, 1)
    store.another_machine()
    assert version_of(fetch(store.uri).folder / "data") == 1
    push(store.uri, 2)
    assert (
        len({key.split("/")[1] for key in store.objects("data/")}) == 2
    )  # one version, one manifest
    assert version_of(fetch(store.uri).folder / "data") == 2


def test_what_is_there_is_not_moved_again(store):
    push(store.uri, 1)
    assert store.asked("PUT", "part-") == 3
    push(store.uri)
    assert store.asked("GET", "part-") == 0
    store.another_machine()
    fetch(store.uri)
    before = store.get("data/manifest.json")
    time.sleep(1)  # which is as exactly as a manifest tells when it was made
    push(store.uri, 1)  # the same content, made again
    assert store.get("data/manifest.json") != before
    fetch(store.uri)
    assert store.asked("PUT", "part-") == store.asked("GET", "part-") == 3


DIE = """
import os, sys
from pathlib import Path
from gsl_scale.remote.bucket import Bucket
from gsl_scale.remote.run import RemoteRun
from tests.remote.conftest import write_version

write = Bucket.write
def die(self, name, body):
    if name.endswith("manifest.json"):
        os.kill(os.getpid(), 9)
    write(self, name, body)

Bucket.write = die
with RemoteRun(sys.argv[1]).written() as run:
    write_version(run.folder / "data", int(sys.argv[2]))
    run.push("data")
"""


def die_before_the_manifest(uri, version):
    words = [sys.executable, "-c", DIE, uri, str(version)]
    assert subprocess.run(words, cwd=ROOT, check=False).returncode == -9


def test_killed_between_parts_and_manifest(store, gsl):
    die_before_the_manifest(store.uri, 1)
    assert len(store.objects("data/")) == 3
    assert gsl("show", store.uri).code == 2  # nobody sees half of it
    push(store.uri)
    assert version_of(fetch(store.uri).folder / "data") == 1
    assert store.asked("PUT", "part-") == 3
    die_before_the_manifest(store.uri, 2)
    here = RemoteRun(store.uri).folder
    store.another_machine()
    assert version_of(fetch(store.uri).folder / "data") == 1  # the old one is still whole
    assert version_of(here / "data") == 2  # and the new one is not lost


def test_a_version_that_is_replaced_while_it_is_read(store):
    push(store.uri, 1)
    store.another_machine()
    reader = RemoteRun(store.uri)
    reader.look()
    store.another_machine()
    push(store.uri, 2)
    reader.fetch(["data"])
    assert version_of(reader.folder / "data") == 2


def test_a_flipped_bit_is_found(store, gsl):
    push(store.uri, 1)
    store.flip(next(key for key in store.objects("data/") if "part-00001" in key))
    store.another_machine()
    with pytest.raises(CorruptError, match="features/part-00001.npy: its SHA-256") as caught:
        fetch(store.uri)
    assert store.uri in str(caught.value)
    assert not (RemoteRun(store.uri).folder / "data").exists()
    answer = gsl("check", f"{store.uri}/data")
    assert answer.code == 1 and "3 parts, 1 damaged" in answer.out
    with RemoteRun(store.uri).written() as run:  # as --from does
        write_version(run.folder / "data", 1)
        run.push("data", again=True)
    assert gsl("check", f"{store.uri}/data").code == 0


def test_a_part_that_is_missing(store):
    push(store.uri, 1)
    part = next(key for key in store.objects("data/") if "part-00002" in key)
    store.delete(part)
    store.another_machine()
    with pytest.raises(CorruptError, match="part-00002.npy: missing"):
        fetch(store.uri)


def test_a_manifest_that_was_meddled_with(store):
    push(store.uri, 1)
    store.put("data/manifest.json", store.get("data/manifest.json").replace(b"npy", b"NPY"))
    store.another_machine()
    with pytest.raises(CorruptError, match="checksum"):
        fetch(store.uri)


def test_the_network_goes_while_uploading(store, server, monkeypatch):
    monkeypatch.setattr(bucket_module, "_WAITS", (0.1,))
    wire = Wire(server.port)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{wire.port}")
    with pytest.raises(NetworkError, match="kept here"), RemoteRun(store.uri).written() as run:
        write_version(run.folder / "data", 5)
        wire.cut()
        run.push("data")
    assert version_of(run.folder / "data") == 5
    wire.mend()
    push(store.uri)
    store.another_machine()
    assert version_of(fetch(store.uri).folder / "data") == 5


def test_whoever_wrote_last_is_right(store, monkeypatch):
    machines = store.another_machine(), store.another_machine()
    for version, machine in enumerate((0, 1, 0), start=1):
        monkeypatch.setenv("GSL_CACHE", str(machines[machine]))
        push(store.uri, version)
    monkeypatch.setenv("GSL_CACHE", str(machines[1]))
    assert version_of(fetch(store.uri).folder / "data") == 3
