import numpy as np
import pytest

from gsl_scale import pipeline
from gsl_scale.config_file import make_config
from gsl_scale.errors import CorruptError, StaleArtifactError, UserError
from gsl_scale.pipeline import STAGES, stage_status
from gsl_scale.store import Artifact


@pytest.fixture
def features(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.random.default_rng(0).normal(size=(40, 4)))
    return path


@pytest.fixture
def config(features):
    def make(k: int = 3, **run: object):
        data = {"source": "tables", "features": str(features)}
        return make_config({"data": data, "knn": {"k": k}, "run": run})

    return make


# The rules are the same for every stage; the first two are the quick ones.
FIRST_TWO = STAGES[:2]


def states(config, run):
    return [stage_status(config, run, stage).state for stage in FIRST_TWO]


def stamps(run):
    return [(run / stage.folder / "manifest.json").stat().st_mtime_ns for stage in FIRST_TWO]


def run_pipeline(config, run, *, first=None, until="knn"):
    return pipeline.run_pipeline(config, run, first=first, until=until)


def test_complete_stages_are_skipped(config, tmp_path):
    run = tmp_path / "run"
    assert states(config(), run) == ["absent", "absent"]
    run_pipeline(config(), run)
    assert states(config(), run) == ["complete", "complete"]
    before = stamps(run)
    run_pipeline(config(threads=1, batch=5), run)  # where it runs changes nothing
    assert stamps(run) == before


def test_until_and_from(config, tmp_path):
    run = tmp_path / "run"
    run_pipeline(config(), run, until="ingest")
    assert states(config(), run) == ["complete", "absent"]
    run_pipeline(config(), run)
    ingested, searched = stamps(run)
    run_pipeline(config(), run, first="knn")
    assert stamps(run)[0] == ingested
    assert stamps(run)[1] > searched


def test_a_stage_that_does_not_exist(config, tmp_path):
    with pytest.raises(UserError, match="no stage 'training'"):
        run_pipeline(config(), tmp_path / "run", first="training")


def test_another_setting_makes_it_stale_and_says_why(config, tmp_path):
    run = tmp_path / "run"
    run_pipeline(config(k=3), run)
    status = stage_status(config(k=4), run, STAGES[1])
    assert (status.state, status.why) == ("stale", "knn.k was 3, is 4")
    with pytest.raises(StaleArtifactError, match="knn.k was 3, is 4") as caught:
        run_pipeline(config(k=4), run)
    assert "--from knn" in caught.value.next_step
    assert states(config(k=3), run) == ["complete", "complete"]  # the refusal lost nothing
    run_pipeline(config(k=4), run, first="knn")
    assert states(config(k=4), run) == ["complete", "complete"]


def test_changed_input_makes_it_stale(config, tmp_path, features):
    run = tmp_path / "run"
    run_pipeline(config(), run)
    features.touch()  # another time, the same content
    assert states(config(), run) == ["complete", "complete"]
    np.save(features, np.random.default_rng(1).normal(size=(40, 4)))
    assert "input changed: features" in stage_status(config(), run, STAGES[0]).why
    features.unlink()  # gone: nothing to compare with
    assert states(config(), run) == ["complete", "complete"]


def test_other_shards_make_it_stale(config, tmp_path):
    run = tmp_path / "run"
    run_pipeline(config(shards=2), run)
    assert states(config(), run) == ["complete", "complete"]  # auto takes what is there
    assert "it has 2 shards, this run has 3" in stage_status(config(shards=3), run, STAGES[0]).why


def test_a_parent_made_again(config, tmp_path, features):
    run = tmp_path / "run"
    run_pipeline(config(), run)
    run_pipeline(config(), run, first="ingest", until="ingest")
    assert states(config(), run) == ["complete", "complete"]  # the same content
    np.save(features, np.random.default_rng(1).normal(size=(40, 4)))
    run_pipeline(config(), run, first="ingest", until="ingest")
    assert stage_status(config(), run, STAGES[1]).why == "ingest was made again with other content"


def test_damage_is_found_before_reuse(config, tmp_path):
    run = tmp_path / "run"
    run_pipeline(config(), run)
    part = run / "data/features/part-00000.npy"
    content = bytearray(part.read_bytes())
    content[-1] ^= 1
    part.write_bytes(bytes(content))
    with pytest.raises(CorruptError, match=r"features/part-00000.npy"):
        run_pipeline(config(), run)
    run_pipeline(config(), run, first="ingest")
    (run / "data/manifest.json").write_text("{")
    assert states(config(), run) == ["damaged", "stale"]
    with pytest.raises(CorruptError, match=r"manifest.json is damaged"):
        run_pipeline(config(), run)


def test_the_page_comes_with_the_graph(features, tmp_path):
    data = {"source": "tables", "features": str(features)}
    blocks = {"train": {"steps": 4, "refresh": 2}, "evaluate": {"seeds": 1, "epochs": 2}}
    config, run = make_config({"data": data, "knn": {"k": 3}, **blocks}), tmp_path / "run"
    page = run / "report.html"
    run_pipeline(config, run, until="train")
    assert not page.exists()
    run_pipeline(config, run, until="export")
    assert "modularity" not in page.read_text()
    run_pipeline(config, run, until=None)
    assert "modularity" in page.read_text()
    written = page.stat().st_mtime_ns
    run_pipeline(config, run, until=None)  # nothing was done
    assert page.stat().st_mtime_ns == written
    page.unlink()
    run_pipeline(config, run, until=None)
    assert page.exists()
    assert Artifact.open(run / "metrics").columns("clusters").num_rows == 40
    assert Artifact.open(run / "graph").manifest.peak_bytes > 0
