"""What several test files need: the command line in this process, real data if it is there."""

import logging
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from gsl_scale import cli, progress

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster

ROOT = Path(__file__).parent.parent
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_TRAIN_HEALTH_CHECK_INTERVAL_S"] = "0.2"


class Result(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def gsl(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Result]:
    """Run `gsl-scale ARGS` in this process; any traceback fails the test."""

    def call(*args: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["gsl-scale", *map(str, args)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            cli.main()
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Result(int(stop.value.code or 0), out, err)

    yield call
    progress.show(False)


@pytest.fixture
def real_data() -> Path:
    """The folder with Planetoid, 20news and arxiv; see CONTRIBUTING.md."""
    folder = Path(os.environ.get("GSL_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}: set GSL_DATA")
    return folder


@pytest.fixture(scope="session")
def ray_here() -> Iterator["Cluster"]:
    """One Ray for all tests: three nodes with 1, 1 and 2 CPUs, all on this machine."""
    import ray
    from ray.cluster_utils import Cluster

    # Libraries put handlers in place that write to the stderr of an earlier test.
    logging.raiseExceptions = False
    small = {"object_store_memory": 80 << 20}
    head = {"num_cpus": 1, "include_dashboard": False, **small}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    for cpus in (1, 2):
        cluster.add_node(num_cpus=cpus, **small)
    ray.init(cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="session")
def learned_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 60 nodes that have names, up to its learned graph, in three shards."""
    from gsl_scale.config_file import make_config
    from gsl_scale.pipeline import run_pipeline

    folder = tmp_path_factory.mktemp("learned")
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3, 6))[np.arange(60) % 3] + 0.4 * rng.normal(size=(60, 6))
    lines = [
        "name,a,b,c,d,e,f",
        *(f"nö {i}," + ",".join(map(str, row)) for i, row in enumerate(rows)),
    ]
    (folder / "people.csv").write_text("\n".join(lines))
    data = {"source": "tables", "features": str(folder / "people.csv"), "id_column": "name"}
    tree = {"data": data, "knn": {"k": 5}, "train": {"steps": 2}, "run": {"shards": 3}}
    run_pipeline(make_config(tree), folder / "run", until="export")
    return folder / "run"
