"""The first anchor from several graphs, against the rule on dense matrices."""

import numpy as np
import pandas as pd
import pytest
import torch

from gsl_scale.config import depends_on
from gsl_scale.config_file import make_config
from gsl_scale.errors import ConfigError, InputError, StaleArtifactError
from gsl_scale.pipeline import run_pipeline
from gsl_scale.sources import write_first_anchor
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.matrix import edges_matrix
from tests.reference import dense

NODES, K = 30, 3


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.normal(size=(NODES, 5)))
    for name, count in (("e", 40), ("relations", 25)):
        src, dst = rng.integers(0, NODES, (2, count))
        table = pd.DataFrame({"src": src, "dst": dst, "weight": rng.uniform(0.2, 3, count)})
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def config(files, sources, edges="e.csv", **blocks):
    data = {"source": "tables", "features": "x.npy"} | ({"edges": edges} if edges else {})
    anchor = {"budget": NODES, "c": 2, "tau": 0.9, **({"sources": sources} if sources else {})}
    tree = {
        "data": data,
        "anchor": anchor | blocks.pop("anchor", {}),
        "knn": {"k": K},
        "train": {"steps": 6, "refresh": 3},
        **blocks,
    }
    return make_config(tree, folder=files)


THREE = [
    {"kind": "given", "weight": 2.0},
    {"kind": "knn", "weight": 0.5},
    {"kind": "edges", "path": "relations.csv", "weight": 1.5},
]


def first(config, run):
    run_pipeline(config, run, until="knn")
    data, knn = (Artifact.open(run / one) for one in ("data", "knn"))
    candidates = (edges for _, edges in knn.edges().parts())
    return write_first_anchor(config, data, candidates, run / "anchor"), data


def expected(files, data):
    """The weighted mean of the three, each with self-loops and normalised."""
    listed = torch.zeros(NODES, NODES)
    for src, dst, weight in pd.read_csv(files / "relations.csv").itertuples(index=False):
        if src != dst:
            a, b = int(src), int(dst)
            listed[a, b] = listed[b, a] = max(listed[a, b], torch.tensor(weight))
    rows = torch.from_numpy(np.load(files / "x.npy")).float()
    near = dense.learned(rows, K).fill_diagonal_(0)
    given = torch.from_numpy(edges_matrix(data).toarray())
    hats = [dense.normalise(one + torch.eye(NODES)) for one in (given, near, listed)]
    return (2.0 * hats[0] + 0.5 * hats[1] + 1.5 * hats[2]) / 4.0


@pytest.mark.parametrize("shards", [1, 4])
def test_is_the_weighted_mean_of_normalised_graphs(files, shards):
    made, data = first(config(files, THREE, run={"shards": shards}), files / "run")
    assert np.allclose(edges_matrix(made).toarray(), expected(files, data), atol=1e-6)


def test_of_which_each_node_keeps_the_heaviest(files):
    made, data = first(config(files, THREE, anchor={"budget": 4}), files / "run")
    whole = expected(files, data).numpy()
    found = edges_matrix(made).toarray()
    assert (np.count_nonzero(found, axis=1) <= 4).all()
    assert np.allclose(np.sort(found, axis=1)[:, -4:], np.sort(whole, axis=1)[:, -4:], atol=1e-6)


def test_none_without_sources(files):
    made, _ = first(config(files, None), files / "run")
    assert made is None


def test_the_same_in_memory_and_in_shards(files):
    """And not the same as without further sources. A learner that stands still has the degrees of
    its last refresh, with which sampled blocks are exact (`train/sampled.py`)."""
    found = {}
    for name, sources, fanout in (
        ("memory", THREE, "all"), ("shards", THREE, (NODES, NODES)), ("plain", None, "all"),
    ):  # fmt: skip
        contrast = {"fanout": fanout, "batch": NODES, "hidden": 16}
        blocks = {"contrast": contrast, "learner": {"learning_rate": 0}, "run": {"shards": 3}}
        run_pipeline(config(files, sources, **blocks), files / name, until="train")
        learned = Artifact.open(files / name / "embeddings")
        found[name] = learned.manifest.facts["history"]["loss"]
    assert found["shards"] == pytest.approx(found["memory"], rel=1e-4)
    assert found["plain"] != pytest.approx(found["memory"], rel=1e-3)


def test_a_changed_file_makes_the_training_stale(files):
    asked = config(files, THREE)
    run_pipeline(asked, files / "run", until="train")
    run_pipeline(asked, files / "run", until="train")
    moved = files / "moved.csv"
    moved.write_bytes((files / "relations.csv").read_bytes())
    elsewhere = config(files, [*THREE[:2], THREE[2] | {"path": "moved.csv"}])
    assert depends_on(elsewhere, ["anchor"]) == depends_on(asked, ["anchor"])
    run_pipeline(elsewhere, files / "run", until="train")  # the same content
    with (files / "relations.csv").open("a") as file:
        file.write("0,1,1.0\n")
    with pytest.raises(StaleArtifactError, match=r"anchor\.sources\.2"):
        run_pipeline(asked, files / "run", until="train")
    with pytest.raises(StaleArtifactError, match=r"anchor\.sources"):
        run_pipeline(config(files, THREE[:1]), files / "run", until="train")


def test_refusals(files):
    with pytest.raises(ConfigError, match=r"anchor\.sources\.0\.weigth: unknown key; did you mean"):
        config(files, [{"kind": "given", "weigth": 1.0}])
    with pytest.raises(ConfigError, match="kind edges needs a path"):
        config(files, [{"kind": "edges"}])
    with pytest.raises(ConfigError, match="kind knn has no path"):
        config(files, [{"kind": "knn", "path": "relations.csv"}])
    with pytest.raises(ConfigError, match="at least 1 item"):
        config(files, None, anchor={"sources": []})
    with pytest.raises(ConfigError, match="the data has no edges"):
        first(config(files, [{"kind": "given"}], edges=None), files / "bare")
    (files / "bad.csv").write_text("src,dst\n0,99\n")
    with pytest.raises(InputError, match=r"anchor\.sources\.0 .*bad\.csv.*0 -> 99"):
        first(config(files, [{"kind": "edges", "path": "bad.csv"}]), files / "run")
    asked = config(files, [{"kind": "edges", "path": "none.csv"}])
    with pytest.raises(InputError, match=r"anchor\.sources\.0: .*none\.csv does not exist"):
        run_pipeline(asked, files / "other", until="train")
