"""Stages in order: which are complete, which are stale and why, and running those that are not.

A stage is skipped only if its artifact was made from these very settings, parents, input files
and shards, and its bytes are still whole.
"""

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gsl_scale import progress
from gsl_scale.config import AUTO, Config, depends_on
from gsl_scale.engine import set_threads, threads_of
from gsl_scale.errors import CorruptError, NotAStoreError, StaleArtifactError, UserError
from gsl_scale.ingest import input_paths
from gsl_scale.ingest.inputs import changed
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import discard, state
from gsl_scale.store.manifest import Manifest, write_durably

if TYPE_CHECKING:
    from gsl_scale.remote.run import RemoteRun

EXTENDED = "extended"  # in the facts of data to which nodes were added (`gsl_scale/extend/`)


@dataclass(frozen=True)
class Stage:
    """A step of the pipeline: the config blocks it depends on and the stages it reads."""

    name: str
    folder: str
    blocks: tuple[str, ...]
    parents: tuple[str, ...]
    run: Callable[[Config, Path], Manifest]


@dataclass(frozen=True)
class StageStatus:
    stage: str
    state: str  # absent, claimed, partial, complete, stale or damaged
    why: str = ""
    rows: dict[str, int] | None = None
    bytes: int = 0
    seconds: float = 0.0


def _run_ingest(config: Config, run: Path) -> Manifest:
    from gsl_scale.ingest.write import write_data

    manifest = write_data(config, run / "data")
    for finding in manifest.facts["findings"]:
        progress.say(f"{finding['outcome']}: {finding['text']}")
    return manifest


def _run_knn(config: Config, run: Path) -> Manifest:
    from gsl_scale.knn.search import search_knn
    from gsl_scale.preset import Shape, resolve

    data = Artifact.open(run / "data")
    knn = resolve(config, Shape.of(data)).knn
    return search_knn(data, run / "knn", knn, config.run, config=depends_on(config, ["knn"]))


def _run_train(config: Config, run: Path) -> Manifest:
    from gsl_scale.train.stage import train_stage

    data, knn = (Artifact.open(run / name) for name in ("data", "knn"))
    return train_stage(config, data, knn, run / "embeddings")


def _run_export(config: Config, run: Path) -> Manifest:
    from gsl_scale.export import export_stage

    data, learned = (Artifact.open(run / name) for name in ("data", "embeddings"))
    return export_stage(config, data, learned, run / "graph")


def _run_evaluate(config: Config, run: Path) -> Manifest:
    from gsl_scale.evaluate.stage import evaluate_stage

    data, knn, learned, graph = (
        Artifact.open(run / name) for name in ("data", "knn", "embeddings", "graph")
    )
    manifest = evaluate_stage(config, data, knn, learned, graph, run / "metrics")
    text = json.dumps(manifest.facts, indent=1, ensure_ascii=False)
    write_durably(run / "metrics.json", text)
    return manifest


_LEARNED_FROM = ("learner", "knn", "contrast", "anchor", "train")
STAGES = (
    Stage("ingest", "data", ("data",), (), _run_ingest),
    Stage("knn", "knn", ("knn",), ("ingest",), _run_knn),
    Stage("train", "embeddings", _LEARNED_FROM, ("ingest", "knn"), _run_train),
    Stage("export", "graph", ("knn", "export"), ("ingest", "train"), _run_export),
    Stage(
        "evaluate", "metrics", ("evaluate",), ("ingest", "knn", "train", "export"), _run_evaluate
    ),
)
NAMES = tuple(stage.name for stage in STAGES)


def run_pipeline(
    config: Config,
    run: Path,
    *,
    first: str | None = None,
    until: str | None = None,
    remote: "RemoteRun | None" = None,
) -> list[StageStatus]:
    """Run what is not complete, and go on where an attempt was cut short; `first` rebuilds from
    that stage on, using nothing of earlier attempts; `until` stops after one. If the run lies in an
    object store (`remote`), `run` is its copy here, and each artifact is mirrored once done."""
    require_stage(first)
    require_stage(until)
    prepare_process(config)
    if remote is not None and (there := _bring(config, remote, first, until)):
        return there
    done: list[StageStatus] = []
    rebuild = built = False
    for stage in STAGES:
        rebuild = rebuild or stage.name == first
        status = stage_status(config, run, stage)
        if status.state == "complete" and not rebuild:
            _verify(run / stage.folder)
            progress.say(f"{stage.name}: complete, skipped")
        else:
            if rebuild:
                _refuse_loss(run, stage)
                discard(run / stage.folder)
            else:
                _refuse_reuse(f"{run / stage.folder}", stage, status)
            began = time.monotonic()
            _write_config(config, run)
            with _mirrored(remote, stage):
                stage.run(config, run)
            built = True
            status = stage_status(config, run, stage)
            progress.say(f"{stage.name}: done in {time.monotonic() - began:.1f} s")
        done.append(status)
        if remote is not None:
            remote.push(stage.folder, again=rebuild)
        if stage.name == until:
            break
    _write_page(run, done, built)
    if remote is not None:
        remote.push_files()
    return done


def _mirrored(remote: "RemoteRun | None", stage: Stage) -> AbstractContextManager[None]:
    """While a stage runs: its config and its checkpoints."""
    if remote is None:
        return nullcontext()
    remote.push_files()
    return remote.watched(stage.folder) if stage.name == "train" else nullcontext()


