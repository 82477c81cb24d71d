import pytest

from gsl_scale.config import Knn, Run, depends_on, digest
from gsl_scale.config_data import DATA_BLOCKS, Split
from gsl_scale.config_file import make_config
from gsl_scale.errors import ConfigError

DIGITS = {"source": "sklearn", "name": "digits"}


def test_where_it_runs_never_changes_a_digest():
    def stage_digest(**run: object) -> str:
        config = make_config({"data": DIGITS, "run": run})
        return digest(depends_on(config, ["data", "knn"]))

    assert stage_digest() == stage_digest(shards=4, threads=1, batch=7)


def test_a_digest_covers_exactly_the_stage_s_keys():
    def digests(k: int, name: str) -> tuple[str, str]:
        config = make_config({"data": {"source": "sklearn", "name": name}, "knn": {"k": k}})
        return digest(depends_on(config, ["data"])), digest(depends_on(config, ["knn"]))

    assert digests(5, "wine")[0] == digests(6, "wine")[0]
    assert digests(5, "wine")[1] != digests(6, "wine")[1]
    assert digests(5, "wine")[1] == digests(5, "digits")[1]
    assert digests(5, "wine")[0] != digests(5, "digits")[0]


def test_digests_follow_content_not_place():
    def keys(path: str) -> dict[str, object]:
        return depends_on(make_config({"data": {"source": "tables", "features": path}}), ["data"])

    assert keys("/a/x.csv") == keys("/b/x.csv")


@pytest.mark.parametrize("block", [*DATA_BLOCKS.values(), Split, Knn, Run])
def test_every_key_says_what_it_means(block):
    silent = [key for key, field in block.model_fields.items() if not field.description]
    assert [key for key in silent if key != "source"] == []


def test_a_later_key_is_in_a_digest_only_if_it_is_set():
    plain = make_config({"data": {"source": "sklearn", "name": "wine"}})
    found = depends_on(plain, ["data", "evaluate"])
    assert "data.perturb" not in found and "evaluate.references" not in found
    for override in ("data.perturb.mask_features=0.5", "evaluate.references=false"):
        changed = make_config({"data": {"source": "sklearn", "name": "wine"}}, [override])
        assert depends_on(changed, ["data", "evaluate"]) != found


def test_edges_that_are_no_candidates_cannot_be_kept():
    with pytest.raises(ConfigError, match="needs knn.keep_given=true\\n"):
        make_config(
            {"data": DIGITS},
            ["export.given=kept", "knn.keep_given=false"],
        )
