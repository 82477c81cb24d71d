"""A training that is killed on one machine and goes on on another."""

import json
import signal
import subprocess
import sys
import time

import pytest
import yaml

from gsl_scale.remote import checkpoint
from gsl_scale.remote.bucket import Bucket
from gsl_scale.store import Artifact
from tests.conftest import ROOT
from tests.remote.conftest import SMALL

STEPS = 1000  # seconds, so that copies are made before it ends
LONG = SMALL | {"train": {"steps": STEPS, "refresh": 20, "patience": STEPS}}
UNTIL = ("--until", "train")


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "long.yaml"
    path.write_text(yaml.safe_dump(LONG))
    return path


@pytest.fixture
def killed(store, config):
    """The step of the checkpoint that a killed training left in the store."""
    words = [sys.executable, "-m", "gsl_scale", "run", config, "--out", store.uri, *UNTIL]
    process = subprocess.Popen(words, cwd=ROOT, stderr=subprocess.DEVNULL)
    while ".checkpoint/latest.json" not in store.objects():
        assert process.poll() is None, "it ended before its checkpoint was seen"
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    for key in store.objects(".claim"):
        Bucket(store.uri).remove(key)  # three minutes later
    left = checkpoint.left_in(Bucket(store.uri))
    assert 0 < left.step < STEPS
    return left


def attempts(cache):
    (journal,) = cache.glob("*/train.jsonl")
    lines = map(json.loads, journal.read_text().splitlines())
    return [line["step"] for line in lines if line["event"] == "attempt"]


def test_it_goes_on_where_it_was(store, gsl, config, killed, tmp_path):
    cache = store.another_machine()
    assert "partial" in gsl("status", store.uri).out
    ran = gsl("run", config, "--out", store.uri, *UNTIL)
    assert ran.code == 0, ran.err
    assert attempts(cache) == [0, killed.step]
    assert not store.objects(".checkpoint")
    assert gsl("run", config, "--out", tmp_path / "undisturbed", *UNTIL).code == 0
    (there,) = cache.glob("*/embeddings")
    same = Artifact.open(tmp_path / "undisturbed" / "embeddings").manifest.content
    assert Artifact.open(there).manifest.content == same


def test_a_damaged_one_is_not_used(store, gsl, config, killed):
    store.flip(next(key for key in store.objects(".checkpoint/") if key.endswith("safetensors")))
    cache = store.another_machine()
    ran = gsl("run", config, "--out", store.uri, *UNTIL, "--set", "train.steps=20")
    assert ran.code == 0 and "damaged and is not used" in ran.err
    assert attempts(cache) == [0, 0]
