import numpy as np
import pytest
import scipy.sparse as sp
import torch

from gsl_scale.config_file import make_config
from gsl_scale.graph.features import Features
from gsl_scale.knn.exact import all_neighbours
from gsl_scale.preset import Shape, resolve
from gsl_scale.train.loop import DivergedError, Seeds, Trainer
from gsl_scale.train.whole import WholeGraphs

NODES, DIM = 60, 12
# The curve of the run below. A change that is not meant to change the method reproduces it.
GOLDEN = [3.5526, 3.4874, 3.4907]


def trainer(*, edges=False, rows=None, **keys):
    rng = np.random.default_rng(0)
    if rows is None:
        centres = rng.random((3, DIM))
        rows = (centres[np.arange(NODES) % 3] + 0.2 * rng.random((NODES, DIM))).astype(np.float32)
    tree = {"data": {"source": "sklearn", "name": "wine"}, "learner": {"context": "smooth", "hops": 2, "own": 2.0},
            "knn": {"k": 5}, "train": {"steps": 30, "refresh": 10},
            "contrast": {"hidden": 16, "representation": 8, "projection": 8, "batch": 32}}  # fmt: skip
    sets = [f"{key.replace('__', '.')}={value}" for key, value in keys.items()]
    config = resolve(make_config(tree, sets), Shape(NODES, DIM, edges, False, 1.0))
    given = None
    if edges:
        given = (sp.random(NODES, NODES, 0.05, format="csr", random_state=1) > 0).astype(np.float32)
        given = sp.csr_matrix((given + given.T).astype(bool), dtype=np.float32)
    torch.set_num_threads(2)
    return Trainer(
        config, WholeGraphs(config, Features.from_dense(rows), given, all_neighbours(rows, 5))
    )


def test_golden_curve():
    assert trainer().run().loss == pytest.approx(GOLDEN, abs=1e-3)


@pytest.mark.parametrize("kind", ["attentive", "mlp", "gnn"])
def test_the_same_seed_gives_the_same_result(kind):
    """To the last bit, with several threads too."""
    runs = [trainer(edges=True, learner__kind=kind, train__seed=seed) for seed in (1, 1, 2)]
    losses = [run.run().loss for run in runs]
    embeddings = [run.graphs.embed(run.model) for run in runs]
    assert torch.equal(embeddings[0], embeddings[1])
    assert losses[0] == losses[1] != losses[2]


def test_the_first_learned_graph_is_the_knn_graph_of_the_features():
    start = trainer(learner__context="none")
    rows = start.graphs.features.dense
    assert (start.graphs.candidates.ids == all_neighbours(rows.numpy(), 5).ids).all()
    assert torch.equal(start.graphs.embed(start.model), rows)


def test_stops_on_a_plateau():
    history = trainer(train__steps=500, train__learning_rate=1e-12, learner__learning_rate=1e-12,
                      train__patience=2).run()  # fmt: skip
    assert history.stopped == "plateau"
    assert history.done < 500


@pytest.mark.parametrize(
    ("every", "seen"), [(None, [10, 20, 30]), (4, [4, 8, 10, 12, 16, 20, 24, 28, 30])]
)
def test_a_watcher_sees_the_graph_and_changes_nothing(every, seen):
    """After every refresh, and as often as it wants in between; judging a graph draws numbers."""
    alone, beside, steps = trainer(), trainer(), []

    def watch(step):
        torch.manual_seed(step)
        steps.append(step)
        assert beside.graphs.written(beside.model).weights.isfinite().all()

    losses = alone.run().loss
    assert beside.run(watch, every=every).loss == losses
    assert torch.equal(beside.graphs.embed(beside.model), alone.graphs.embed(alone.model))
    assert steps == seen


def test_tau_of_one_never_updates_the_anchor():
    fixed, moving = trainer(anchor__tau=1.0), trainer(anchor__tau=0.9)
    before = fixed.graphs.anchor
    fixed.run(), moving.run()
    assert fixed.graphs.anchor is before
    assert moving.graphs.anchor.num_edges > before.num_edges


def test_a_loss_that_is_no_number_stops_and_names_the_step():
    start = trainer()
    start.step(1, torch.arange(10))
    start.model.encoder.weight_in.data[:] = float("nan")
    with pytest.raises(DivergedError, match="The loss is nan at step 2") as caught:
        start.step(2, torch.arange(10))
    assert "learning_rate" in caught.value.next_step


def test_isolated_nodes_and_zero_rows():
    rows = np.random.default_rng(0).random((NODES, DIM)).astype(np.float32)
    rows[::7] = 0
    done = trainer(edges=True, rows=rows)
    done.run()
    assert torch.isfinite(done.graphs.embed(done.model)).all()
    assert torch.isfinite(done.graphs.represent(done.model)).all()


def test_every_pass_takes_a_node_at_most_once():
    batches = Seeds(10, 5, seed=0)
    drawn = [batches[step].tolist() for step in (1, 2, 3, 4)]
    assert sorted(drawn[0] + drawn[1]) == sorted(drawn[2] + drawn[3]) == list(range(10))
    assert drawn[:2] != drawn[2:]
    assert Seeds(10, 5, seed=0)[4].tolist() == drawn[3]
    uneven = Seeds(10, 4, seed=0)
    assert len(set(torch.cat([uneven[1], uneven[2]]).tolist())) == 8
    assert len(Seeds(3, 100, seed=0)[1]) == 3
