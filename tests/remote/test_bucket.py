"""Objects, and what a store says when it does not do as asked."""

import json
import re

import pytest

from gsl_scale.errors import CorruptError, NetworkError, StorageError
from gsl_scale.remote import bucket as module
from gsl_scale.remote.bucket import Bucket
from gsl_scale.remote.parts import digest_of_bytes
from tests.remote.conftest import SECRET, Server, Wire


def test_what_is_written_is_read(store, tmp_path):
    bucket = Bucket(store.uri)
    assert bucket.read("a") is None and bucket.entries() == {} and bucket.list("x") == {}
    bucket.write("a", b"one")
    bucket.write("x/y/b.gz", b"two")  # no compression by its ending
    assert store.get("x/y/b.gz") == b"two"
    assert bucket.entries() == {"a": True, "x": False}
    assert [(name, one.bytes) for name, one in bucket.list("x").items()] == [("y/b.gz", 3)]
    assert bucket.download("a", tmp_path / "a") == digest_of_bytes(b"one") == bucket.digest("a")
    assert (tmp_path / "a").read_bytes() == b"one"
    bucket.remove("x")
    bucket.remove("a")
    bucket.remove("a")
    assert store.objects() == []


def test_a_file_that_is_not_what_was_written_is_not_uploaded(store, tmp_path):
    (tmp_path / "a").write_bytes(b"spoiled")
    with pytest.raises(CorruptError, match="is damaged"):
        Bucket(store.uri).upload(tmp_path / "a", "a", digest_of_bytes(b"whole"))
    assert store.objects() == []


def test_a_large_file_in_several_blocks(store, tmp_path):
    body = bytes(range(256)) * (
        140 << 10
    )  # 35 MiB: more than a block, and more than a part of S3's
    (tmp_path / "a").write_bytes(body)
    bucket = Bucket(store.uri)
    bucket.upload(tmp_path / "a", "a", digest_of_bytes(body))
    assert bucket.download("a", tmp_path / "b") == digest_of_bytes(body)
    assert (tmp_path / "b").read_bytes() == body


def test_a_bucket_that_is_not_there(store, gsl, tmp_path):
    Bucket(store.uri).require()
    with pytest.raises(StorageError, match="There is no bucket nowhere-at-all at http://127"):
        Bucket("s3://nowhere-at-all/runs").require()
    for words in (("status",), ("show",), ("run", "configs/quickstart.yaml", "--out")):
        answer = gsl(*words, "s3://nowhere-at-all/runs")
        assert answer.code == 2 and "aws s3 mb s3://nowhere-at-all" in answer.err


def test_a_network_that_is_gone_and_comes_back(store, server, monkeypatch):
    monkeypatch.setattr(module, "_WAITS", (0.1, 0.1))
    wire = Wire(server.port)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{wire.port}")
    bucket = Bucket(store.uri)
    bucket.write("a", b"one")
    wire.cut()
    for act in (lambda: bucket.read("a"), lambda: bucket.write("a", b"two"), bucket.require):
        with pytest.raises(NetworkError, match="cannot be reached") as caught:
            act()
        assert SECRET not in str(caught.value)
    wire.mend()
    assert bucket.read("a") == b"one"


@pytest.fixture
def strict(tmp_path):
    """A server that asks who is there, and knows one user."""
    server = Server(tmp_path / "log", INITIAL_NO_AUTH_ACTION_COUNT="4")
    server.ask("PUT", "/guarded")
    server.iam("CreateUser", UserName="ann")
    allowed = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
    server.iam("PutUserPolicy", UserName="ann", PolicyName="all", PolicyDocument=policy)
    made = server.iam("CreateAccessKey", UserName="ann").decode()
    key, secret = (re.search(f"<{n}>(.*?)</", made)[1] for n in ("AccessKeyId", "SecretAccessKey"))
    yield server, key, secret
    server.stop()


def test_credentials_that_are_refused(strict, store, monkeypatch, gsl):
    server, key, secret = strict
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    Bucket("s3://guarded/runs").require()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody-we-know")
    with pytest.raises(StorageError, match="the store refuses us"):
        Bucket("s3://guarded/runs").require()
    answer = gsl("run", "configs/quickstart.yaml", "--out", "s3://guarded/runs")
    assert answer.code == 2 and "AWS_ACCESS_KEY_ID" in answer.err
    assert secret not in answer.out + answer.err and "nobody-we-know" not in answer.out + answer.err
