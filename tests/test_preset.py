import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsl_scale.config import AUTO
from gsl_scale.config_file import make_config
from gsl_scale.preset import Shape, resolve

DATA = {"data": {"source": "sklearn", "name": "wine"}}


@given(st.integers(2, 10**8), st.integers(1, 10**5), st.booleans(), st.booleans(), st.floats(0, 1))
def test_leaves_nothing_open_and_asks_for_nothing_impossible(
    nodes, features, edges, negative, nonzero
):
    config = resolve(make_config(DATA), Shape(nodes, features, edges, negative, nonzero))
    for name in ("learner", "knn", "contrast", "anchor", "train", "evaluate"):
        block = vars(getattr(config, name)).copy()
        block.pop("index", None)  # of a search: decided from what is searched
        assert not {"auto", AUTO} & {v for v in block.values() if isinstance(v, str | int)}
    assert 1 <= config.knn.k < nodes
    assert config.contrast.batch <= nodes


def test_what_was_said_stays():
    shape = Shape(5000, 64, False, False, 1.0)
    config = resolve(
        make_config(DATA, ["knn.k=7", "learner.context=none", "learner.kind=attentive"]), shape
    )
    assert (config.knn.k, config.learner.context, config.learner.kind) == (7, "none", "attentive")


@pytest.mark.parametrize(
    ("shape", "kind", "activation", "context"),
    [
        (Shape(2708, 1433, True, False, 0.01), "mlp", "none", "smooth"),
        (Shape(2708, 1433, False, False, 0.01), "attentive", "none", "words"),
        (Shape(3327, 100, True, False, 0.01), "mlp", "none", "smooth"),
        (Shape(3327, 60, True, False, 0.01), "mlp", "relu", "smooth"),
        (Shape(569, 30, False, True, 1.0), "mlp", "none", "manifold"),
        (Shape(9607, 236, False, False, 0.1), "attentive", "none", "words"),
        (Shape(19717, 500, False, False, 0.1), "mlp", "none", "none"),
        (Shape(19717, 500, True, False, 0.1), "mlp", "none", "encoded"),
        (Shape(60000, 500, True, False, 0.1), "mlp", "none", "smooth"),
    ],
)
def test_choices(shape, kind, activation, context):
    learner = resolve(make_config(DATA), shape).learner
    assert (learner.kind, learner.activation, learner.context) == (kind, activation, context)


@pytest.mark.parametrize(
    ("links", "sets", "given"),
    [
        (49_990, [], None),
        (50_000, [], "kept"),
        (50_000, ["export.given=learned"], "learned"),
        (50_000, ["knn.keep_given=false"], None),
    ],
)
def test_many_given_edges_are_kept_as_they_are(links, sets, given):
    shape = Shape(5000, 64, True, False, 1.0, links)
    assert resolve(make_config(DATA, sets), shape).export.given == given


@pytest.mark.parametrize(
    ("shape", "sets", "width"),
    [
        (Shape(20_000, 500, True, False, 0.1), (), 256),
        (Shape(20_000, 500, True, False, 0.1), ["learner.context=smooth"], 128),
        (Shape(20_000, 500, True, False, 0.1), ["learner.width=64"], 64),
        (Shape(20_000, 500, True, False, 0.1), ["learner.kind=attentive"], 0),
        (Shape(2_000, 500, True, False, 0.1), (), 128),
    ],
)
def test_an_encoder_s_directions_are_more(shape, sets, width):
    assert resolve(make_config(DATA, sets), shape).learner.width == width


@pytest.mark.parametrize(
    ("nodes", "edges", "steps"),
    [
        (5000, False, 300),
        (5000, True, 400),
        (20_000, False, 300),
        (20_000, True, 400),
        (60_000, False, 600),
    ],
)
def test_how_long(nodes, edges, steps):
    assert resolve(make_config(DATA), Shape(nodes, 64, edges, False, 1.0)).train.steps == steps


@pytest.mark.parametrize(
    ("shape", "k"),
    [
        (Shape(569, 30, False, True, 1.0), 30),
        (Shape(120, 30, False, True, 1.0), 20),
        (Shape(2708, 1433, False, False, 0.01), 15),
        (Shape(2708, 1433, True, False, 0.01), 10),
        (Shape(20_000, 500, True, False, 0.1), 20),
        (Shape(20_000, 500, False, True, 1.0), 10),
    ],
)
def test_how_many_neighbours(shape, k):
    assert resolve(make_config(DATA), shape).knn.k == k
