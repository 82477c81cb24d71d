"""Round trips through the real libraries."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gsl_scale
from gsl_scale import load_graph
from gsl_scale.errors import CorruptError, NotAStoreError, StaleArtifactError, UserError
from gsl_scale.extras import require
from gsl_scale.store import Draft, EdgeShuffle, ShardPlan


def ingested(gsl, folder, text, *arguments):
    (folder / "x.csv").write_text(text)
    (folder / "e.csv").write_text("a,b,weight\n7,30,0.5\n30,9,0.25\n")
    done = gsl("ingest", "--features", folder / "x.csv", "--edges", folder / "e.csv",
               "--out", folder / "store", *arguments)  # fmt: skip
    assert done.code == 0
    return folder / "store"


@pytest.fixture
def graph(learned_run):
    return load_graph(learned_run)


@pytest.fixture
def dense(learned_run):
    """The same graph by the plainest way there is."""
    frame = pd.read_parquet(learned_run / "graph/edges")
    matrix = np.zeros((60, 60), np.float32)
    matrix[frame["src"], frame["dst"]] = frame["weight"]
    assert (matrix == matrix.T).all() and matrix.any()
    return matrix


def test_what_it_says_of_itself(graph, dense, learned_run):
    assert graph.num_nodes == 60
    assert graph.num_edges == np.count_nonzero(dense) // 2
    assert graph.ids.tolist() == [f"nö {i}" for i in range(60)]
    assert repr(graph) == f"<StoredGraph {learned_run}/graph: 60 nodes, {graph.num_edges:,} edges>"
    assert load_graph(learned_run / "graph").num_edges == graph.num_edges
    assert load_graph(str(learned_run / "graph/edges")).num_edges == graph.num_edges


def test_scipy(graph, dense):
    matrix = graph.to_scipy()
    assert isinstance(matrix, sp.csr_array)
    assert matrix.dtype == np.float32
    assert (matrix.toarray() == dense).all()
    again = matrix.copy()
    again.has_canonical_format = False
    again.sum_duplicates()
    assert (again.indices == matrix.indices).all() and (again.indptr == matrix.indptr).all()


def test_torch(graph, dense):
    tensor = graph.to_torch()
    assert tensor.is_coalesced()
    assert (tensor.to_dense().numpy() == dense).all()
    assert (tensor.to_sparse_csr().to_dense().numpy() == dense).all()


def test_dgl(graph, dense):
    made = graph.to_dgl(nodes=["features", "embeddings"])
    assert made.num_nodes() == 60
    src, dst = made.edges()
    back = sp.coo_array((made.edata["weight"].numpy(), (src.numpy(), dst.numpy())), dense.shape)
    assert (back.toarray() == dense).all()
    assert (made.ndata["embeddings"].numpy() == graph.embeddings).all()
    assert made.ndata["features"].shape == (60, 6)


def test_pyg(graph, dense):
    from torch_geometric.nn import GCNConv
    from torch_geometric.utils import to_scipy_sparse_matrix

    data = graph.to_pyg(nodes=["features", "representations"])
    assert data.validate() and data.is_undirected()
    back = to_scipy_sparse_matrix(data.edge_index, data.edge_weight, data.num_nodes)
    assert (back.toarray() == dense).all()
    assert data.node_id[59] == "nö 59"
    assert data.subgraph(data.edge_index.new_tensor([3, 59])).node_id == ["nö 3", "nö 59"]
    assert (data.representations.numpy() == graph.representations).all()
    assert GCNConv(6, 2)(data.x, data.edge_index, data.edge_weight).shape == (60, 2)


def test_networkx(graph, dense):
    import networkx as nx

    made = graph.to_networkx()
    assert made.number_of_edges() == graph.num_edges
    back = nx.to_numpy_array(made, nodelist=[f"nö {i}" for i in range(60)], dtype=np.float32)
    assert (back == dense).all()


def test_pandas(graph, dense):
    frame = graph.to_pandas()
    number = {name: i for i, name in enumerate(graph.ids)}
    back = np.zeros_like(dense)
    back[frame["src"].map(number), frame["dst"].map(number)] = frame["weight"]
    assert (back == dense).all()
    assert frame["weight"].dtype == np.float32


def test_whole_number_ids_with_gaps_and_an_isolated_node(gsl, tmp_path):
    graph = load_graph(ingested(gsl, tmp_path, "id,a\n30,1\n7,2\n9,3\n1000,4\n"))
    assert graph.ids.tolist() == [30, 7, 9, 1000]
    assert set(graph.to_networkx().nodes) == {7, 9, 30, 1000}
    assert graph.to_networkx()[7][30]["weight"] == 0.5
    assert graph.to_dgl().ndata["node_id"].tolist() == [30, 7, 9, 1000]
    assert graph.to_pyg().node_id.tolist() == [30, 7, 9, 1000]
    pairs = {tuple(row) for row in graph.to_pandas()[["src", "dst"]].itertuples(index=False)}
    assert pairs == {(7, 30), (30, 7), (9, 30), (30, 9)}


def test_candidates_keep_their_direction(learned_run):
    graph = load_graph(learned_run / "knn")
    made = graph.to_networkx()
    assert made.is_directed()
    assert {degree for _, degree in made.out_degree} == {5}
    assert "300 directed edges" in repr(graph)


def test_embeddings_are_not_read_until_asked_for(learned_run):
    graph = load_graph(learned_run)
    assert isinstance(graph.nodes("embeddings").read(0, 2), np.memmap)
    assert graph.embeddings.shape[0] == 60
    assert graph.features.shape == (60, 6)


def test_without_edges(tmp_path):
    with Draft(tmp_path / "s", "edges", ShardPlan(5, 2)) as draft:
        draft.add_table("edges", EdgeShuffle(draft, mirror=True).finish())
        draft.publish()
    graph = load_graph(tmp_path / "s", top_k=3)
    assert graph.num_edges == 0
    assert load_graph(tmp_path / "s").to_scipy().shape == (5, 5)
    assert graph.to_pyg().num_nodes == graph.to_dgl().num_nodes() == len(graph.to_networkx()) == 5
    assert graph.to_torch().to_dense().sum() == 0
    assert graph.to_pandas().columns.tolist() == ["src", "dst", "weight"]


def test_another_run_s_embeddings_are_refused(gsl, tmp_path, learned_run):
    import shutil

    run = tmp_path / "run"
    shutil.copytree(learned_run, run)
    graph = load_graph(run)
    shutil.rmtree(run / "embeddings")
    with pytest.raises(NotAStoreError, match="has no embeddings"):
        graph.nodes("embeddings")
    config = run / "config.yaml"
    gsl(
        "run", config, "--out", run, "--set", "train.steps=1", "--from", "train", "--until", "train"
    )
    with pytest.raises(StaleArtifactError, match="is not what .*graph was made from"):
        graph.nodes("embeddings")
    shutil.rmtree(run / "graph")
    with pytest.raises(NotAStoreError, match=r"a run without a learned graph(.|\n)*gsl-scale run"):
        load_graph(run)


def test_mistakes_are_named(tmp_path, learned_run):
    for folder in (tmp_path / "none", tmp_path):
        with pytest.raises(NotAStoreError):
            load_graph(folder)
    with pytest.raises(NotAStoreError, match="has no edges"):
        load_graph(learned_run / "embeddings")
    with pytest.raises(NotAStoreError, match="features, embeddings, representations"):
        load_graph(learned_run).nodes("x")
    with pytest.raises(UserError, match="top_k is 0"):
        load_graph(learned_run, top_k=0)
    with pytest.raises(UserError, match="threshold is nan"):
        load_graph(learned_run, threshold=float("nan"))
    with pytest.raises(UserError, match=r"needs no_such(.|\n)*pip install 'gsl-scale\[pyg\]'"):
        require("no_such", "pyg", "to_pyg")
    with pytest.raises(AttributeError):
        gsl_scale.no_such  # noqa: B018


def test_damage_is_found(tmp_path, learned_run):
    import shutil

    shutil.copytree(learned_run / "graph", tmp_path / "graph")
    part = tmp_path / "graph/edges/part-00001.parquet"
    whole = part.read_bytes()
    part.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    with pytest.raises(CorruptError, match=r"part-00001.parquet is damaged"):
        load_graph(tmp_path / "graph").to_scipy()
    part.write_bytes((tmp_path / "graph/edges/part-00000.parquet").read_bytes())
    with pytest.raises(CorruptError, match=r"part-00001.parquet is not what its manifest says"):
        load_graph(tmp_path / "graph").to_scipy()


def test_only_what_is_needed_is_imported(learned_run):
    code = (
        "import sys, gsl_scale\n"
        "assert 'scipy' not in sys.modules and 'pyarrow' not in sys.modules\n"
        f"gsl_scale.load_graph({str(learned_run)!r}).to_scipy()\n"
        "print(*({'torch', 'dgl', 'torch_geometric', 'networkx', 'ray', 'faiss', 'sklearn'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
