"""A run that new nodes were added to, against what the stages would make of all nodes."""

import numpy as np
import pytest

from gsl_scale.config import depends_on
from gsl_scale.config_file import load_config
from gsl_scale.errors import InputError, NotAStoreError, StaleArtifactError, UserError
from gsl_scale.extend import neighbours
from gsl_scale.knn.search import search_knn
from gsl_scale.pipeline import STAGES, run_pipeline, stage_status
from gsl_scale.store.matrix import edges_matrix
from tests.extend.conftest import NEW, OLD, Trial, artifacts


@pytest.mark.parametrize(
    ("with_edges", "shards", "given"),
    [(False, 1, None), (False, 3, None), (True, 1, None), (True, 3, None), (True, 1, "kept")],
)
def test_new_edges_are_those_of_an_export_and_old_ones_stay(
    trial, tmp_path, with_edges, shards, given
):
    made = trial(with_edges, shards, given)
    before = artifacts(made.folder)
    after = made.extend(tmp_path / "more")
    whole = made.extend(tmp_path / "renewed", renew=True)
    old, new, all_anew = (edges_matrix(one["graph"]).toarray() for one in (before, after, whole))
    assert new.shape == (OLD + NEW, OLD + NEW)
    assert (new[:OLD, :OLD] == old).all()
    assert np.allclose(new[OLD:], all_anew[OLD:], atol=1e-6)
    assert np.allclose(new, new.T)
    assert (new[OLD:] > 0).any(axis=1).all()
    there = edges_matrix(after["data"]).toarray() > 0 if with_edges else None
    assert given is None or ((new[there] == 1).all() and (new[~there] <= 0.25).all())
    assert not np.allclose(all_anew[:OLD, :OLD], old)  # new nodes took the place of old ones


@pytest.mark.parametrize("shards", [1, 3])
def test_candidates_are_those_of_the_knn_stage(trial, tmp_path, shards):
    made = trial(shards=shards)
    after = made.extend(tmp_path / "more")
    knn = made.config.knn
    found = search_knn(after["data"], tmp_path / "knn", knn, made.config.run, config={})
    assert after["knn"].manifest.content == found.content


def test_the_same_by_a_search_of_all_where_there_are_many(trial, tmp_path, monkeypatch):
    made = trial(with_edges=True)
    few = made.extend(tmp_path / "few")
    monkeypatch.setattr(neighbours, "AFFORDABLE", 0.0)
    many = made.extend(tmp_path / "many")
    for name in few:
        assert few[name].manifest.content == many[name].manifest.content


def test_it_is_a_run_like_any_other(trial, tmp_path):
    made = trial(with_edges=True)
    made.extend(tmp_path / "more")
    config = load_config(tmp_path / "more/config.yaml")
    states = [stage_status(config, tmp_path / "more", stage).state for stage in STAGES]
    assert states == ["complete"] * 4 + ["absent"]
    run_pipeline(config, tmp_path / "more")  # evaluates it, without labels
    assert (tmp_path / "more/report.html").exists()
    again = Trial(tmp_path / "more", config, {"features": made.flags["features"]})
    twice = again.extend(tmp_path / "twice")
    assert twice["graph"].manifest.num_nodes == OLD + 2 * NEW
    first, second = (
        edges_matrix(artifacts(tmp_path / name)["graph"]) for name in ("more", "twice")
    )
    assert (second[: OLD + NEW, : OLD + NEW] != first).nnz == 0


def test_learning_anew_with_all_nodes_and_never_without(trial, tmp_path):
    made = trial()
    made.extend(tmp_path / "more")
    config = load_config(tmp_path / "more/config.yaml")
    with pytest.raises(StaleArtifactError, match="extended by 12 nodes"):
        run_pipeline(config, tmp_path / "more", first="ingest")
    run_pipeline(config, tmp_path / "more", first="train", until="export")
    assert artifacts(tmp_path / "more")["graph"].manifest.num_nodes == OLD + NEW


def test_what_auto_came_to_stays(trial, tmp_path):
    made = trial()
    made.extend(tmp_path / "more")
    settings = artifacts(made.folder)["embeddings"].manifest.facts["settings"]
    config = load_config(tmp_path / "more/config.yaml")
    assert (
        depends_on(config, ["contrast"])["contrast.batch"] == settings["contrast"]["batch"] == OLD
    )


def test_the_run_itself_is_left_alone(trial, tmp_path):
    made = trial(with_edges=True)
    before = {path: path.read_bytes() for path in made.folder.rglob("*") if path.is_file()}
    made.extend(tmp_path / "more")
    assert {p: p.read_bytes() for p in made.folder.rglob("*") if p.is_file()} == before


def test_refusals(trial, tmp_path):
    made = trial()
    with pytest.raises(UserError, match="is a run already"):
        made.extend(made.folder)
    with pytest.raises(NotAStoreError, match="not a finished run"):
        Trial(tmp_path / "none", made.config, made.flags).extend(tmp_path / "more")
    np.save(tmp_path / "wide.npy", np.ones((3, 9)))
    with pytest.raises(InputError, match=r"has 9 columns, the features of the run have 8"):
        Trial(made.folder, made.config, {"features": str(tmp_path / "wide.npy")}).extend(
            tmp_path / "more"
        )
    np.save(tmp_path / "pairs.npy", np.array([[0, OLD]]))
    with pytest.raises(InputError, match="made without edges"):
        flags = made.flags | {"edges": str(tmp_path / "pairs.npy")}
        Trial(made.folder, made.config, flags).extend(tmp_path / "more")
    assert not (tmp_path / "more").exists()
    run_pipeline(made.config.model_copy(update={"train": made.config.train.model_copy(
        update={"seed": 1})}), made.folder, first="train", until="train")  # fmt: skip
    with pytest.raises(StaleArtifactError, match="was not made from"):
        made.extend(tmp_path / "more")
