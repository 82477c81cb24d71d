"""The train stage: data and first candidates in, embeddings, representations and model out."""

from dataclasses import asdict
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.torch import save_file

from gsl_scale.config import Config, depends_on
from gsl_scale.graph.features import Features
from gsl_scale.graph.load import edges_matrix
from gsl_scale.knn.search import read_candidates
from gsl_scale.memory import keep_freed_memory, peak_bytes
from gsl_scale.preset import Shape, resolve
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import Draft
from gsl_scale.store.manifest import Manifest, Table
from gsl_scale.store.nodes import write_rows
from gsl_scale.train.loop import Trainer
from gsl_scale.train.step import Model
from gsl_scale.train.whole import WholeGraphs

KIND = "embeddings"
BLOCKS = ("learner", "knn", "contrast", "anchor", "train")


def train_stage(config: Config, data: Artifact, knn: Artifact, folder: Path) -> Manifest:
    """Learn from scratch and write what was learned; labels are never opened."""
    keep_freed_memory()
    resolved = resolve(config, Shape.of(data))
    given = edges_matrix(data) if "edges" in data else None
    parents = {"data": data.manifest.content, "knn": knn.manifest.content}
    with Draft(folder, KIND, data.manifest.plan, depends_on(config, BLOCKS), parents) as draft:
        graphs = WholeGraphs(resolved, Features.of(data), given, read_candidates(knn))
        trainer = Trainer(resolved, graphs)
        history = trainer.run()
        _write_rows(draft, "embeddings", graphs.embed(trainer.model).numpy())
        _write_rows(draft, "representations", graphs.represent(trainer.model).numpy())
        _write_model(draft, trainer.model)
        draft.facts = {
            "settings": {name: getattr(resolved, name).model_dump(mode="json") for name in BLOCKS},
            "history": asdict(history),
            "peak_bytes": peak_bytes(),
        }
        return draft.publish()


def _write_rows(draft: Draft, name: str, rows: npt.NDArray[np.float32]) -> None:
    draft.add_table(name, write_rows(draft, name, [rows], rows.shape[1], "float32"))


def _write_model(draft: Draft, model: Model) -> None:
    path = draft.path("model", 0, "safetensors")
    state = {name: value.contiguous() for name, value in model.state_dict().items()}
    save_file(state, path)
    columns = {name: str(list(value.shape)) for name, value in state.items()}
    part = draft.seal("model", 0, path, len(state))
    draft.add_table("model", Table(format="safetensors", columns=columns, parts=[part]))
