"""The real DGL gives the same values and the same gradients."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from gsl_scale.config_file import make_config
from gsl_scale.graph import Pattern, edge_dot, ops, spmm
from gsl_scale.pipeline import run_pipeline
from gsl_scale.store import Artifact


@pytest.mark.parametrize("shape", [(30, 30), (20, 9), (5, 40)])
def test_values_and_gradients(shape):
    matrix = sp.random(*shape, 0.2, format="csr", random_state=0)
    pattern = Pattern.from_csr(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), shape[1]
    )
    torch.manual_seed(0)
    weights = torch.rand(pattern.num_edges, requires_grad=True)
    x, a = (
        torch.randn(shape[1], 6, requires_grad=True),
        torch.randn(shape[0], 6, requires_grad=True),
    )
    found = {}
    for kernels in ("torch", "dgl"):
        ops.use(kernels)
        aggregated, products = spmm(pattern, weights, x), edge_dot(pattern, a, x)
        loss = aggregated.sin().sum() + products.cos().sum()
        found[kernels] = [aggregated, products, *torch.autograd.grad(loss, (weights, x, a))]
    ops.use("torch")
    for one, other in zip(found["torch"], found["dgl"], strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_a_whole_run(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((80, 8)))
    np.save(tmp_path / "e.npy", np.random.default_rng(1).integers(0, 80, (150, 2)))
    data = {
        "source": "tables",
        "features": str(tmp_path / "x.npy"),
        "edges": str(tmp_path / "e.npy"),
    }
    losses = {}
    for kernels in ("torch", "dgl"):
        tree = {"data": data, "train": {"steps": 20}, "run": {"message_passing": kernels}}
        run_pipeline(make_config(tree), tmp_path / kernels, until="export")
        losses[kernels] = Artifact.open(tmp_path / kernels / "embeddings").manifest.facts[
            "history"
        ]["loss"]
    ops.use("torch")
    assert losses["dgl"] == pytest.approx(losses["torch"], rel=1e-4)
