"""SSGC against its dense formula."""

import numpy as np
import scipy.sparse as sp
import torch

from gsl_scale.evaluate.smooth import smoothed


def directions(rows):
    rows = rows - rows.mean(axis=0)
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
    for _ in range(32):
        power = scale @ full @ scale @ power
        total += 0.95 * power @ directions(rows) + 0.05 * directions(rows)
    found = smoothed(torch.from_numpy(rows), sp.csr_matrix(graph)).numpy()
    assert np.allclose(found, directions(total), atol=1e-5)
    assert np.array_equal(rows, before)


PAIRS = sp.csr_matrix(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], "f"))


def test_size_does_not_matter():
    rows = torch.tensor([[1.0, 0.0], [30.0, 0.0], [-30.0, 0.0], [-1.0, 0.0]])
    assert torch.allclose(smoothed(rows, PAIRS), torch.sign(rows))


def test_what_all_have_in_common_does_not_matter():
    rows = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    same = smoothed(rows + torch.tensor([5.0, -2.0, 9.0]), PAIRS)
    assert torch.allclose(smoothed(rows, PAIRS), same, atol=1e-4)
