import numpy as np
import pytest
import scipy.sparse as sp

from gsl_scale.config_file import make_config
from gsl_scale.ingest.write import write_data
from gsl_scale.store import Artifact
from gsl_scale.train.places import kept_places, places
from tests.links import linked

NODES = 400


@pytest.fixture
def rows_and_links(tmp_path):
    """Features without any order; even nodes are joined to even ones, odd to odd, but for a few."""
    tree = {"data": {"source": "synthetic", "nodes": NODES, "features": 12, "communities": 1}}
    write_data(make_config(tree), tmp_path / "data")
    rng = np.random.default_rng(0)
    src, far = rng.integers(0, NODES, (2, 12 * NODES))
    dst = np.where(rng.random(len(src)) < 0.02, far, 2 * (far // 2) + src % 2)
    graph = sp.coo_matrix((np.ones(len(src), np.float32), (src, dst)), (NODES, NODES)).tocsr()
    links = linked((graph + graph.T + sp.eye(NODES)).tocsr().astype(np.float32), tmp_path / "graph")
    return Artifact.open(tmp_path / "data").nodes(), links


def test_the_first_cut_follows_the_links_and_halves_the_nodes(rows_and_links):
    cell = places(*rows_and_links)
    upper = cell >= (cell.max() + 1) // 2
    assert upper.sum() == NODES // 2
    odd = np.arange(NODES) % 2 == 1
    assert max((upper == odd).mean(), (upper != odd).mean()) > 0.9
    assert np.bincount(cell).max() <= 2  # cut in half down to the last pair


def test_they_are_kept_and_found_anew_where_the_file_is_of_no_use(rows_and_links, tmp_path):
    path = tmp_path / "places.npy"
    found = kept_places(path, *rows_and_links)
    np.save(path, found[::-1])
    assert (kept_places(path, *rows_and_links) == found[::-1]).all()
    for useless in (b"", b"not numpy", path.read_bytes()[:-1]):
        path.write_bytes(useless)
        assert (kept_places(path, *rows_and_links) == found).all()
    np.save(path, found[1:])
    assert (kept_places(path, *rows_and_links) == found).all()
