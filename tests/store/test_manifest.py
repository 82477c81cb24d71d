import json

import pytest

from gsl_scale.config import digest
from gsl_scale.errors import CorruptError, NewerSchemaError, NotAStoreError
from gsl_scale.store import Artifact
from gsl_scale.store.manifest import SCHEMA_VERSION, read_manifest


def rewrite(store: Artifact, **change: object) -> None:
    """Change a manifest as its own writer would, checksum included."""
    path = store.folder / "manifest.json"
    body = json.loads(path.read_text())
    body.pop("checksum")
    body.update(change)
    path.write_text(json.dumps({**body, "checksum": digest(body)}))


def test_records_what_design_asks_for(store):
    manifest = store.manifest
    assert manifest.schema_version == SCHEMA_VERSION
    assert manifest.config == {"seed": 0}
    assert manifest.config_digest == digest({"seed": 0})
    assert (manifest.num_nodes, manifest.num_shards) == (50, 3)
    part = manifest.tables["edges"].parts[1]
    assert part.path == "edges/part-00001.parquet"
    assert (part.start, part.stop) == (16, 33)
    assert part.bytes == (store.folder / part.path).stat().st_size


def test_content_is_the_same_for_the_same_data(make_store, tmp_path):
    contents = [make_store(tmp_path / name, seed=s).manifest.content for name, s in
                [("a", 0), ("b", 0), ("c", 1)]]  # fmt: skip
    assert contents[0] == contents[1] != contents[2]


def test_any_flipped_byte_is_found(store):
    path = store.folder / "manifest.json"
    good = path.read_bytes()
    for at in range(0, len(good), 7):
        bad = bytearray(good)
        bad[at] ^= 0x04
        path.write_bytes(bytes(bad))
        try:
            read_manifest(store.folder)
        except (CorruptError, NewerSchemaError):
            continue
        # White space between values may change without changing what is said.
        assert json.loads(bad) == json.loads(good)


def test_cut_short(store):
    path = store.folder / "manifest.json"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(CorruptError, match="not valid JSON"):
        read_manifest(store.folder)


def test_newer_schema(store):
    rewrite(store, schema_version=SCHEMA_VERSION + 1, written_by="gsl-scale 9.0")
    with pytest.raises(NewerSchemaError, match="schema version 2") as caught:
        read_manifest(store.folder)
    assert "gsl-scale 9.0" in caught.value.why


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "edges/../../x", "", "a\\b"])
def test_parts_cannot_leave_the_artifact(store, path):
    tables = json.loads((store.folder / "manifest.json").read_text())["tables"]
    tables["edges"]["parts"][0]["path"] = path
    rewrite(store, tables=tables)
    with pytest.raises(CorruptError, match="leaves the artifact"):
        read_manifest(store.folder)


def test_wrong_types(store):
    rewrite(store, num_nodes="many")
    with pytest.raises(CorruptError, match="num_nodes"):
        read_manifest(store.folder)


def test_not_a_store(tmp_path):
    with pytest.raises(NotAStoreError, match="does not exist"):
        read_manifest(tmp_path / "none")
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotAStoreError, match="is a file"):
        read_manifest(tmp_path / "file")
    with pytest.raises(NotAStoreError, match="has no manifest.json"):
        read_manifest(tmp_path)
