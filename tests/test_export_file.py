"""Files as the programs they are meant for open them."""

import json
import subprocess
import sys

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gsl_scale import load_graph
from gsl_scale.extras import require_dgl

NAMES = [f"nö {i}" for i in range(60)]


@pytest.fixture
def exported(gsl, learned_run, tmp_path):
    def call(*arguments, out=None):
        path = tmp_path / (out or "graph")
        done = gsl("export", learned_run, "--out", path, "--json", *arguments)
        assert done.code == 0, done.err
        report = json.loads(done.out)
        assert report["files"][0] == str(path)
        assert not list(tmp_path.glob(".*"))
        return path, report

    return call


@pytest.fixture
def expected(learned_run):
    return load_graph(learned_run).to_scipy().toarray()


def named_matrix(frame):
    number = {name: i for i, name in enumerate(NAMES)}
    matrix = np.zeros((60, 60), np.float32)
    matrix[frame["src"].map(number), frame["dst"].map(number)] = frame["weight"]
    return matrix


def test_parquet_with_embeddings(exported, expected, learned_run):
    path, report = exported("--with", "embeddings", out="graph.parquet")
    assert (named_matrix(pd.read_parquet(path)) == expected).all()
    assert report["edges"] == np.count_nonzero(expected)
    nodes = pd.read_parquet(report["files"][1])
    assert nodes["id"].tolist() == NAMES
    assert (np.stack(nodes["embeddings"]) == load_graph(learned_run).embeddings).all()


def test_csv_with_embeddings(exported, expected, learned_run):
    path, report = exported("--with", "embeddings", "--with", "features", out="graph.csv")
    assert np.allclose(named_matrix(pd.read_csv(path)), expected, rtol=1e-6)
    nodes = pd.read_csv(report["files"][1], index_col="id")
    graph = load_graph(learned_run)
    width = graph.embeddings.shape[1]
    assert np.allclose(nodes.iloc[:, :width], graph.embeddings, rtol=1e-5)
    assert np.allclose(nodes.iloc[:, width:], graph.features, rtol=1e-5)


def test_npz(exported, expected, learned_run):
    path, _ = exported("--format", "npz", "--with", "embeddings")
    assert (sp.load_npz(path).toarray() == expected).all()
    with np.load(path) as arrays:
        assert arrays["ids"].tolist() == NAMES
        assert (arrays["embeddings"] == load_graph(learned_run).embeddings).all()


def test_graphml(exported, expected):
    path, report = exported("--format", "graphml")
    graph = nx.read_graphml(path)
    assert not graph.is_directed()
    assert list(graph.nodes) == NAMES
    assert (nx.to_numpy_array(graph, nodelist=NAMES, dtype=np.float32) == expected).all()
    assert report["edges"] == np.count_nonzero(expected) // 2


def test_dgl(exported, expected, learned_run):
    path, report = exported("--format", "dgl", "--with", "embeddings")
    dgl = require_dgl("this test")
    [graph], _ = dgl.load_graphs(str(path))
    assert (graph.adj_external(scipy_fmt="csr").astype(bool).toarray() == (expected > 0)).all()
    src, dst = (end.numpy() for end in graph.edges())
    assert (graph.edata["weight"].numpy() == expected[src, dst]).all()
    assert (graph.ndata["embeddings"].numpy() == load_graph(learned_run).embeddings).all()
    assert pd.read_parquet(report["files"][1])["id"].tolist() == NAMES


def test_pyg_as_another_process_loads_it(exported, expected, tmp_path):
    path, _ = exported("--format", "pyg", "--with", "features")
    code = (
        "import sys, torch, torch_geometric, numpy\n"
        "data = torch_geometric.data.Data.from_dict(torch.load(sys.argv[1], weights_only=True))\n"
        "assert data.validate() and data.num_nodes == 60 and data.x.shape == (60, 6)\n"
        "assert data.node_id[7] == 'nö 7'\n"
        "dense = torch.sparse_coo_tensor(data.edge_index, data.edge_weight, (60, 60)).to_dense()\n"
        "numpy.save(sys.argv[2], dense.numpy())"
    )
    subprocess.run([sys.executable, "-c", code, path, tmp_path / "dense.npy"], check=True)
    assert (np.load(tmp_path / "dense.npy") == expected).all()


@pytest.mark.parametrize("kind", ["parquet", "csv", "npz", "graphml", "dgl", "pyg"])
def test_top_k_and_threshold(exported, learned_run, kind):
    graph = load_graph(learned_run, top_k=2, threshold=0.3)
    assert 0 < graph.num_edges < load_graph(learned_run).num_edges
    _, report = exported("--format", kind, "--top-k", 2, "--threshold", 0.3)
    assert report["edges"] == graph.num_edges * (1 if kind == "graphml" else 2)


def test_export_can_be_ingested_again(gsl, exported, expected, learned_run, tmp_path):
    path, report = exported("--with", "features", out="graph.parquet")
    done = gsl("ingest", "--features", report["files"][1], "--edges", path, "--id-column", "id",
               "--set", "data.scale=none", "--out", tmp_path / "again")  # fmt: skip
    assert done.code == 0
    again = load_graph(tmp_path / "again")
    assert (again.to_scipy().toarray() == expected).all()
    assert again.ids.tolist() == NAMES
    assert (again.features == load_graph(learned_run).features).all()


def test_odd_ids_survive_graphml(gsl, tmp_path):
    odd = ['a<b & "c"', "tab\there", "'x'"]
    pd.DataFrame({"id": odd, "x": [1.0, 2, 3]}).to_parquet(tmp_path / "x.parquet")
    pd.DataFrame({"a": odd[:2], "b": odd[1:]}).to_parquet(tmp_path / "e.parquet")
    gsl("ingest", "--features", tmp_path / "x.parquet", "--edges", tmp_path / "e.parquet",
        "--out", tmp_path / "s")  # fmt: skip
    assert gsl("export", tmp_path / "s", "--out", tmp_path / "g.graphml").code == 0
    assert list(nx.read_graphml(tmp_path / "g.graphml").nodes) == odd


def test_mistakes(gsl, learned_run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments, expected in (
        ((), "Neither --format nor --out"),
        (("--format", "xlsx"), "There is no format 'xlsx'"),
        (("--out", "graph.xlsx"), ".xlsx, which is no kind of file"),
        (("--format", "graphml", "--with", "embeddings"), "GraphML has no place for vectors"),
        (("--format", "csv", "--with", "weights"), "no node table 'weights'"),
    ):
        done = gsl("export", learned_run, *arguments)
        assert done.code == 2
        assert expected in done.err
    assert list(tmp_path.iterdir()) == []
    assert gsl("export", learned_run, "--format", "npz").code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["graph.npz"]


def test_an_id_that_xml_cannot_hold(gsl, tmp_path):
    pd.DataFrame({"id": ["a", "b\x01"], "x": [1.0, 2]}).to_parquet(tmp_path / "x.parquet")
    pd.DataFrame({"a": ["a"], "b": ["b\x01"]}).to_parquet(tmp_path / "e.parquet")
    gsl("ingest", "--features", tmp_path / "x.parquet", "--edges", tmp_path / "e.parquet",
        "--out", tmp_path / "s")  # fmt: skip
    done = gsl("export", tmp_path / "s", "--out", tmp_path / "g.graphml")
    assert done.code == 2
    assert "holds a character that XML cannot" in done.err
    assert not (tmp_path / "g.graphml").exists()
