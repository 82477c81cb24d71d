"""SSGC against its dense formula."""

import numpy as np
import scipy.sparse as sp
import torch

from gsl_scale.evaluate.smooth import smoothed


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def test_ssgc_of_directions():
    rng = np.random.default_rng(3)
    upper = np.triu(rng.random((40, 40)) < 0.12, 1) * rng.random((40, 40))
    upper[:, 39] = upper[39] = 0  # a node without edges
    graph = (upper + upper.T).astype(np.float32)
    full = graph + np.eye(40)
    scale = np.diag(full.sum(axis=1) ** -0.5)
    rows = rng.normal(size=(40, 5)).astype(np.float32)
    rows[7] = 0
    before, power, total = rows.copy(), np.eye(40), np.zeros((40, 5))
    for _ in range(16):
        power = scale @ full @ scale @ power
        total += 0.95 * power @ unit(rows) + 0.05 * unit(rows)
    found = smoothed(torch.from_numpy(rows), sp.csr_matrix(graph)).numpy()
    assert np.allclose(found, unit(total), atol=1e-5)
    assert np.array_equal(rows, before)


def test_size_does_not_matter():
    rows = torch.tensor([[1.0, 0.0], [30.0, 0.0], [0.0, 1.0], [0.0, 0.02]])
    graph = sp.csr_matrix(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], "f"))
    assert torch.allclose(smoothed(rows, graph), torch.sign(rows))
