"""Hostile input: 200 spoiled configs, manifests, edge parts and checkpoints each. Every one gives a
result or a clear error: no traceback, no hang, no write elsewhere, no memory without end."""

import hashlib
import json
import random
import resource
import signal
from pathlib import Path

import numpy as np
import psutil
import pytest
import torch
import yaml
from safetensors import safe_open
from safetensors.torch import save, save_file

from gsl_scale.config import digest
from gsl_scale.errors import CorruptError, GslError
from gsl_scale.store import Artifact, Draft, EdgeShuffle, ShardPlan
from gsl_scale.store.nodes import write_rows
from gsl_scale.train.checkpoint import Checkpoint, Checkpoints
from gsl_scale.train.history import History
from tests.faults.mutate import spoiled, twisted

NUMBER = 200
_SECONDS = 20
CONFIG = """\
data:
  source: tables
  features: people.csv   # of three
  dtype: float32
  fill_missing: 0.5
knn:
  k: 2
contrast: {batch: auto, fanout: [3, 2]}
run:
  shards: 2
  threads: 1
"""


@pytest.fixture(autouse=True)
def limits():
    """Of time for each input (see `within`), and of memory."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(
        resource.RLIMIT_AS, (psutil.Process().memory_info().vms + (4 << 30), before[1])
    )
    old = signal.signal(signal.SIGALRM, _too_long)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, old)
    resource.setrlimit(resource.RLIMIT_AS, before)


def _too_long(*_):
    raise TimeoutError(f"more than {_SECONDS} seconds")


def listed(folder):
    """Everything that is there, with its size."""
    return {
        (str(path), path.lstat().st_size) for path in sorted(folder.rglob("*")) if path.is_file()
    }


def lured():
    """What hostile paths name (see `mutate.py`), from wherever they are taken to start."""
    here = Path.cwd()
    return [folder / "pwned" for folder in (here, *here.parents) if (folder / "pwned").exists()]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The only folder that may change is the one called `run`."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert lured() == []


def judged(gsl, *arguments) -> int:
    signal.alarm(_SECONDS)
    code, out, err = gsl(*arguments)
    signal.alarm(0)
    assert code in (0, 1, 2)
    if code:
        assert "Error: " in err or "Usage" in err or "damaged" in out + err
    assert "\x1b" not in err
    return code


def test_configs(gsl, place):
    (place / "people.csv").write_text("a,b\n1,2\n3,4\n5,6\n")
    codes = set()
    for seed in range(NUMBER):
        if seed % 2:
            text = spoiled(CONFIG.encode(), seed)
        else:
            twist = twisted(yaml.safe_load(CONFIG), seed)
            text = yaml.safe_dump(twist, allow_unicode=True).encode(errors="surrogatepass")
        (place / "hostile.yaml").write_bytes(text)
        before = listed(place)
        codes.add(judged(gsl, "run", "hostile.yaml", "--until", "ingest", "--out", f"run/{seed}"))
        after = {entry for entry in listed(place) if not entry[0].startswith(str(place / "run"))}
        assert after == {entry for entry in before if not entry[0].startswith(str(place / "run"))}
    assert codes == {0, 2}


def test_aliases_that_stand_for_more_than_memory_holds(gsl, place):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    (place / "hostile.yaml").write_text("\n".join(lines))
    assert judged(gsl, "config", "hostile.yaml") == 2
    (place / "deep.yaml").write_text("a: " + "[" * 50_000)
    assert judged(gsl, "config", "deep.yaml") == 2


@pytest.fixture
def store(place):
    """Small, of four shards."""
    chance, nodes = np.random.default_rng(0), 60
    with Draft(place / "store", "data", ShardPlan(nodes, 4)) as draft:
        rows = chance.normal(size=(nodes, 3)).astype(np.float32)
        draft.add_table("features", write_rows(draft, "features", [rows], 3, "float32"))
        shuffle = EdgeShuffle(draft, mirror=True)
        shuffle.append(*chance.integers(0, nodes, (2, 300)))
        draft.add_table("edges", shuffle.finish())
        draft.publish()
    return place / "store"


def seen(gsl, store, seed) -> set[int]:
    """What one does with a store."""
    others = (
        ("show", store, "--json"),
        ("check", store),
        ("export", store, "--out", store.parent / "run.csv"),
    )
    return {judged(gsl, *words) for words in (("show", store), others[seed % 3])}


def test_manifests(gsl, store):
    path = store / "manifest.json"
    good, codes = path.read_bytes(), set()
    body = json.loads(good)
    del body["checksum"]
    before = {entry for entry in listed(store.parent) if "manifest" not in entry[0]}
    for seed in range(NUMBER):
        if seed % 4:
            twist = twisted(body, seed)
            path.write_text(signed(twist), encoding="utf-8", errors="surrogatepass")
        else:
            path.write_bytes(spoiled(good, seed))
        codes |= seen(gsl, store, seed)
        (store.parent / "run.csv").unlink(missing_ok=True)
        left = {entry for entry in listed(store.parent) if "manifest" not in entry[0]}
        assert left == before
    assert codes == {0, 1}


def signed(body) -> str:
    """As somebody would who knows how checksums are made."""
    try:
        checksum = digest(body)
    except ValueError:
        checksum = "0" * 64
    return json.dumps({**body, "checksum": checksum} if isinstance(body, dict) else body)


def test_edge_parts(gsl, store):
    manifest = store / "manifest.json"
    body = json.loads(manifest.read_bytes())
    del body["checksum"]
    record = body["tables"]["edges"]["parts"][3]
    path = store / record["path"]
    good, codes = path.read_bytes(), set()
    before = {name for name, _ in listed(store.parent)}
    for seed in range(NUMBER):
        text = spoiled(good, seed)
        path.write_bytes(text)
        if seed % 2:  # and the manifest says that it is right so
            record |= {"bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}
            manifest.write_text(signed(body))
        codes |= seen(gsl, store, seed)
        (store.parent / "run.csv").unlink(missing_ok=True)
        assert {name for name, _ in listed(store.parent)} == before
    assert codes == {0, 1}


@pytest.mark.parametrize("name", ["src", "dst"])
def test_an_edge_to_no_node(store, name):
    """Well-formed, and would be read past the end of an array."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from gsl_scale.store.edges import SCHEMA

    path = store / "edges/part-00003.parquet"
    table = pq.read_table(path)
    columns = {key: table[key].to_numpy().copy() for key in SCHEMA.names}
    columns[name][-1] = 2**40
    pq.write_table(pa.table(columns, schema=SCHEMA), path)
    with pytest.raises(CorruptError, match=f"{name} is not a node"):
        Artifact.open(store).edges().read()


