"""What ranks exchange, among three processes, whether or not rows can be shared out evenly."""

import pytest
import torch
import torch.distributed as dist
from torch import multiprocessing

from gsl_scale.contrast.loss import Told, contrasted, nt_xent
from gsl_scale.ranks import Together

SIZE = 3


def batch(total):
    drawn = torch.Generator().manual_seed(total)
    return torch.randn(total, 4, generator=drawn), torch.randn(total, 4, generator=drawn)


def exchange(rank, meeting, total, told):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=SIZE)
    ranks = Together()
    z_l, z_a = (rows[ranks.slice(total)].clone().requires_grad_() for rows in batch(total))
    loss = contrasted(z_l, Told.of(z_a, ranks, total), 0.2, ranks)
    loss.backward()
    told.put((rank, loss.item(), z_l.grad.tolist(), z_a.grad.tolist(), ranks.exchanged))
    dist.destroy_process_group()


@pytest.mark.parametrize("total", [6, 7, 2])  # even, uneven, and one that has no rows
def test_gradients_are_those_of_one_process(total, tmp_path):
    told = multiprocessing.get_context("spawn").SimpleQueue()
    meeting = f"file://{tmp_path}/meeting"
    multiprocessing.spawn(exchange, (meeting, total, told), SIZE)
    found = sorted(told.get() for _ in range(SIZE))

    z_l, z_a = (rows.requires_grad_() for rows in batch(total))
    expected = nt_xent(z_l, z_a, 0.2)
    expected.backward()
    assert [value for _, value, *_ in found] == pytest.approx([expected.item()] * SIZE, rel=1e-5)
    for place, grad in ((2, z_l.grad), (3, z_a.grad)):
        together = torch.tensor([row for one in found for row in one[place]])
        assert torch.allclose(together, grad, atol=1e-6)
    # Rows and their gradients one way, column sums with the loss both ways.
    assert {one[4] for one in found} == {4 * 4 * total + 4 * (total + 1)}
