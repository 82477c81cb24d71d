"""The train stage: data and first candidates in, embeddings, representations and model out."""

from dataclasses import asdict
from pathlib import Path

from gsl_scale.config import Config, depends_on
from gsl_scale.errors import ConfigError
from gsl_scale.graph.features import scale_of
from gsl_scale.ingest.inputs import fingerprint
from gsl_scale.memory import hand_back_memory, keep_freed_memory
from gsl_scale.preset import Shape, resolve
from gsl_scale.sources import source_files, write_first_anchor
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import Draft
from gsl_scale.store.manifest import Manifest
from gsl_scale.train.launch import launch
from gsl_scale.train.learn import Learning
from gsl_scale.train.prepare import write_seen

KIND = "embeddings"
BLOCKS = ("learner", "knn", "contrast", "anchor", "train")


def train_stage(config: Config, data: Artifact, knn: Artifact, folder: Path) -> Manifest:
    """Learn and write what was learned; labels are never opened. An attempt that was cut short
    goes on from its last checkpoint."""
    keep_freed_memory()
    resolved = resolve(config, Shape.of(data))
    parents = {"data": data.manifest.content, "knn": knn.manifest.content}
    blocks, files = depends_on(config, BLOCKS), fingerprint(source_files(config.anchor))
    for number, file in enumerate(files):  # an attempt with others is of no use
        parents[f"{file.role}.{number}"] = file.sha256
    with Draft(folder, KIND, data.manifest.plan, blocks, parents, resume=True) as draft:
        draft.scratch()
        draft.inputs = files
        # Workers have a current folder of their own.
        places = (data.folder.absolute(), knn.folder.absolute())
        task = Learning(resolved, *places, draft.parts, folder.parent.absolute())
        if not task.in_memory:
            _require_local_learner(resolved)
            write_seen(resolved, data, knn, task.seen)
            hand_back_memory()  # or it would lie idle here while workers learn
        candidates = (edges for _, edges in knn.edges().parts())
        write_first_anchor(resolved, data, candidates, task.first_anchor)
        learned = launch(task)
        for name, table in learned.tables.items():
            draft.add_table(name, table)
        draft.facts = {
            "scale": float(scale_of(data)),  # of the features, for rows that come later
            "settings": {name: getattr(resolved, name).model_dump(mode="json") for name in BLOCKS},
            "history": asdict(learned.history),
            "peak_bytes": max(learned.peak_bytes),
        }
        return draft.publish()


def _require_local_learner(config: Config) -> None:
    if config.learner.kind == "gnn":
        raise ConfigError(
            "learner.kind is gnn, and graphs are read in blocks (run.workers, contrast.fanout).",
            "This learner smooths over the whole given graph at every step.",
            "Set learner.kind=mlp with learner.context=smooth, which smooths once beforehand; or "
            "run.workers=0 and contrast.fanout=all.",
        )
