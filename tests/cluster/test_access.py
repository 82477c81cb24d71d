"""Cluster files: data, and no secrets."""

import pytest

from gsl_scale.cluster.access import find_access, make_default_token, read_access
from gsl_scale.errors import ClusterError, ConfigError, GslError


@pytest.fixture
def file(tmp_path, monkeypatch):
    for name in ("RAY_API_SERVER_ADDRESS", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "token").write_text("abc123\n")
    (tmp_path / "token").chmod(0o600)
    path = tmp_path / "cluster.yaml"
    path.write_text("address: http://127.0.0.1:8265\ntoken_file: token\n")
    return path


def test_the_token_is_read_from_beside_the_file(file):
    access = read_access(file)
    assert access.headers == {"Authorization": "Bearer abc123"}
    assert "abc123" not in repr(access)


def test_which_cluster(file, tmp_path, monkeypatch):
    assert find_access(None, None, tmp_path).address == "http://127.0.0.1:8265"
    assert find_access("http://10.0.0.1:1", None, tmp_path).address == "http://10.0.0.1:1"
    monkeypatch.setenv("RAY_API_SERVER_ADDRESS", "http://10.0.0.2:1")
    assert find_access(None, None, tmp_path).address == "http://10.0.0.2:1"
    assert find_access(None, file, tmp_path).address == "http://127.0.0.1:8265"
    monkeypatch.delenv("RAY_API_SERVER_ADDRESS")
    with pytest.raises(ClusterError, match="no cluster to go to"):
        find_access(None, None, tmp_path / "empty")


def test_a_token_that_others_can_read(file, tmp_path):
    (tmp_path / "token").chmod(0o644)
    with pytest.raises(ClusterError, match="chmod 600"):
        _ = read_access(file).headers


@pytest.mark.parametrize(
    "text",
    ["", "- 1", "address: 8265", "address: http://user:pass@host", "token: abc\naddress: http://h",
     "address: !!python/object/apply:os.getcwd []", "address: file:///etc/passwd", "a: [", "\0"],
)  # fmt: skip
def test_other_files_are_refused(file, text):
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_access(file)
    assert "pass@" not in str(caught.value)


def test_a_new_token_is_for_its_owner_alone_and_never_replaced(file, tmp_path):
    make_default_token()
    made = tmp_path / ".ray/auth_token"
    first = made.read_text()
    assert len(first) == 64 and made.stat().st_mode & 0o777 == 0o600
    make_default_token()
    assert made.read_text() == first


def test_no_token_there(file, tmp_path):
    (tmp_path / "token").unlink()
    with pytest.raises(GslError, match="cannot be read"):
        _ = read_access(file).headers
