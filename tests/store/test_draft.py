import os

import pytest

from gsl_scale.errors import ClaimedError, NotAStoreError
from gsl_scale.store import Artifact, Draft, ShardPlan
from gsl_scale.store import draft as draft_module
from gsl_scale.store.draft import state


def begin(folder, *, config=None, resume=False):
    return Draft(folder, "data", ShardPlan(4, 2), config or {}, resume=resume)


def write_part(draft, shard, text="x"):
    path = draft.path("notes", shard, "npy")
    path.write_text(text)
    return draft.seal("notes", shard, path, 2)


def test_states(tmp_path):
    final = tmp_path / "s"
    assert state(final) == "absent"
    with begin(final, resume=True) as draft:
        assert state(final) == "claimed"
        write_part(draft, 0)
    assert state(final) == "partial"
    with begin(final, resume=True) as draft:
        draft.publish()
    assert state(final) == "complete"


def test_an_abandoned_draft_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError), begin(tmp_path / "s") as draft:
        write_part(draft, 0)
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_published_store_is_all_that_is_left(tmp_path):
    for _ in range(2):  # new, then in the place of the old one
        with begin(tmp_path / "s") as draft:
            write_part(draft, 0)
            draft.scratch().joinpath("spill").write_text("x")
            draft.publish()
        assert [p.name for p in tmp_path.iterdir()] == ["s"]
        assert sorted(p.name for p in (tmp_path / "s").iterdir()) == ["manifest.json", "notes"]


def test_sealed_parts_are_kept_for_the_same_config_only(tmp_path):
    with begin(tmp_path / "s", config={"k": 1}, resume=True) as draft:
        part = write_part(draft, 1)
        draft.path("notes", 0, "npy").write_text("not sealed")
    with begin(tmp_path / "s", config={"k": 1}, resume=True) as draft:
        assert draft.sealed("notes", 0) is None
        assert draft.sealed("notes", 1) == part
    with begin(tmp_path / "s", config={"k": 2}, resume=True) as draft:
        assert draft.sealed("notes", 1) is None


def test_a_sealed_part_cut_short_is_not_trusted(tmp_path):
    with begin(tmp_path / "s", resume=True) as draft:
        write_part(draft, 1, "whole")
    with begin(tmp_path / "s", resume=True) as draft:
        draft.path("notes", 1, "npy").write_text("cut")
        assert draft.sealed("notes", 1) is None


def test_one_writer_at_a_time(tmp_path):
    with begin(tmp_path / "s"):
        with pytest.raises(ClaimedError, match=f"process {os.getpid()} on"), begin(tmp_path / "s"):
            pass
        assert state(tmp_path / "s") == "claimed"
    with begin(tmp_path / "s"):
        pass


@pytest.mark.parametrize("content", ["file", "folder"])
def test_never_replaces_what_it_did_not_write(tmp_path, content):
    final = tmp_path / "precious"
    if content == "folder":
        final.mkdir()
        (final / "thesis.tex").write_text("years")
    else:
        final.write_text("years")
    with pytest.raises(NotAStoreError, match="exists and is not a store"), begin(final):
        pass
    assert final.exists()
    assert list(tmp_path.iterdir()) == [final]


def test_a_parent_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("x")
    with (
        pytest.raises(NotAStoreError, match="is a file where a folder"),
        begin(tmp_path / "file/s"),
    ):
        pass


class TestWithoutAtomicExchange:
    """File systems that cannot swap two folders in one step (NFS, macOS)."""

    @pytest.fixture(autouse=True)
    def no_exchange(self, monkeypatch):
        monkeypatch.setattr(draft_module, "_exchange", lambda one, other: False)

    def version(self, folder):
        return Artifact.open(folder).manifest.facts["version"]

    def publish(self, folder, version):
        with begin(folder) as draft:
            draft.facts = {"version": version}
            draft.publish()

    def test_replaces(self, tmp_path):
        self.publish(tmp_path / "s", 1)
        self.publish(tmp_path / "s", 2)
        assert self.version(tmp_path / "s") == 2
        assert [p.name for p in tmp_path.iterdir()] == ["s"]

    def test_killed_between_the_two_renames(self, tmp_path):
        self.publish(tmp_path / "s", 1)
        self.publish(tmp_path / "new", 2)
        (tmp_path / "s").rename(tmp_path / ".s.old")
        (tmp_path / "new").rename(tmp_path / ".s.draft-1")
        with begin(tmp_path / "s"):
            assert self.version(tmp_path / "s") == 2
        assert [p.name for p in tmp_path.iterdir()] == ["s"]
