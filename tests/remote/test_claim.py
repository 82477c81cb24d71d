"""Two writers of one run, on two machines."""

import os
import signal
import subprocess
import sys
import time

import pytest

from gsl_scale.errors import ClaimedError, FencedError
from gsl_scale.remote import claim as module
from gsl_scale.remote.bucket import Bucket
from gsl_scale.remote.claim import Claim
from gsl_scale.remote.run import RemoteRun
from tests.conftest import ROOT
from tests.remote.conftest import write_version

HOLD = """
import sys, time
from gsl_scale.remote.run import RemoteRun
with RemoteRun(sys.argv[1]).written():
    print("held", flush=True)
    time.sleep(600)
"""


def hold(uri):
    """Another process that writes the run; from the cache that is set now."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, uri], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    return process


def test_the_second_is_refused_until_the_first_ends(store):
    with RemoteRun(store.uri).written() as first:
        store.another_machine()
        with pytest.raises(ClaimedError, match=f"written by process {os.getpid()} on"):
            RemoteRun(store.uri).written().__enter__()
        write_version(first.folder / "data", 1)
        first.push("data")
    with RemoteRun(store.uri).written() as second:
        assert second.names == ["data"]
    assert store.objects(".claim") == []


def test_a_killed_writer_is_followed_at_once_here_and_after_a_while_elsewhere(store, monkeypatch):
    process = hold(store.uri)
    with pytest.raises(ClaimedError):
        RemoteRun(store.uri).written().__enter__()
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(store.objects(".claim")) == 1
    with RemoteRun(store.uri).written():
        pass
    process = hold(store.uri)
    process.send_signal(signal.SIGKILL)
    process.wait()
    store.another_machine()
    with pytest.raises(ClaimedError, match="ends by itself after 180 s"):
        RemoteRun(store.uri).written().__enter__()
    monkeypatch.setattr(module, "_DEAD_SECONDS", 1.0)
    time.sleep(3)
    with RemoteRun(store.uri).written():
        assert len(store.objects(".claim")) == 1


def test_a_claim_is_renewed_while_its_writer_lives(store, monkeypatch):
    monkeypatch.setattr(module, "_RENEWED_SECONDS", 0.2)
    monkeypatch.setattr(module, "_DEAD_SECONDS", 2.0)
    bucket = Bucket(store.uri)
    with Claim(bucket, "one") as first:
        time.sleep(4)
        with pytest.raises(ClaimedError):
            Claim(bucket, "other").__enter__()
        first.require_held()


def test_who_was_overtaken_publishes_nothing(store):
    with RemoteRun(store.uri).written() as run:
        write_version(run.folder / "data", 1)
        for key in store.objects(".claim"):  # as a later writer does who takes it for dead
            Bucket(store.uri).remove(key)
        with pytest.raises(FencedError, match="taken over"):
            run.push("data")
    assert "data/manifest.json" not in store.objects()
