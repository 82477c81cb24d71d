"""A run on a cluster, before it runs: each stage's time, memory, disk and network."""

from dataclasses import dataclass
from typing import Any

from gsl_scale.config import AUTO
from gsl_scale.knn.plan import SHARE_OF_MEMORY
from gsl_scale.plan.blocks import bytes_read, messages
from gsl_scale.plan.coefficients import Coefficients
from gsl_scale.plan.size import Case
from gsl_scale.plan.work import amounts, num_pieces, num_shards

STAGES = ("ingest", "knn", "train", "export", "evaluate")
_LINK, _START = 12, 8  # bytes, see store/links.py


@dataclass(frozen=True)
class Cluster:
    """Machines that are alike, and what joins them. Memory in bytes per node, bytes per second."""

    nodes: int
    gpus: int  # of each node
    memory: float
    bandwidth: float
    latency: float  # seconds
    disk: float | None = None  # bytes of the storage all nodes share

    def per_node(self, workers: int) -> int:
        """Workers of the fullest node."""
        return -(-workers // self.nodes)


@dataclass(frozen=True)
class StageForecast:
    stage: str
    seconds: float | None  # None: never measured
    memory: float | None  # peak bytes of a worker, or of the process that does it
    driver: float | None  # of the process that starts the workers; it counts in training
    disk: float  # bytes that stay
    scratch: float  # bytes that are there while it runs


@dataclass(frozen=True)
class Forecast:
    case: Case
    cluster: Cluster
    coefficients: Coefficients
    stages: list[StageForecast]
    step: float | None  # seconds, messages included
    refresh: float | None
    anchor: float | None
    sent: float  # bytes a worker sends per step, and receives
    read: float  # bytes a worker reads per step
    files: int  # small files of a refresh

    @property
    def pieces(self) -> int:
        """Of the index of a search while training."""
        return num_pieces(self.case, self.case.columns)

    @property
    def unmeasured(self) -> list[str]:
        """Whose memory was never measured."""
        found = [one.stage for one in self.stages if one.memory is None]
        starts = [one for one in self.stages if one.stage == "train" and one.driver is None]
        return found + (["the driver"] if starts and self.case.config.run.workers else [])

    def stage(self, name: str) -> StageForecast:
        return next(one for one in self.stages if one.stage == name)

    @property
    def seconds(self) -> float:
        """Of all stages that were ever measured."""
        return sum(stage.seconds or 0.0 for stage in self.stages)

    def to_json(self) -> dict[str, Any]:
        size, cluster = self.case.size, self.cluster
        return {
            "nodes": size.nodes,
            "features": size.features,
            "edges": size.edges,
            "workers": self.case.config.run.workers,
            "shards": num_shards(self.case),
            "index_pieces": self.pieces,
            "cluster": vars(cluster),
            "stages": [vars(stage) for stage in self.stages],
            "per_step": {"seconds": self.step, "sent": self.sent, "read": self.read},
            "refresh_seconds": self.refresh,
            "anchor_seconds": self.anchor,
            "files_per_refresh": self.files,
            "seconds": self.seconds,
        }


def forecast(
    case: Case, cluster: Cluster, coefficients: Coefficients, until: str | None = None
) -> Forecast:
    """`until`: the last stage that will be run."""
    case = bounded(case, cluster)
    found = coefficients.predict(case)
    links = coefficients.links(case)
    step = compute_seconds(case, coefficients)
    if step is not None:
        step += sending_seconds(case, cluster)
    seconds = {stage: found.get(f"{stage}.seconds") for stage in STAGES}
    seconds["train"] = _train_seconds(case, found, step)
    memory = {stage: found.get(f"{stage}.memory") for stage in STAGES}
    workers = case.config.run.workers
    memory["train"] = found.get("rank.memory" if workers else "train.memory")
    driver = {"train": found.get("driver.memory")} if workers else {}
    disk, scratch = _disk(case, found, links)
    stages = [
        StageForecast(
            stage, seconds[stage], memory[stage], driver.get(stage), disk[stage], scratch[stage]
        )
        for stage in STAGES[: STAGES.index(until) + 1 if until else None]
    ]
    sent = 2.0 * (case.workers - 1) / case.workers * sum(messages(case))
    read = bytes_read(case, links)
    files = num_shards(case) ** 2 if not case.in_memory else 0
    refresh, anchor = found.get("refresh.seconds"), found.get("anchor.seconds")
    return Forecast(case, cluster, coefficients, stages, step, refresh, anchor, sent, read, files)


def bounded(case: Case, cluster: Cluster) -> Case:
    """With the memory for an index that workers will find there (`knn/plan.py`)."""
    run = case.config.run
    if run.memory != AUTO:
        return case
    memory = SHARE_OF_MEMORY * cluster.memory / case.workers / 2**30
    config = case.config.model_copy(update={"run": run.model_copy(update={"memory": memory})})
    return Case(case.size, config)


def compute_seconds(case: Case, coefficients: Coefficients) -> float | None:
    """Of a step, without what is sent: that is the network's to say, not the measured machine's."""
    work = amounts(case, coefficients.links(case))["step.seconds"]
    alone = {term: amount for term, amount in work.items() if not term.startswith("message")}
    return coefficients.cost("step.seconds", alone)


def sending_seconds(case: Case, cluster: Cluster) -> float:
    """Sums over the ranks of a step as rings: everyone sends 2 (W - 1) / W of each message, in
    2 (W - 1) turns."""
    w = case.workers
    turns = 2.0 * (w - 1)
    return sum(turns * (cluster.latency + size / w / cluster.bandwidth) for size in messages(case))


def rounds(case: Case) -> tuple[int, int]:
    """Refreshes and updates of the anchor, if no plateau ends the training before."""
    train, anchor = case.config.train, case.config.anchor
    blends = train.steps // anchor.c if anchor.tau < 1.0 else 0
    return -(-train.steps // train.refresh), blends


def _train_seconds(case: Case, found: dict[str, float], step: float | None) -> float | None:
    parts = [found.get(f"{part}.seconds") for part in ("prepare", "refresh", "anchor")]
    if step is None or None in parts:
        return None
    prepare, refresh, anchor = (part or 0.0 for part in parts)
    refreshes, blends = rounds(case)
    return prepare + case.config.train.steps * step + refreshes * refresh + blends * anchor


def _disk(
    case: Case, found: dict[str, float], links: float
) -> tuple[dict[str, float], dict[str, float]]:
    """Bytes that stay, and bytes beside them while a stage runs."""
    n, d, w = case.size.nodes, case.size.features, case.columns
    contrast, k = case.config.contrast, case.config.knn.k
    width = 2 if case.config.data.dtype == "float16" else 4
    graph = _LINK * links + _START * n
    anchor = _LINK * n * (min(case.config.anchor.budget, links / n) + 1) + _START * n
    answers = 12.0 * 2 * k * n
    layers = 4.0 * n * (contrast.hidden + 2 * contrast.representation + w)
    stay = {
        "ingest": float(n) * d * width + found.get("edges.bytes", 0.0) + 2.0 * n,
        "knn": found.get("candidates.bytes", 0.0),
        "train": 4.0 * n * (w + contrast.representation) + found.get("candidates.bytes", 0.0),
        "export": found.get("graph.bytes", 0.0),
        "evaluate": float(n),
    }
    beside = {
        "ingest": 20.0 * case.size.edges,
        "knn": n * (4.5 * d + 8.0) + 2 * answers,
        # Two versions of each graph at a time, the search of a refresh, and layers at the end.
        "train": 2 * (graph + anchor) + n * (4.5 * w + 8.0) + 2 * answers + layers
        + (4.0 * n * w if case.sees_more else 0.0),
        "export": 20.0 * links,
        "evaluate": 0.0,
    }  # fmt: skip
    return stay, beside
