import pytest

from gsl_scale.errors import CorruptError, NotAStoreError
from gsl_scale.store import Artifact


def flip(path, at=0.5):
    content = bytearray(path.read_bytes())
    content[int(len(content) * at)] ^= 0x01
    path.write_bytes(bytes(content))


def test_a_whole_store_has_no_damage(store):
    assert list(store.damage()) == []
    store.verify()


def test_damage_is_named_part_by_part(store):
    flip(store.folder / "features/part-00001.npy", 0.9)
    flip(store.folder / "edges/part-00000.parquet")
    (store.folder / "ids/part-00002.parquet").unlink()
    (store.folder / "edges/part-00002.parquet").write_bytes(b"short")
    found = {part.path: reason for part, reason in store.damage()}
    assert set(found) == {
        "features/part-00001.npy",
        "edges/part-00000.parquet",
        "edges/part-00002.parquet",
        "ids/part-00002.parquet",
    }
    assert found["ids/part-00002.parquet"] == "missing"
    assert "SHA-256" in found["features/part-00001.npy"]
    assert found["edges/part-00002.parquet"].startswith("5 bytes, expected")
    with pytest.raises(CorruptError, match="damaged in 4 of 9 parts"):
        store.verify()


def test_a_table_it_does_not_have(store):
    with pytest.raises(NotAStoreError, match="has no labels") as caught:
        Artifact.open(store.folder).columns("labels")
    assert "features, edges, ids" in caught.value.why
