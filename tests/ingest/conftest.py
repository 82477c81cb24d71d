"""Ingest of files in a folder of their own, and its refusals."""

import pytest

from gsl_scale.config_file import make_config
from gsl_scale.errors import InputError
from gsl_scale.ingest.write import write_data
from gsl_scale.store import Artifact


@pytest.fixture
def ingest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(**data: object) -> Artifact:
        config = make_config({"data": {"source": "tables", **data}})
        write_data(config, tmp_path / "store")
        return Artifact.open(tmp_path / "store")

    return call


@pytest.fixture
def refusal(ingest, tmp_path):
    """The text of the refusal; and nothing may be left behind."""

    def call(**data: object) -> str:
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(InputError) as caught:
            ingest(**data)
        assert sorted(tmp_path.rglob("*")) == before
        assert caught.value.next_step or "." in caught.value.what
        return str(caught.value)

    return call
