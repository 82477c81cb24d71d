import os
import pickle
import shutil

import numpy as np
import pytest

from gsl_scale.config_file import make_config
from gsl_scale.errors import InputError
from gsl_scale.ingest.planetoid import open_planetoid
from gsl_scale.ingest.write import write_data
from gsl_scale.store import Artifact

# nodes, undirected edges, features, classes, labelled for training; as published
SIZES = {
    "cora": (2708, 5278, 1433, 7, 140),
    "citeseer": (3327, 4552, 3703, 6, 120),
    "pubmed": (19717, 44324, 500, 3, 60),
}


def planetoid(folder, name="cora", **more):
    data = {"source": "planetoid", "name": name, "folder": str(folder), **more}
    return make_config({"data": data})


@pytest.mark.parametrize("name", SIZES)
def test_the_published_sizes(real_data, tmp_path, name):
    nodes, edges, features, classes, train = SIZES[name]
    write_data(planetoid(real_data / "planetoid", name), tmp_path / "s")
    store = Artifact.open(tmp_path / "s")
    assert store.nodes().shape == (nodes, features)
    assert len(store.edges()) == 2 * edges
    labels = store.columns("labels")
    assert len(store.manifest.facts["classes"]) == classes
    split = labels["split"].to_pylist()
    assert [split.count(part) for part in ("train", "valid", "test")] == [train, 500, 1000]
    known = np.array([label is not None for label in labels["label"].to_pylist()])
    assert known.sum() == (3312 if name == "citeseer" else nodes)
    per_class = labels.to_pandas().query("split == 'train'")["label"].value_counts()
    assert set(per_class) == {20}


def test_without_its_graph(real_data):
    assert open_planetoid(planetoid(real_data / "planetoid", edges=False).data).edges is None


def test_a_pickle_that_would_run_code_is_refused(real_data, tmp_path):
    for path in (real_data / "planetoid").glob("ind.cora.*"):
        shutil.copy(path, tmp_path)

    class Hostile:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path}/harm",)

    (tmp_path / "ind.cora.x").chmod(0o644)
    (tmp_path / "ind.cora.x").write_bytes(pickle.dumps(Hostile()))
    with pytest.raises(InputError, match=r"it asks for \w+.system"):
        open_planetoid(planetoid(tmp_path).data)
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize("content", [b"", b"not a pickle", b"\x80\x04\x95", pickle.dumps([1, 2])])
def test_other_files(real_data, tmp_path, content):
    for path in (real_data / "planetoid").glob("ind.cora.*"):
        shutil.copy(path, tmp_path)
    (tmp_path / "ind.cora.allx").chmod(0o644)
    (tmp_path / "ind.cora.allx").write_bytes(content)
    with pytest.raises(InputError):
        open_planetoid(planetoid(tmp_path).data)


def test_missing_files_are_named(tmp_path):
    with pytest.raises(InputError, match=r"lacks ind.cora.x, ind.cora.y"):
        open_planetoid(planetoid(tmp_path).data)
