import pytest

from gsl_scale.errors import StorageError
from gsl_scale.remote.uri import is_uri, parse


def test_paths_are_no_uris():
    assert not any(map(is_uri, ("runs/small", "/runs/small", "./s3", "C:/runs", "a:b")))
    assert is_uri("s3://bucket/runs") and is_uri("s3:/bucket/runs") and is_uri("ftp://host/x")


def test_scheme_bucket_and_path():
    assert parse("s3://bucket/runs/big/") == ("s3", "bucket", "/runs/big")
    assert parse("s3:/bucket/runs") == ("s3", "bucket", "/runs")  # what Path leaves of it
    assert parse("gs://my.bucket-1") == ("gs", "my.bucket-1", "")


@pytest.mark.parametrize(
    "uri",
    ["ftp://host/x", "s3://", "s3:///path", "s3://bucket/../x", "s3://bucket/a//b", "s3://bucket/a?b=c",
     "s3://bucket/a#b", "s3://bucket/\n", "s3://BUCKET/x", "file:///tmp/x"],
)  # fmt: skip
def test_what_cannot_be_meant(uri):
    with pytest.raises(StorageError, match="Expected"):
        parse(uri)


def test_a_secret_is_refused_and_not_repeated():
    with pytest.raises(StorageError, match="in the environment") as caught:
        parse("s3://someone:hunter2@bucket/runs")
    assert "hunter2" not in str(caught.value)
