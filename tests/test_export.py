"""The exported graph, made shard by shard, against the equations on dense matrices."""

import numpy as np
import pytest
import torch

from gsl_scale.config_file import make_config
from gsl_scale.evaluate.watch import begin
from gsl_scale.pipeline import run_pipeline
from gsl_scale.preset import Shape, resolve
from gsl_scale.store import Artifact
from gsl_scale.store.matrix import edges_matrix
from tests.reference import dense


def tables(folder, num_edges):
    """40 nodes, and edges between them if there are to be any."""
    rng = np.random.default_rng(0)
    np.save(folder / "x.npy", rng.normal(size=(40, 6)))
    data = {"source": "tables", "features": str(folder / "x.npy")}
    if num_edges:
        np.save(folder / "e.npy", rng.integers(0, 40, (num_edges, 2)))
        data["edges"] = str(folder / "e.npy")
    return data


@pytest.mark.parametrize("fanout", ["all", [2, 2]], ids=["in memory", "on disk"])
@pytest.mark.parametrize("num_shards", [1, 3])
@pytest.mark.parametrize("with_edges", [True, False])
def test_is_the_learned_graph_of_the_embeddings(tmp_path, num_shards, with_edges, fanout):
    data = tables(tmp_path, 50 if with_edges else 0)
    tree = {
        "data": data,
        "knn": {"k": 4},
        "contrast": {"fanout": fanout},
        "learner": {"learning_rate": 0.1},
        "train": {"steps": 2},
        "run": {"shards": num_shards, "batch": 7},
    }
    run_pipeline(make_config(tree), tmp_path / "run", until="export")
    learned = Artifact.open(tmp_path / "run/embeddings")
    embeddings = torch.from_numpy(np.array(learned.nodes("embeddings").read()))
    assert len(learned.edges("candidates")) == 40 * 4
    given = None
    if with_edges:
        given = torch.from_numpy(edges_matrix(Artifact.open(tmp_path / "run/data")).toarray())
    expected = dense.learned(embeddings, 4, given).fill_diagonal_(0)
    graph = Artifact.open(tmp_path / "run/graph")
    assert np.allclose(edges_matrix(graph).toarray(), expected, atol=1e-5)
    edges = graph.edges().read()
    assert (edges.weight > 0).all() and (edges.weight <= 1).all()
    assert (edges.src != edges.dst).all()


@pytest.mark.parametrize("new", [None, 0.5])
@pytest.mark.parametrize("given", ["kept", "learned"])
def test_given_edges_may_be_kept_and_new_ones_a_supplement(tmp_path, given, new):
    """The same embeddings, written in another way; and what a training judges is what is written."""
    data = tables(tmp_path, 50)
    tree = {"data": data, "knn": {"k": 4}, "train": {"steps": 2}, "run": {"shards": 3, "batch": 7}}
    run_pipeline(make_config(tree), tmp_path / "run", until="export")
    plain = edges_matrix(Artifact.open(tmp_path / "run/graph")).toarray()
    config = make_config({**tree, "export": {"given": given, "new": new}})
    run_pipeline(config, tmp_path / "run", first="export", until="export")
    graph = Artifact.open(tmp_path / "run/graph")
    there = edges_matrix(Artifact.open(tmp_path / "run/data")).toarray() > 0
    share = new or {"kept": 0.25, "learned": 1.0}[given]
    expected = np.where(there, 1.0 if given == "kept" else plain, share * plain)
    assert np.allclose(edges_matrix(graph).toarray(), expected, atol=1e-6)
    assert graph.manifest.facts["export"] == {"given": given, "new": new}

    trainer = begin(
        resolve(config, Shape.of(Artifact.open(tmp_path / "run/data"))),
        Artifact.open(tmp_path / "run/data"),
    )
    trainer.run()
    judged = trainer.graphs.written(trainer.model).to_scipy().toarray()
    assert np.allclose(judged, expected + np.eye(40), atol=1e-5)


def test_many_given_edges_are_kept(tmp_path):
    data = tables(tmp_path, 400)
    run_pipeline(
        make_config({"data": data, "train": {"steps": 1}}), tmp_path / "run", until="export"
    )
    graph, there = (
        edges_matrix(Artifact.open(tmp_path / "run" / name)) for name in ("graph", "data")
    )
    assert (graph[there.nonzero()] == 1.0).all() and graph.nnz > there.nnz
    page = (tmp_path / "run/report.html").read_text()
    assert "kept with weight 1" in page and "a small weight" not in page


def test_two_runs_give_the_same_graph(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(200, 12)))
    data = {"source": "tables", "features": str(tmp_path / "x.npy")}
    contents = []
    for name, threads in (("a", 2), ("b", 2), ("c", 1)):
        tree = {"data": data, "train": {"steps": 25}, "run": {"threads": threads}}
        run_pipeline(make_config(tree), tmp_path / name, until="export")
        contents.append(Artifact.open(tmp_path / name / "graph").manifest.content)
    assert contents[0] == contents[1] == contents[2]


def test_users_ids_come_along(tmp_path):
    lines = ["id,a,b", *(f"node {i},{i % 3 + 1},{i % 5}" for i in range(20))]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    data = {"source": "tables", "features": str(tmp_path / "x.csv")}
    run_pipeline(
        make_config({"data": data, "train": {"steps": 1}}), tmp_path / "run", until="export"
    )
    ids = Artifact.open(tmp_path / "run/graph").columns("ids")["id"].to_pylist()
    assert ids == [f"node {i}" for i in range(20)]
