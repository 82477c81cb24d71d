"""The whole step against the dense equations: loss and every gradient."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from gsl_scale.config_file import make_config
from gsl_scale.contrast.loss import nt_xent
from gsl_scale.contrast.views import ANCHOR, LEARNER, feature_mask, key_of
from gsl_scale.graph.features import Features
from gsl_scale.graph.random import uniform
from gsl_scale.knn.exact import all_neighbours
from gsl_scale.preset import Shape, resolve
from gsl_scale.train.step import Model
from gsl_scale.train.whole import WholeGraphs
from tests.reference import dense

NODES, DIM, K, STEP = 24, 10, 3, 17


def settings(kind):
    tree = {
        "data": {"source": "sklearn", "name": "wine"},
        "learner": {"kind": kind, "activation": "relu", "context": "none"},
        "knn": {"k": K},
        "contrast": {"hidden": 8, "representation": 6, "projection": 5, "dropout": 0.0},
        "train": {"seed": 3},
    }
    return resolve(make_config(tree), Shape(NODES, DIM, True, False, 1.0))


def drop(graph: torch.Tensor, share: float, key: int) -> torch.Tensor:
    number = torch.arange(NODES * NODES).reshape(NODES, NODES)
    return graph * (uniform(number, key) >= share) / (1 - share)


@pytest.mark.parametrize("kind", ["attentive", "mlp", "gnn"])
@pytest.mark.parametrize("refinement", [True, False])
def test_loss_and_all_gradients(kind, refinement):
    if kind == "gnn" and not refinement:
        pytest.skip("the GNN learner needs a given graph")
    torch.manual_seed(1)
    config = settings(kind)
    rows = np.random.default_rng(0).random((NODES, DIM)).astype(np.float32)
    edges = (sp.random(NODES, NODES, 0.1, format="csr", random_state=2) > 0).astype(np.float32)
    edges = sp.csr_matrix((edges + edges.T).astype(bool), dtype=np.float32)
    edges.setdiag(0)
    edges.eliminate_zeros()
    given = edges if refinement else None

    model = Model(config, DIM, DIM)
    for weight in model.learner.parameters():
        weight.data += 0.05 * torch.randn_like(weight)
    features = Features.from_dense(rows)
    graphs = WholeGraphs(config, features, given, all_neighbours(rows, K))
    graphs.start(model)
    graphs.refresh(model)
    seeds = torch.tensor([4, 1, 20, 9, 13, 7])
    projected = model(graphs.batch(seeds, STEP), STEP)
    loss, learned = nt_xent(*projected, config.contrast.temperature), graphs.learned(model)

    x, full = torch.from_numpy(rows), torch.from_numpy(edges.toarray())
    weights = list(model.learner.layers)
    embeddings = {
        "attentive": lambda: dense.attentive(x, weights, torch.relu),
        "mlp": lambda: dense.mlp(x, weights, torch.relu),
        "gnn": lambda: dense.gnn(x, weights, torch.relu, full),
    }[kind]()
    s = dense.normalise(dense.learned(embeddings, K, full if refinement else None))
    a = dense.normalise(full + torch.eye(NODES)) if refinement else torch.eye(NODES)
    projections = []
    for view, graph, share in (
        (LEARNER, s, config.contrast.mask_learner),
        (ANCHOR, a, config.contrast.mask_anchor),
    ):
        key = key_of(3, STEP, view)
        dropped = drop(graph, config.contrast.drop_edges, key)
        encoded = dense.encode(dropped, x * feature_mask(DIM, share, key), model.encoder)
        projections.append(model.projector(encoded[seeds]))
    expected = dense.nt_xent(*projections, config.contrast.temperature)

    assert loss.item() == pytest.approx(expected.item(), abs=1e-5)
    assert np.allclose(learned.to_scipy().toarray(), s.detach(), atol=1e-5)
    parameters = list(model.parameters())
    found_grads = torch.autograd.grad(loss, parameters)
    expected_grads = torch.autograd.grad(expected, parameters)
    for (name, _), found, wanted in zip(
        model.named_parameters(), found_grads, expected_grads, strict=True
    ):
        assert torch.allclose(found, wanted, atol=1e-5), name
    assert (features.dense.numpy() == rows).all()
