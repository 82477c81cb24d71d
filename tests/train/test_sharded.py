"""Graphs on disk against the same graphs in memory."""

import numpy as np
import pytest
import torch

from gsl_scale.config import depends_on
from gsl_scale.config_file import make_config
from gsl_scale.contrast.loss import nt_xent
from gsl_scale.graph.features import Features
from gsl_scale.ingest.write import write_data
from gsl_scale.knn.search import read_candidates, search_knn
from gsl_scale.preset import Shape, resolve
from gsl_scale.ranks import ALONE
from gsl_scale.sources import write_first_anchor
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.matrix import edges_matrix
from gsl_scale.train.loop import Trainer
from gsl_scale.train.prepare import write_seen
from gsl_scale.train.sharded import ShardedGraphs
from gsl_scale.train.whole import WholeGraphs

NODES = 240


@pytest.fixture(params=["refinement", "inference", "inference, context", "sources"])
def stages(request, tmp_path):
    refinement = request.param in ("refinement", "sources")
    tree = {
        "data": {"source": "synthetic", "nodes": NODES, "features": 12, "communities": 4,
                 "degree": 4.0 if refinement else 0.0, "seed": 1},
        "learner": {"kind": "mlp"},
        "knn": {"k": 5},
        "contrast": {"hidden": 16, "representation": 8, "projection": 8, "batch": 64, "fanout": "all"},
        "anchor": {"c": 3, "tau": 0.9},
        "train": {"steps": 12, "refresh": 4, "seed": 3},
        "run": {"shards": 3},
    }  # fmt: skip
    if request.param == "inference":
        tree["learner"]["context"] = "none"
    if request.param == "sources":
        tree["anchor"]["sources"] = [{"kind": "given"}, {"kind": "knn", "weight": 0.5}]
    config = make_config(tree)
    write_data(config, tmp_path / "data")
    data = Artifact.open(tmp_path / "data")
    config = resolve(config, Shape.of(data))
    search_knn(data, tmp_path / "knn", config.knn, config.run, config=depends_on(config, ["knn"]))
    return config, data, Artifact.open(tmp_path / "knn"), tmp_path


def first(config, data, knn):
    return write_first_anchor(config, data, [knn.edges().read()], knn.folder.with_name("first"))


def whole(config, data, knn):
    given = edges_matrix(data) if "edges" in data else None
    features, nearest, anchor = Features.of(data), read_candidates(knn), first(config, data, knn)
    return Trainer(config, WholeGraphs(config, features, given, nearest, first=anchor))


def sharded(config, data, knn, work):
    work.mkdir(exist_ok=True)
    seen = write_seen(config, data, knn, work / "seen")
    anchor = first(config, data, knn)
    return Trainer(config, ShardedGraphs(config, data, seen, knn, work, ALONE, anchor))


def test_a_batch_has_the_loss_and_gradients_of_the_whole_graph(stages):
    config, data, knn, folder = stages
    ways = [whole(config, data, knn), sharded(config, data, knn, folder / "work")]
    found = []
    for trainer in ways:
        torch.manual_seed(0)
        for weight in trainer.model.learner.parameters():
            weight.data += 0.05 * torch.randn_like(weight)
        batch = trainer.graphs.batch(torch.tensor([3, 17, 90, 91, 200, 239]), 7)
        loss = nt_xent(*trainer.model(batch, 7), 0.2)
        found.append((loss, torch.autograd.grad(loss, list(trainer.model.parameters()))))
    (loss, grads), (other, others) = found
    assert other.item() == pytest.approx(loss.item(), rel=1e-5)
    for grad, one in zip(grads, others, strict=True):
        assert torch.allclose(grad, one, rtol=1e-3, atol=1e-5 * float(grad.abs().max()) + 1e-8)


def test_the_same_curve_and_the_same_graph(stages):
    config, data, knn, folder = stages
    memory, disk = whole(config, data, knn), sharded(config, data, knn, folder / "work")
    one, other = memory.run(), disk.run()
    assert other.loss == pytest.approx(one.loss, rel=1e-4)
    assert other.kept == pytest.approx(one.kept, abs=0.01)
    everyone = np.arange(NODES)
    around, graph = disk.graphs.learned(disk.model)(everyone)
    assert (around.nodes == everyone).all()
    wanted = memory.graphs.learned(memory.model).to_scipy()
    assert abs(graph.to_scipy() - wanted).max() < 1e-4
    rows = disk.graphs.anchor.rows(everyone)
    anchor = memory.graphs.anchor.to_scipy()
    assert (rows.counts == np.diff(anchor.indptr)).all()
    assert (rows.dst == anchor.indices).all()
    assert np.allclose(rows.value, anchor.data, atol=1e-5)
    represented = torch.from_numpy(np.array(disk.graphs.represent(disk.model).read()))
    assert torch.allclose(represented, memory.graphs.represent(memory.model), atol=1e-4)


@pytest.mark.parametrize("budget", [3, 9])
def test_the_anchor_keeps_to_its_budget(stages, budget):
    config, data, knn, folder = stages
    config = config.model_copy(
        update={"anchor": config.anchor.model_copy(update={"budget": budget, "c": 1, "tau": 0.5})}
    )
    trainer = sharded(config, data, knn, folder / "work")
    for step in range(1, 8):
        trainer.step(step, torch.arange(step, NODES, 5))
        assert trainer.graphs.anchor.rows(np.arange(NODES)).counts.max() <= budget
    assert trainer.graphs.anchor.num_links <= budget * NODES