def _bring(
    config: Config, remote: "RemoteRun", first: str | None, until: str | None
) -> list[StageStatus]:
    """Bring what lies in the object store here: all that stages yet to be run may read. If none is
    to be run, only small files, and what each stage is."""
    done = []
    with remote.view() as manifests:
        for stage in STAGES:
            if stage.name == first:
                _refuse_loss(manifests, stage)
                break
            status = stage_status(config, manifests, stage)
            _refuse_reuse(f"{remote.uri}/{stage.folder}", stage, status)
            done.append(status)
            if stage.name == until:
                break
    remote.fetch_files()
    if first is None and all(status.state == "complete" for status in done):
        for stage in STAGES[: len(done)]:
            remote.push(stage.folder)  # what an attempt before could not
            progress.say(f"{stage.name}: complete in {remote.uri}, skipped")
        return done
    names = {status.stage for status in done if status.state == "complete"}
    remote.fetch([stage.folder for stage in STAGES if stage.name in names])
    remote.restore_checkpoint(forget=first is not None)
    return []


def _write_page(run: Path, done: list[StageStatus], built: bool) -> None:
    """As soon as there is a learned graph, evaluated or not."""
    from gsl_scale.report.page import FILE_NAME, write_page

    if "export" in {status.stage for status in done} and (built or not (run / FILE_NAME).exists()):
        began = time.monotonic()
        write_page(run)
        progress.say(f"report: done in {time.monotonic() - began:.1f} s")


def stage_status(config: Config, run: Path, stage: Stage) -> StageStatus:
    """What is there for a stage, and whether it is what this config asks for."""
    folder = run / stage.folder
    found = state(folder)
    if found != "complete":
        return StageStatus(stage.name, found)
    try:
        manifest = Artifact.open(folder).manifest
    except CorruptError as error:
        return StageStatus(stage.name, "damaged", error.what)
    reasons = _why_stale(config, run, stage, manifest)
    return StageStatus(
        stage.name,
        "stale" if reasons else "complete",
        "; ".join(reasons),
        {name: table.rows for name, table in manifest.tables.items()},
        sum(table.bytes for table in manifest.tables.values()),
        manifest.seconds,
    )


def _why_stale(config: Config, run: Path, stage: Stage, manifest: Manifest) -> list[str]:
    wanted = depends_on(config, stage.blocks)
    reasons = [
        f"{key} was {_shown(manifest.config.get(key))}, is {_shown(wanted.get(key))}"
        for key in sorted(wanted.keys() | manifest.config.keys())
        if manifest.config.get(key) != wanted.get(key)
    ]
    shards = config.run.shards
    if stage.name == "ingest":
        if shards not in (AUTO, manifest.num_shards):
            reasons.append(f"it has {manifest.num_shards} shards, this run has {shards}")
        # Input that is gone cannot be compared, nor could the artifact be made again; that of an
        # extended run is not all there in the config.
        if EXTENDED not in manifest.facts:
            with suppress(UserError):
                roles = changed(manifest.inputs, input_paths(config.data))
                reasons += [f"input changed: {role}" for role in roles]
    if stage.name == "train" and (manifest.inputs or config.anchor.sources):
        from gsl_scale.sources import source_files

        with suppress(UserError):
            roles = changed(manifest.inputs, source_files(config.anchor))
            reasons += [f"input changed: {role}" for role in roles]
    for parent in stage.parents:
        folder = next(s.folder for s in STAGES if s.name == parent)
        try:
            content = Artifact.open(run / folder).manifest.content
        except (NotAStoreError, CorruptError):
            reasons.append(f"{parent} is not there")
            continue
        if manifest.parents.get(folder) != content:
            reasons.append(f"{parent} was made again with other content")
    return reasons


def _shown(value: Any) -> str:
    return "not set" if value is None else str(value)


def _refuse_reuse(place: str, stage: Stage, status: StageStatus) -> None:
    rebuild = f"Rebuild from here with --from {stage.name}, or give another --out."
    if status.state == "stale":
        raise StaleArtifactError(
            f"{place} is stale: {status.why}.",
            "It does not belong to this config, and is not reused silently.",
            rebuild,
            stage=stage.name,
        )
    if status.state == "damaged":
        raise CorruptError(status.why, next_step=rebuild, stage=stage.name)


def _refuse_loss(run: Path, stage: Stage) -> None:
    """Nodes that were added later are in no file that the config names."""
    if stage.name != "ingest" or state(run / stage.folder) != "complete":
        return
    added = Artifact.open(run / stage.folder).manifest.facts.get(EXTENDED)
    if added:
        raise StaleArtifactError(
            f"{run / stage.folder} was extended by {sum(one['nodes'] for one in added):,} nodes, "
            "which the files of its config do not have.",
            "Ingesting again would lose them.",
            "Learn anew with all nodes: --from train; or give another --out.",
            stage=stage.name,
        )


def _verify(folder: Path) -> None:
    artifact = Artifact.open(folder)
    with progress.track(f"verifying {folder.name}", artifact.bytes) as advance:
        artifact.verify(advance)


def require_stage(name: str | None) -> None:
    if name is not None and name not in NAMES:
        raise UserError(f"There is no stage {name!r}.", f"Stages, in order: {', '.join(NAMES)}.")


def prepare_process(config: Config) -> None:
    """Set threads and kernels as `run` says."""
    from gsl_scale.graph import ops

    ops.use(config.run.message_passing)
    set_threads(threads_of(config.run))


def _write_config(config: Config, run: Path) -> None:
    run.mkdir(parents=True, exist_ok=True)
    write_durably(run / "config.yaml", config.to_yaml())