def test_a_part_that_leads_elsewhere(gsl, store):
    path = store / "edges/part-00003.parquet"
    secret = store.parent / "secret.parquet"
    path.rename(secret)
    path.symlink_to(secret)
    assert judged(gsl, "show", store) == 1
    assert judged(gsl, "check", store) == 1


@pytest.fixture
def training(tmp_path):
    """A checkpoint, and the model and optimiser it is of."""
    work = tmp_path / "run"
    for folder in ("sketch-00001", "anchor-00000"):
        (work / folder).mkdir(parents=True)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))
    optimiser = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimiser.step()
    history = History([10, 20], [3.0, 2.0], [0.5, 0.6], "", 1.5)
    Checkpoints(work).write(Checkpoint.of(model, optimiser, history, {"sketch": 1, "anchor": 0}))
    return work, model, optimiser


def test_checkpoints(training, tmp_path):
    work, model, optimiser = training
    (path,) = work.glob("checkpoint-*")
    good, outcomes = path.read_bytes(), set()
    (tmp_path / "elsewhere-00001").mkdir()
    before = listed(tmp_path)
    for seed in range(NUMBER):
        path.write_bytes(spoiled(good, seed) if seed % 2 else retold(path, good, seed))
        signal.alarm(_SECONDS)
        try:
            found = Checkpoints(work).latest()
            if found is not None:
                found.load_into(model, optimiser)
                optimiser.step()
                assert found.versions == {"sketch": 1, "anchor": 0}
            outcomes.add("skipped" if found is None else "used")
        except GslError as error:
            outcomes.add(type(error).__name__)
        signal.alarm(0)
        path.write_bytes(good)
        assert listed(tmp_path) == before
    assert outcomes == {"skipped", "used", "CorruptError"}


def retold(path, good, seed) -> bytes:
    """A well-formed file with another header, or other tensors."""
    path.write_bytes(good)
    with safe_open(path, "pt") as file:
        header, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    chance = random.Random(seed)
    if chance.random() < 0.6:
        tree = twisted({key: json.loads(value) for key, value in header.items()}, seed)
        tree = twisted(tree, seed) if tree else {}
        text = {
            str(key).encode(errors="replace").decode(): json.dumps(value)
            for key, value in tree.items()
        }
        return save(tensors, text)
    name = chance.choice(sorted(tensors))
    other = torch.zeros(
        [1] * chance.randrange(3), dtype=chance.choice([torch.int8, torch.float64, torch.float32])
    )
    tensors[chance.choice([name, "model.other", "optimiser.99.exp_avg", "optimiser.x", "x"])] = (
        other
    )
    return save(tensors, header)


def test_a_checkpoint_of_versions_elsewhere(training, tmp_path):
    """Kinds of graphs are folder names; none that leads out of the run is taken."""
    work, _model, _ = training
    (path,) = work.glob("checkpoint-*")
    (tmp_path / "elsewhere-00001").mkdir()
    history = json.dumps({"step": [], "loss": [], "kept": [], "stopped": "", "seconds": 0.0})
    save_file({"x": torch.zeros(1)}, path, {"history": history, "versions": '{"../elsewhere": 1}'})
    assert Checkpoints(work).latest() is None
    assert np.all([p.exists() for p in (tmp_path / "elsewhere-00001", work / "sketch-00001")])
