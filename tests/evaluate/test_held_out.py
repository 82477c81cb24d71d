import numpy as np
import pytest
import scipy.sparse as sp

from gsl_scale.config_file import make_config
from gsl_scale.errors import InputError
from gsl_scale.evaluate.held_out import _split, held_out, likelier, told
from gsl_scale.ingest.write import write_data
from gsl_scale.preset import Shape, resolve
from gsl_scale.store import Artifact
from gsl_scale.store.edges import Edges

COMMUNITIES = {
    "data": {"source": "synthetic", "nodes": 120, "features": 12, "communities": 3, "degree": 6.0,
             "noise": 0.5, "mixing": 0.1},
    "train": {"steps": 4, "refresh": 2},
    "contrast": {"hidden": 16, "representation": 8, "projection": 8},
}  # fmt: skip


def edges(*pairs):
    src, dst = np.array(pairs).T
    return Edges(src, dst, np.ones(len(src), np.float32))


def test_neighbours_tell_what_is_like_them():
    hidden = np.array([[1.0], [1.0], [-1.0], [-1.0]], np.float32)
    among_alike = sp.csr_matrix(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]))
    assert told(among_alike, hidden) == pytest.approx(1)
    assert told(among_alike, hidden + 7) == pytest.approx(1)  # only differences count
    across = sp.csr_matrix(np.array([[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]]))
    assert told(across, hidden) == pytest.approx(-1)
    half = sp.csr_matrix(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]))
    assert told(half, hidden) == pytest.approx(np.sqrt(0.5))  # two nodes are told nothing
    assert told(sp.csr_matrix((4, 4)), hidden) == 0
    assert told(among_alike, np.ones_like(hidden)) == 0


def test_a_walker_finds_hidden_edges():
    ring = sp.csr_matrix(np.roll(np.eye(8), 1, axis=1) + np.roll(np.eye(8), -1, axis=1))
    on, off = likelier(ring, edges((0, 1), (4, 5))), likelier(ring, edges((0, 4)))
    assert on == pytest.approx(np.log(0.85 * 0.5 * 8 + 0.15))
    assert off == pytest.approx(np.log(0.15))
    complete = sp.csr_matrix(np.ones((8, 8)))
    assert likelier(complete, edges((0, 1), (0, 4))) == pytest.approx(0)  # chance


def test_a_tenth_of_the_edges_is_hidden_in_both_directions():
    rng = np.random.default_rng(0)
    matrix = sp.triu(sp.random_array((50, 50), density=0.2, rng=rng), 1)
    matrix = (matrix + matrix.T).tocoo()
    every = Edges(matrix.row.astype(np.int64), matrix.col.astype(np.int64), matrix.data)
    hidden, kept = _split(every, seed=0)
    assert len(hidden.src) == np.ceil(matrix.nnz / 2 / 10)
    both = {*zip(hidden.src, hidden.dst, strict=True)} | {*zip(kept.src, kept.dst, strict=True)}
    assert len(both) == matrix.nnz // 2 == len(hidden.src) + len(kept.src)


def test_communities_are_told_and_noise_is_not(tmp_path):
    found = {}
    for noise in (0.5, 30.0):
        tree = COMMUNITIES | {"data": COMMUNITIES["data"] | {"noise": noise}}
        folder = tmp_path / str(noise)
        write_data(make_config(tree), folder)
        data = Artifact.open(folder)
        config = resolve(make_config(tree), Shape.of(data))
        found[noise] = held_out(config, data)
        assert found[noise] == held_out(config, data)
    assert found[0.5]["features"] > found[30.0]["features"] + 0.3
    assert found[0.5]["edges"] > found[30.0]["edges"]


def test_one_feature_cannot_be_halved(tmp_path):
    tree = {"data": {"source": "synthetic", "nodes": 30, "features": 1, "communities": 2}}
    write_data(make_config(tree), tmp_path / "data")
    with pytest.raises(InputError, match="one feature"):
        held_out(make_config(tree), Artifact.open(tmp_path / "data"))
