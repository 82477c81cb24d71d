import numpy as np
import pytest

from gsl_scale.config_data import SyntheticData
from gsl_scale.config_file import make_config
from gsl_scale.ingest.synthetic import open_synthetic
from gsl_scale.ingest.write import write_data
from gsl_scale.store import Artifact


def synthetic(**more):
    return SyntheticData(source="synthetic", **{"nodes": 3000, "communities": 5, **more})


def all_edges(data):
    blocks = list(open_synthetic(data).edges())
    return (np.concatenate([getattr(block, end) for block in blocks]) for end in ("src", "dst"))


def test_the_same_seed_gives_the_same_graph(tmp_path):
    def content(name, seed):
        data = synthetic(seed=seed).model_dump()
        return write_data(make_config({"data": data}), tmp_path / name).content

    assert content("a", 1) == content("b", 1) != content("c", 2)


def test_mixing_decides_how_many_edges_stay_at_home():
    for mixing, expected in [(0.0, 1.0), (1.0, 0.2), (0.5, 0.6)]:
        src, dst = all_edges(synthetic(mixing=mixing))
        assert np.mean(src % 5 == dst % 5) == pytest.approx(expected, abs=0.02)


def test_degree_and_skew():
    src, dst = all_edges(synthetic(degree=8.0))
    assert len(src) / 3000 == pytest.approx(8.0, rel=0.05)
    flat = np.bincount(dst, minlength=3000).max()
    _, skewed = all_edges(synthetic(degree=8.0, skew=0.7))
    assert np.bincount(skewed, minlength=3000).max() > 5 * flat
    assert dst.min() >= 0 and dst.max() < 3000


def test_features_tell_communities_apart():
    source = open_synthetic(synthetic(noise=0.5))
    rows = np.concatenate(list(source.features()))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    same = np.arange(3000)[:, None] % 5 == np.arange(3000) % 5
    similarity = unit @ unit.T
    assert similarity[same].mean() > similarity[~same].mean() + 0.5


def test_several_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("gsl_scale.ingest.synthetic.BLOCK_ROWS", 700)
    write_data(
        make_config({"data": synthetic().model_dump(), "run": {"shards": 4}}), tmp_path / "s"
    )
    store = Artifact.open(tmp_path / "s")
    assert store.nodes().shape == (3000, 64)
    assert store.columns("labels")["label"].to_pylist() == [i % 5 for i in range(3000)]


def test_no_graph():
    assert open_synthetic(synthetic(degree=0)).edges is None


@pytest.mark.parametrize(("classes", "expected"), [(2, 2), (5, 5), (9, 5)])
def test_communities_may_share_labels(classes, expected):
    source = open_synthetic(synthetic(classes=classes))
    labels = np.concatenate([table["label"].to_numpy() for table in source.labels()])
    assert (labels == np.arange(3000) % 5 % expected).all()
    assert source.facts["classes"] == [str(label) for label in range(expected)]
