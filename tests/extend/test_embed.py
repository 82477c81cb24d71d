"""What is learned is applied to new rows as it was to the old ones."""

import numpy as np
import pytest
import torch

from gsl_scale import encoded
from gsl_scale.contrast.encoder import Encoder
from gsl_scale.errors import InputError
from gsl_scale.graph.features import Features
from gsl_scale.graph.sample import Block
from gsl_scale.graph.weighted import Graph, with_self_loops
from gsl_scale.store.matrix import edges_matrix
from gsl_scale.store.tensors import read_tensors
from tests.extend.conftest import NEW, OLD, Trial, artifacts
from tests.reference import dense


def embeddings(run) -> torch.Tensor:
    return torch.from_numpy(np.array(run["embeddings"].nodes("embeddings").read()))


def twins(made: Trial, tmp_path, out="more") -> torch.Tensor:
    """The similarity of the first nodes and of the same rows when they come again."""
    rows = np.load(tmp_path / "old.npy")[:NEW]
    np.save(tmp_path / "again.npy", rows)
    flags = made.flags | {"features": str(tmp_path / "again.npy")}
    found = embeddings(Trial(made.folder, made.config, flags).extend(tmp_path / out))
    return torch.nn.functional.cosine_similarity(found[:NEW], found[OLD:])


@pytest.mark.parametrize(
    "learner",
    [
        {"kind": "attentive"},
        {"kind": "attentive", "activation": "tanh"},
        {"kind": "mlp", "width": 5},
        {"context": "topics", "directions": 4},
        {"context": "words", "directions": 4, "own": 0.5, "width": 6},
    ],
)
def test_a_row_that_comes_again_is_embedded_where_it_was(trial, tmp_path, learner):
    made = trial(learning_rate=0.01, **learner)
    assert torch.allclose(twins(made, tmp_path), torch.ones(NEW), atol=1e-5)
    before, after = embeddings(artifacts(made.folder)), embeddings(artifacts(tmp_path / "more"))
    assert torch.equal(before, after[:OLD])
    assert torch.allclose(after[OLD:], before[:NEW], atol=1e-5)


@pytest.mark.parametrize("context", ["smooth", "encoded", "manifold"])
def test_or_near_there_where_it_depends_on_its_neighbours(trial, tmp_path, context, monkeypatch):
    monkeypatch.setattr(encoded, "WIDTH", 16)
    made = trial(context=context, directions=6)
    assert twins(made, tmp_path).min() > 0.9


@pytest.mark.parametrize("kind", ["mlp", "gnn"])
def test_smoothed_over_the_given_graph_with_the_new_edges(trial, tmp_path, nodes, kind):
    """As a learner that is still the identity shows."""
    made = trial(with_edges=True, kind=kind, context="smooth", own=0.0, learning_rate=0.0, layers=2,
                 activation="none", hops=2, restart=0.0)  # fmt: skip
    after = made.extend(tmp_path / "more")
    given = torch.from_numpy(edges_matrix(after["data"]).toarray())
    assert (given[OLD:].sum(1) > 0).all()
    a_hat = dense.normalise(given + torch.eye(OLD + NEW))
    rows = torch.from_numpy(nodes)
    rows = rows if kind == "gnn" else torch.nn.functional.normalize(rows)
    expected = dense.cosine(a_hat @ (a_hat @ rows))[OLD:, OLD:]
    assert torch.allclose(dense.cosine(embeddings(after)[OLD:]), expected, atol=1e-4)


def test_a_node_without_edges_is_smoothed_over_its_neighbours(trial, tmp_path):
    made = trial(with_edges=True, context="smooth", own=0.0, learning_rate=0.0, activation="none")
    del made.flags["edges"]
    after = embeddings(made.extend(tmp_path / "more"))
    alone = torch.from_numpy(np.load(made.flags["features"]))
    moved = torch.nn.functional.cosine_similarity(after[OLD:], alone)
    assert moved.max() < 0.999


def test_a_gnn_learner_needs_edges(trial, tmp_path):
    made = trial(with_edges=True, kind="gnn")
    del made.flags["edges"]
    with pytest.raises(InputError, match="Give their edges with --edges"):
        made.extend(tmp_path / "more")


@pytest.mark.parametrize("shards", [1, 3])
def test_representations_are_the_encoder_s_of_the_whole_graph(trial, tmp_path, shards):
    made = trial(shards=shards)
    after = made.extend(tmp_path / "more")
    scale = artifacts(made.folder)["embeddings"].manifest.facts["scale"]
    model = read_tensors(after["embeddings"], "model")
    tensors = {k.removeprefix("encoder."): v for k, v in model.items() if "encoder" in k}
    encoder = Encoder(*tensors["weight_in"].shape, tensors["weight_out"].shape[1])
    encoder.load_state_dict(tensors)
    graph = Graph.from_scipy(with_self_loops(edges_matrix(after["graph"]))).normalised()
    features = Features.from_dense(np.array(after["data"].nodes().read()) * np.float32(scale))
    expected = encoder(Block.whole(graph, features)).detach().numpy()
    found = after["embeddings"].nodes("representations").read()
    assert np.allclose(found[OLD:], expected[OLD:], atol=1e-4)


def test_a_run_in_shards_keeps_the_same_for_later(trial, tmp_path, nodes):
    """Trained from disk, the context is kept as it is by one in memory."""
    made = trial(context="topics", directions=4, width=3)
    whole = read_tensors(artifacts(made.folder)["embeddings"], "context")
    from gsl_scale.pipeline import run_pipeline

    sharded = made.config.model_copy(update={"contrast": made.config.contrast.model_copy(
        update={"fanout": (4, 4)})})  # fmt: skip
    run_pipeline(sharded, tmp_path / "sharded", until="export")
    found = read_tensors(artifacts(tmp_path / "sharded")["embeddings"], "context")
    assert found.keys() == whole.keys() == {"rarity", "topics", "narrow"}
    assert all(torch.allclose(found[name], whole[name]) for name in whole)
