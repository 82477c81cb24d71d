import torch

from gsl_scale.graph.unit import unit_rows


def test_rows_have_length_one_and_rows_of_zeros_stay():
    x = torch.randn(3000, 7)
    x[5] = 0.0
    unit = unit_rows(x)
    assert torch.allclose(unit, torch.nn.functional.normalize(x, dim=1))
    assert not unit[5].any()


def test_gradient_is_that_of_normalize():
    # More rows than are taken at once.
    x = torch.randn(2500, 5, dtype=torch.float64, requires_grad=True)
    upstream = torch.randn(2500, 5, dtype=torch.float64)
    (mine,) = torch.autograd.grad(unit_rows(x), x, upstream)
    (theirs,) = torch.autograd.grad(torch.nn.functional.normalize(x, dim=1), x, upstream)
    assert torch.allclose(mine, theirs)
    assert torch.autograd.gradcheck(unit_rows, x[:4].detach().requires_grad_())


def test_no_rows():
    x = torch.empty(0, 3, requires_grad=True)
    unit_rows(x).sum().backward()
    assert x.grad.shape == (0, 3)
