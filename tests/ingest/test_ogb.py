"""The loader on small datasets in OGB's own layout, text (arxiv) and binary (papers100M)."""

import numpy as np
import pandas as pd
import pytest

from gsl_scale.config_file import make_config
from gsl_scale.errors import InputError
from gsl_scale.ingest.write import write_data
from gsl_scale.store import Artifact

NODES = 30
RNG = np.random.default_rng(0)
X = RNG.random((NODES, 5)).astype(np.float32)
EDGES = RNG.integers(0, NODES, (2, 80))
LABELS = RNG.integers(0, 4, NODES)
SPLIT = {"train": np.arange(10), "valid": np.arange(10, 15), "test": np.arange(15, NODES)}


def write_csv(path, array):
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(array).to_csv(path, index=False, header=False)


def write_layout(root, name, binary):
    folder = root / name.replace("-", "_")
    if binary:
        (folder / "raw").mkdir(parents=True)
        np.savez(folder / "raw/data.npz", edge_index=EDGES, node_feat=X, num_nodes_list=[NODES])
        labels = np.where(np.arange(NODES) == 3, np.nan, LABELS)  # most of papers100M has none
        np.savez(folder / "raw/node-label.npz", node_label=labels[:, None])
    else:
        write_csv(folder / "raw/node-feat.csv.gz", X)
        write_csv(folder / "raw/edge.csv.gz", EDGES.T)
        write_csv(folder / "raw/node-label.csv.gz", LABELS)
        write_csv(folder / "raw/num-node-list.csv.gz", [NODES])
        write_csv(folder / "raw/num-edge-list.csv.gz", [EDGES.shape[1]])
    for part, nodes in SPLIT.items():
        write_csv(folder / f"split/time/{part}.csv.gz", nodes)
    return folder


def config(root, name, **more):
    return make_config({"data": {"source": "ogb", "name": name, "root": str(root), **more}})


@pytest.mark.parametrize(("name", "binary"), [("ogbn-arxiv", False), ("ogbn-papers100M", True)])
def test_both_layouts_give_the_same_artifact(tmp_path, monkeypatch, name, binary):
    monkeypatch.setattr("gsl_scale.ingest.arrays.BLOCK_ROWS", 7)  # many blocks
    write_layout(tmp_path, name, binary)
    write_data(config(tmp_path, name, download=False), tmp_path / "s")
    store = Artifact.open(tmp_path / "s")
    assert np.allclose(store.nodes().read(), X)
    edges = store.edges().read()
    expected = {(u, v) for u, v in EDGES.T.tolist() if u != v}
    expected |= {(v, u) for u, v in expected}
    assert set(zip(edges.src.tolist(), edges.dst.tolist(), strict=True)) == expected
    labels = store.columns("labels")
    assert labels["label"].null_count == (1 if binary else 0)
    assert labels["split"].to_pylist() == ["train"] * 10 + ["valid"] * 5 + ["test"] * 15


def test_the_ogb_package_reads_the_same_layout(tmp_path, monkeypatch):
    """That our small copy is OGB's format is decided by OGB's own loader."""
    from ogb.nodeproppred import NodePropPredDataset

    write_layout(tmp_path, "ogbn-arxiv", binary=False)
    write_csv(tmp_path / "ogbn_arxiv/raw/node_year.csv.gz", np.full(NODES, 2020))
    (tmp_path / "ogbn_arxiv/RELEASE_v1.txt").touch()
    (tmp_path / "ogbn_arxiv/processed").mkdir()
    dataset = NodePropPredDataset("ogbn-arxiv", root=str(tmp_path))
    graph, labels = dataset[0]
    assert np.allclose(graph["node_feat"], X)
    assert (graph["edge_index"] == EDGES).all()
    assert len(labels) == NODES


def test_a_dataset_ogb_does_not_have(tmp_path):
    with pytest.raises(InputError, match="ogbn-arxivv is not an OGB dataset"):
        write_data(config(tmp_path, "ogbn-arxivv"), tmp_path / "s")
    with pytest.raises(InputError, match="one kind of node"):
        write_data(config(tmp_path, "ogbn-mag"), tmp_path / "s")


def test_no_network_and_nothing_on_disk(tmp_path):
    with pytest.raises(InputError, match=r"data.download is false"):
        write_data(config(tmp_path, "ogbn-arxiv", download=False), tmp_path / "s")


def test_a_download_that_fails(tmp_path, monkeypatch):
    def refuse(url, folder, log):
        raise OSError("network unreachable")

    monkeypatch.setattr("ogb.utils.url.download_url", refuse)
    with pytest.raises(InputError, match="could not be downloaded: network unreachable"):
        write_data(config(tmp_path, "ogbn-arxiv"), tmp_path / "s")


def test_incomplete_layout(tmp_path):
    folder = write_layout(tmp_path, "ogbn-arxiv", binary=False)
    (folder / "raw/edge.csv.gz").unlink()
    with pytest.raises(InputError, match=r"edge.csv.gz does not exist"):
        write_data(config(tmp_path, "ogbn-arxiv", download=False), tmp_path / "s")
