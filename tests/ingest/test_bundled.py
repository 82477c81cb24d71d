import pytest

from gsl_scale.config_file import make_config
from gsl_scale.ingest import open_source

SIZES = {"wine": (178, 13, 10, 20), "cancer": (569, 30, 10, 20), "digits": (1797, 64, 50, 100)}


@pytest.mark.parametrize("name", SIZES)
def test_the_paper_s_sizes_and_splits(name):
    nodes, features, train, valid = SIZES[name]
    source = open_source(make_config({"data": {"source": "sklearn", "name": name}}).data)
    assert (source.num_nodes, source.num_features) == (nodes, features)
    (labels,) = source.labels()
    split = labels["split"].to_pylist()
    counts = [split.count(part) for part in ("train", "valid", "test")]
    assert counts == [train, valid, nodes - train - valid]


def test_the_split_follows_its_seed():
    def split(seed: int) -> list[str]:
        data = {"source": "sklearn", "name": "wine", "split_seed": seed}
        (labels,) = open_source(make_config({"data": data}).data).labels()
        return labels["split"].to_pylist()

    assert split(1) == split(1) != split(2)
