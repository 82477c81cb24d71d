"""How large a graph is, and how wide what a learner sees, before anything is ingested."""

import numpy as np
import pytest

from gsl_scale.config_file import make_config
from gsl_scale.ingest.write import write_data
from gsl_scale.knn.search import search_knn
from gsl_scale.plan.size import Case, Size
from gsl_scale.store.artifact import Artifact
from gsl_scale.train.prepare import write_seen


def test_the_catalogue_needs_no_download(tmp_path):
    data = {"source": "ogb", "name": "ogbn-products", "root": str(tmp_path), "download": False}
    assert Size.of_config(make_config({"data": data})) == Size(2_449_029, 100, 123_718_280)
    data["edges"] = False
    assert Size.of_config(make_config({"data": data})).edges == 0


def test_own_files_are_counted(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n0,1\n2,3\n4,0\n")
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n1,2\n")
    data = {
        "source": "tables",
        "features": str(tmp_path / "x.csv"),
        "edges": str(tmp_path / "e.csv"),
    }
    found = Size.of_config(make_config({"data": data}))
    assert (found.nodes, found.features, found.edges, found.negative) == (3, 2, 4, False)
    assert found.nonzero == pytest.approx(4 / 6)


def test_synthetic_data_has_about_the_edges_that_are_expected(tmp_path):
    config = make_config({"data": {"source": "synthetic", "nodes": 2000, "degree": 5.0}})
    write_data(config, tmp_path / "data")
    stored = Size.of_data(Artifact.open(tmp_path / "data"))
    assert Size.of_config(config).edges == pytest.approx(stored.edges, rel=0.1)


@pytest.mark.parametrize(
    "learner",
    [
        {"kind": "mlp", "context": "none", "width": 0},
        {"kind": "mlp", "context": "none", "width": 5},
        {"kind": "mlp", "context": "smooth", "own": 0.5, "width": 0},
        {"kind": "attentive", "context": "manifold", "own": 2.0, "directions": 6},
        {"kind": "attentive", "context": "words", "own": 0.4, "directions": 4},
    ],
)
def test_what_the_learner_sees_is_as_wide_as_planned(learner, tmp_path):
    data = {"source": "synthetic", "nodes": 300, "features": 12}
    config = make_config({"data": data, "learner": learner, "knn": {"k": 5}})
    write_data(config, tmp_path / "data")
    artifact = Artifact.open(tmp_path / "data")
    case = Case.of(config, Size.of_data(artifact))
    search_knn(artifact, tmp_path / "knn", case.config.knn, case.config.run, config={})
    seen = write_seen(case.config, artifact, Artifact.open(tmp_path / "knn"), tmp_path / "seen")
    assert case.sees_more == (seen is not None)
    assert case.columns == (
        artifact.nodes().shape[1] if seen is None else seen.nodes("seen").shape[1]
    )
    assert np.isfinite(case.size.nonzero)
