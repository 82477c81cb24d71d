"""Features in, a better graph out, from Python."""

import numpy as np
import pytest

import gsl_scale
from gsl_scale.errors import InputError, StaleArtifactError

FEW = ["train.steps=2", "evaluate.seeds=1", "evaluate.cluster_runs=1", "knn.k=4"]


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return (rng.normal(size=(3, 6))[np.arange(40) % 3] + 0.3 * rng.normal(size=(40, 6))).astype(
        "f4"
    )


def test_arrays(rows, tmp_path):
    pairs = np.array([[0, 3], [3, 6], [1, 4]])
    graph = gsl_scale.refine(rows, pairs, out=tmp_path / "run", settings=FEW)
    assert graph.num_nodes == 40
    assert graph.to_scipy()[0, 3] > 0  # given edges are candidates
    assert (tmp_path / "run" / "report.html").exists()
    before = (tmp_path / "run" / "graph" / "manifest.json").stat().st_mtime_ns
    gsl_scale.refine(rows, pairs, out=tmp_path / "run", settings=FEW)
    assert (tmp_path / "run" / "graph" / "manifest.json").stat().st_mtime_ns == before
    with pytest.raises(StaleArtifactError):
        gsl_scale.refine(rows + 1, pairs, out=tmp_path / "run", settings=FEW)


def test_files_with_ids(rows, tmp_path):
    lines = [f"n{i}," + ",".join(map(str, row)) for i, row in enumerate(rows)]
    (tmp_path / "people.csv").write_text("\n".join(["name,a,b,c,d,e,f", *lines]))
    out = tmp_path / "run"
    graph = gsl_scale.refine(tmp_path / "people.csv", out=out, settings=FEW, id_column="name")
    assert list(graph.ids[:2]) == ["n0", "n1"]


def test_mistakes(rows, tmp_path):
    with pytest.raises(InputError, match="no features"):
        gsl_scale.refine(rows, np.array([[0, 99]]), out=tmp_path / "run", settings=FEW)
    for wrong in (rows.tolist(), rows.astype(object)):
        with pytest.raises(InputError, match="expected a file, or a NumPy array of numbers"):
            gsl_scale.refine(wrong, out=tmp_path / "wrong")
