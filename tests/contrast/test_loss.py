import torch

from gsl_scale.contrast.loss import nt_xent
from tests.reference import dense


def test_agrees_with_the_equation():
    torch.manual_seed(0)
    z_l, z_a = torch.randn(6, 4, requires_grad=True), torch.randn(6, 4, requires_grad=True)
    found, expected = nt_xent(z_l, z_a, 0.2), dense.nt_xent(z_l, z_a, 0.2)
    assert torch.allclose(found, expected, atol=1e-5)
    for a, b in zip(
        torch.autograd.grad(found, (z_l, z_a)),
        torch.autograd.grad(expected, (z_l, z_a)),
        strict=True,
    ):
        assert torch.allclose(a, b, atol=1e-5)
