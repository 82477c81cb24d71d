"""What a cluster is asked, as far as it goes without one; the rest is in test_end_to_end.py."""

from gsl_scale.cluster.probe import NodeFacts, _size, worker_memory
from gsl_scale.config_file import load_config, make_config
from gsl_scale.plan.size import Size
from gsl_scale.store.artifact import Artifact
from tests.conftest import ROOT

NODES = [NodeFacts("head", memory=2.0**40), NodeFacts("n1", cpus=8.0, memory=16 * 2.0**30)]


def test_the_size_is_known_without_reading_rows(learned_run):
    small = make_config({"data": {"source": "tables", "features": "nowhere.csv"}})
    assert _size(small, None) is None
    found, read = (
        _size(small, learned_run / "data"),
        Size.of_data(Artifact.open(learned_run / "data")),
    )
    assert (found.nodes, found.features, found.edges) == (read.nodes, read.features, read.edges)
    assert _size(load_config(ROOT / "configs/papers100m.yaml"), None).nodes == 111_059_956


def test_a_worker_holds_more_of_a_larger_graph():
    config = load_config(ROOT / "configs/papers100m.yaml", ["run.workers=8"])
    large = worker_memory(config, Size.of_config(config), NODES)
    small = worker_memory(config, Size(10_000, 128, 100_000), NODES)
    assert large["train"] > 2 * 2.0**30 > 2.0**30 > small["train"] > 0
    alone = load_config(ROOT / "configs/papers100m.yaml", ["run.workers=0"])
    assert worker_memory(alone, Size.of_config(config), NODES) == {}
