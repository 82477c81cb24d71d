import numpy as np
import pytest
import scipy.sparse as sp
import torch

from gsl_scale.contrast.encoder import Encoder
from gsl_scale.contrast.views import survivors
from gsl_scale.graph.features import Features
from gsl_scale.graph.sample import Block
from gsl_scale.graph.weighted import Graph, with_self_loops


@pytest.fixture
def graph():
    some = sp.random(40, 40, 0.1, random_state=0, dtype=np.float32)
    return Graph.from_scipy(with_self_loops((some + some.T).tocsr())).normalised()


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_hidden_entries_are_dropped_and_the_others_scaled_up(graph, share):
    torch.manual_seed(0)
    x = torch.randn(40, 6)
    encoder = Encoder(6, 12, 5, dropout=share)
    given = Block.whole(graph, Features(x, None))

    def plain():
        """The same, in torch's own operations."""
        hidden = torch.relu(graph @ (x @ encoder.weight_in) + encoder.bias_in)
        border = int(share * 256) / 256
        if border:
            alive = survivors(hidden.shape, share, 3, torch.arange(40))
            hidden = hidden * alive / (1.0 - border)
        return graph @ (hidden @ encoder.weight_out) + encoder.bias_out

    torch.nn.init.normal_(encoder.bias_in)
    assert torch.allclose(encoder(given, key=3), plain(), atol=1e-5)
    upstream, parameters = torch.randn(40, 5), list(encoder.parameters())
    mine = torch.autograd.grad(encoder(given, key=3), parameters, upstream)
    theirs = torch.autograd.grad(plain(), parameters, upstream)
    for one, other in zip(mine, theirs, strict=True):
        assert torch.allclose(one, other, atol=1e-4)


def test_nothing_is_dropped_outside_training(graph):
    given = Block.whole(graph, Features(torch.randn(40, 6), None))
    encoder = Encoder(6, 12, 5, dropout=0.9)
    assert torch.equal(encoder(given), encoder(given))
    assert not torch.allclose(encoder(given), encoder(given, key=1))
