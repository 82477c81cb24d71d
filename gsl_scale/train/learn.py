"""A training from its inputs to its tables, as each rank runs it; one process is one rank."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from gsl_scale.config import Config
from gsl_scale.graph.features import Features
from gsl_scale.knn.search import read_candidates
from gsl_scale.memory import peak_bytes
from gsl_scale.ranks import Ranks
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import explained
from gsl_scale.store.manifest import Table, write_durably
from gsl_scale.store.matrix import edges_matrix
from gsl_scale.store.parts import Parts
from gsl_scale.store.tensors import write_tensors
from gsl_scale.train.checkpoint import Checkpoints
from gsl_scale.train.history import History
from gsl_scale.train.journal import Journal
from gsl_scale.train.loop import Trainer
from gsl_scale.train.sharded import ShardedGraphs
from gsl_scale.train.whole import WholeGraphs


@dataclass(frozen=True)
class Learning:
    """What there is to learn, and where it goes; small enough to send to a worker."""

    config: Config  # no 'auto' left
    data: Path
    knn: Path
    out: Parts  # of the stage's draft
    run: Path  # folder, for the journal

    @property
    def work(self) -> Path:
        """Checkpoints and versions of the graphs, until the stage is published."""
        return self.out.folder / "scratch"

    @property
    def seen(self) -> Path:
        """What the learner sees, if not the features (`prepare.py`)."""
        return self.work / "seen"

    @property
    def first_anchor(self) -> Path:
        """If the config names its sources (`sources.py`)."""
        return self.work / "first-anchor"

    @property
    def in_memory(self) -> bool:
        """Whether one process has all of the graphs."""
        return self.config.run.workers == 0 and self.config.contrast.fanout == "all"


class Learned(BaseModel):
    tables: dict[str, Table]
    history: History
    peak_bytes: list[int]  # of each rank


def learn(task: Learning, ranks: Ranks) -> Learned:
    """Go on from the last checkpoint, if there is one, to the end."""
    with explained(task.run):
        return _learn(task, ranks)


def _learn(task: Learning, ranks: Ranks) -> Learned:
    done = task.work / "learned.json"
    if done.exists():
        return Learned.model_validate_json(done.read_bytes())
    data, knn = Artifact.open(task.data), Artifact.open(task.knn)
    first = Artifact.open(task.first_anchor) if task.first_anchor.exists() else None
    graphs: WholeGraphs | ShardedGraphs
    if task.in_memory:
        given = edges_matrix(data) if "edges" in data else None
        nearest = read_candidates(knn)
        graphs = WholeGraphs(task.config, Features.of(data), given, nearest, task.work, first)
    else:
        seen = Artifact.open(task.seen) if task.seen.exists() else None
        graphs = ShardedGraphs(task.config, data, seen, knn, task.work, ranks, first)
    trainer = Trainer(task.config, graphs, ranks, Checkpoints(task.work))
    journal = Journal(task.run if ranks.rank == 0 else None)
    try:
        history = trainer.run(journal=journal)
    finally:
        journal.end()
    tables = graphs.write(trainer.model, task.out)
    tables["model"] = ranks.lead(
        lambda: write_tensors(task.out, "model", trainer.model.state_dict())
    )
    peaks = [peak for _, peak in ranks.map(lambda _: peak_bytes(), range(ranks.size))]
    learned = Learned(tables=tables, history=history, peak_bytes=peaks)
    ranks.lead(lambda: write_durably(done, learned.model_dump_json()))
    return learned
