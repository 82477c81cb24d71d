"""What stands in the way of a job, from what was found on the nodes."""

import pytest

from gsl_scale.cluster.checks import require
from gsl_scale.cluster.probe import Facts, NodeFacts
from gsl_scale.config import Run
from gsl_scale.errors import ClusterError

HERE = {"python": "3.11", "ray": "2.60.0", "torch": "2.13.0"}


def node(**change) -> NodeFacts:
    good = {"name": "n1", "cpus": 4.0, "gpus": 0.0, "memory": 8 * 2.0**30, "versions": HERE,
            "sees": True, "writes": True}  # fmt: skip
    return NodeFacts(**(good | change))


def check(*nodes, run=None, threads=2, trouble="", out="/out", memory=None, stages=()):
    facts = Facts(list(nodes), threads, [], trouble, folder="/cache/run", memory=memory or {})
    require(facts, run or Run(workers=2), out, HERE, stages)


def test_a_cluster_that_can():
    check(node())
    check(node(cpus=0.0), run=Run(workers=0))
    check(node(gpus=1.0), node(gpus=1.0), run=Run(workers=2, device="cuda", memory=4.0))
    check(node(gpus=1.0), run=Run(workers=2, device="cpu"))


@pytest.mark.parametrize(
    ("change", "run", "said"),
    [
        ({"versions": HERE | {"torch": "2.9.0"}}, {}, "n1 has torch 2.9.0, here it is 2.13.0"),
        ({"versions": {}}, {}, "n1 has python missing, here it is 3.11"),
        ({"sees": False}, {}, "n1 does not share /out"),
        ({"writes": False}, {}, "n1 does not share /out"),
        ({"trouble": "did not answer"}, {}, "n1: did not answer"),
        ({"cpus": 3.0}, {}, "2 workers with 2 CPUs each; there is room for 1"),
        (
            {"gpus": 1.0},
            {"device": "cuda"},
            "2 workers with 2 CPUs, 1 GPU each; there is room for 1",
        ),
        ({"gpus": 1.0}, {}, "2 workers with 2 CPUs, 1 GPU each; there is room for 1"),
        ({}, {"device": "cuda"}, "2 workers with 2 CPUs, 1 GPU each; there is room for 0"),
        ({}, {"memory": 5.0}, "5.0 GiB memory each; there is room for 1"),
    ],
)
def test_what_is_missing_is_named(change, run, said):
    with pytest.raises(ClusterError, match=said) as caught:
        check(node(**change), run=Run(workers=2, **run))
    assert "Nothing was launched" in str(caught.value)


def test_a_worker_needs_all_it_needs_on_one_node():
    with pytest.raises(ClusterError, match="room for 0"):
        check(node(cpus=1.0), node(cpus=1.0), run=Run(workers=1))


def test_trouble_on_the_head():
    with pytest.raises(ClusterError, match="/out cannot be written"):
        check(trouble="/out cannot be written: Read-only file system")


def test_an_object_store_needs_a_shared_folder_for_workers():
    alone = node(name="n2", sees=False, writes=False)
    check(node(), out="s3://bucket/run")
    check(node(), alone, run=Run(workers=0), out="s3://bucket/run")
    with pytest.raises(ClusterError, match="n2 does not share /cache/run.*GSL_CACHE"):
        check(node(), alone, out="s3://bucket/run")


def test_memory_by_forecast_unless_it_is_given():
    needed = {"knn": 2 * 2.0**30, "train": 5 * 2.0**30}
    check(node(), memory=needed, stages=["ingest", "knn"])
    check(node(), node(), memory=needed, stages=["knn", "train", "export"])
    with pytest.raises(ClusterError, match="5.0 GiB memory each; there is room for 1") as caught:
        check(node(), memory=needed, stages=["knn", "train"])
    assert "by forecast: see gsl-scale plan" in str(caught.value)
    check(node(), run=Run(workers=2, memory=1.0), memory=needed, stages=["train"])
