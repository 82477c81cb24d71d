from pathlib import Path

import pytest

from gsl_scale.config_file import load_config, make_config
from gsl_scale.errors import ConfigError

DIGITS = {"source": "sklearn", "name": "digits"}


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "run.yaml"
    path.write_text(text)
    return path


def refusal(tmp_path: Path, text: str, *overrides: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(write(tmp_path, text), overrides)
    return str(caught.value)


@pytest.mark.parametrize("path", sorted(Path("configs").glob("*.yaml")), ids=lambda p: p.stem)
def test_shipped_configs_load(path, monkeypatch):
    monkeypatch.setenv("GSL_DATA", "/data")
    load_config(path)


def test_defaults_and_overrides(tmp_path):
    path = write(tmp_path, "data: {source: sklearn, name: digits}\nknn: {k: 5}\n")
    assert load_config(path).knn.k == 5
    assert load_config(path, ["knn.k=7", "run.shards=3"]).run.shards == 3
    assert load_config(path, ["data.name=wine"]).data.name == "wine"


def test_config_is_frozen():
    config = make_config({"data": DIGITS})
    with pytest.raises(ValueError, match="frozen"):
        config.knn.k = 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("data: {source: sklearn, name: digits}\nknn:\n  kk: 5\n", "run.yaml:3: knn.kk: unknown key; did you mean knn.k?"),
        ("data: {source: tables, featuers: a.csv}", "did you mean data.features?"),
        ("data: {source: tables}", "data.features: missing"),
        ("data: {source: planetod}", "did you mean planetoid?"),
        ("data: {name: digits}", "missing data.source; one of: sklearn"),
        ("data: {source: sklearn, name: digits}\nknns: {}", "did you mean knn?"),
        ("data: {source: sklearn, name: digits}\nzebra: 1", "Known here: data, learner, knn"),
        ("data: {source: sklearn, name: iris}", "data.name: Input should be 'wine', 'cancer' or 'digits' (got 'iris')"),
        ("data: {source: sklearn, name: digits}\nknn: {k: 0}", "knn.k: must be 'auto' or at least 1 (got 0)"),
        ("data: {source: sklearn, name: digits}\nknn: {k: many}", "knn.k: Input should be a valid integer"),
        ("data: {source: sklearn, name: digits}\nrun: {shards: 0}", "run.shards: must be 'auto' or at least 1"),
        ("data: {source: sklearn, name: digits}\nknn: {k: 5}\nknn: {k: 6}", "run.yaml:3: knn is set twice (first at line 2)"),
        ("data: [unclosed", "run.yaml:1: not valid YAML"),
        ("- a\n- b", "expected keys such as 'data:' at the top, found a list"),
        ("", "data: missing"),
        ("data: {source: tables, features: $NO_SUCH_VARIABLE/a.csv}", "NO_SUCH_VARIABLE, which is not set"),
        ("data: {source: tables, features: a.csv, split: {tran: 3}}", "did you mean data.split.train?"),
        ("data: !!python/object/apply:os.system ['true']", "not valid YAML"),
    ],
)  # fmt: skip
def test_refusals_name_file_line_and_key(tmp_path, text, expected):
    assert expected in refusal(tmp_path, text)


@pytest.mark.parametrize("override", ["knn.k", "=3", "knn..k=3", "knn.k.z=3"])
def test_bad_overrides(tmp_path, override):
    text = "data: {source: sklearn, name: digits}\nknn: {k: 5}\n"
    assert "--set" in refusal(tmp_path, text, override)


def test_missing_and_binary_files(tmp_path):
    with pytest.raises(ConfigError, match="No such file"):
        load_config(tmp_path / "none.yaml")
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(ConfigError, match="cannot be read as a config"):
        load_config(tmp_path / "b.yaml")


def test_paths_are_relative_to_the_file_and_survive_a_round_trip(tmp_path):
    config = load_config(write(tmp_path, "data: {source: tables, features: sub/x.csv}"))
    assert config.data.features == str(tmp_path / "sub/x.csv")
    again = tmp_path / "elsewhere" / "again.yaml"
    again.parent.mkdir()
    again.write_text(config.to_yaml())
    assert load_config(again) == config


def test_a_key_of_a_block_that_is_not_there_yet(tmp_path):
    path = write(tmp_path, "data: {source: sklearn, name: digits, perturb: null}\n")
    config = load_config(path, ["data.perturb.drop_features=0.2"])
    assert config.data.perturb.drop_features == 0.2
    assert "is a value" in refusal(tmp_path, "data: {source: sklearn, name: wine}", "data.name.x=1")
