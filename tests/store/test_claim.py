"""The fence: an attempt whose claim was lost cannot write. The loss is played by removing the claim
file, which is what a file system without locks across nodes amounts to."""

import pytest

from gsl_scale.errors import FencedError
from gsl_scale.store import Artifact, Draft, ShardPlan
from gsl_scale.store.claim import claim_path
from tests.store.test_draft import begin, write_part


@pytest.fixture
def final(tmp_path):
    return tmp_path / "s"


def test_an_overtaken_attempt_cannot_write_nor_publish(final):
    with pytest.raises(FencedError, match=f"taken over {final}"):  # noqa: SIM117
        with begin(final, resume=True) as first:
            kept = write_part(first, 0, "first")
            claim_path(final).unlink()
            with begin(final, resume=True) as second:
                assert second.sealed("notes", 0) == kept
                with pytest.raises(FileNotFoundError):
                    write_part(first, 1, "first")
                with pytest.raises(FencedError):
                    first.publish()
                write_part(second, 1, "second")
                second.publish()
            first.path("notes", 1, "npy").write_text("first")
    assert (final / "notes/part-00000.npy").read_text() == "first"
    assert (final / "notes/part-00001.npy").read_text() == "second"
    assert [path.name for path in final.parent.iterdir()] == ["s"]


def test_a_file_that_is_still_open_is_not_the_one_that_counts(final):
    with begin(final, resume=True) as first:
        half = first.path("notes", 1, "npy").open("w")
        scratch = (first.scratch() / "answers.tmp.npy").open("w")
        claim_path(final).unlink()
        with begin(final, resume=True) as second:
            part = write_part(second, 1, "second")
            mine = second.scratch() / "answers.tmp.npy"
            mine.write_text("second")
            for file in (half, scratch):
                file.write("from the grave")
                file.close()
            assert mine.read_text() == "second"
            second.add_table("notes", _table(part))
            second.publish()
    Artifact.open(final).verify()
    assert (final / "notes/part-00001.npy").read_text() == "second"


def test_an_artifact_inside_an_overtaken_draft(final):
    with pytest.raises(FencedError, match=f"taken over {final}"):  # noqa: SIM117
        with begin(final, resume=True) as first:
            inner = first.scratch() / "anchor"
            claim_path(final).unlink()
            with begin(final, resume=True), Draft(inner, "anchor", ShardPlan(4, 2)):
                pass
    assert not any("anchor" in path.name for path in final.parent.rglob("*"))


def test_the_claim_of_another_is_left_alone(final):
    with begin(final):
        claim_path(final).unlink()
        other = begin(final)
        other.__enter__()
    assert claim_path(final).exists()
    other.__exit__(None, None, None)
    assert not claim_path(final).exists()


def _table(part):
    from gsl_scale.store.manifest import Table

    return Table(format="npy", columns={}, parts=[part])
