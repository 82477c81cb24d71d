"""What `cluster stop` and `status` do where there is no cluster, or a strange one."""

import os

import pytest

from gsl_scale.cluster import local
from gsl_scale.errors import ClusterError, CorruptError


def written(folder, nodes) -> None:
    state = local.Nodes(
        mark="none has this", gcs="127.0.0.1:1", temporary=str(folder / "t"), nodes=nodes
    )
    (folder / "nodes.json").write_text(state.model_dump_json())


def test_no_cluster(gsl, tmp_path):
    with pytest.raises(ClusterError, match="No cluster was started"):
        local.stop(tmp_path)
    assert "no cluster is running" in gsl("cluster", "status", "--folder", tmp_path).out


def test_a_process_that_only_has_the_same_id_is_left_alone(tmp_path):
    written(tmp_path, [local.Node(name="head", pid=os.getpid(), started=1.0, cpus=0)])
    assert not local.status(tmp_path)["running"]
    assert local.stop(tmp_path) == 0  # and we are still here
    assert list(tmp_path.iterdir()) == []


def test_one_at_a_time(tmp_path):
    import psutil

    here = psutil.Process()
    written(tmp_path, [local.Node(name="head", pid=here.pid, started=here.create_time(), cpus=0)])
    with pytest.raises(ClusterError, match="already running"):
        local.start(tmp_path, 1, 1, 0)


@pytest.mark.parametrize("text", ["", "[]", '{"mark": 1}', "\0", '{"nodes": [{"pid": "-1"}]}'])
def test_a_file_that_we_did_not_write(tmp_path, text):
    (tmp_path / "nodes.json").write_text(text)
    with pytest.raises(CorruptError, match="not what gsl-scale wrote"):
        local.stop(tmp_path)
