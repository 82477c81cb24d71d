"""What a run may say: YAML into typed, frozen models.

*What is learned* (everything else) and *where it runs* (`run`) are separate blocks, and the
second never changes a digest. Unknown keys are errors that name the nearest key; every error
names the file, the line and the key path (`config_file.py`).
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal, Self

import yaml
from pydantic import (
    BeforeValidator,
    Field,
    PlainSerializer,
    model_validator,
)

from gsl_scale.config_block import Block
from gsl_scale.config_data import AnyData

_MOST_THREADS = 1024

# What a run leaves open is chosen from the data, by `preset.py`: 'auto' in a file, AUTO in memory.
AUTO = -1


def _or_auto(lowest: int) -> BeforeValidator:
    def check(value: Any) -> Any:
        if value in ("auto", AUTO):
            return AUTO
        if isinstance(value, int | float) and value < lowest:
            raise ValueError(f"must be 'auto' or at least {lowest}")
        return value

    return BeforeValidator(check)


_shown = PlainSerializer(lambda value: "auto" if value == AUTO else value)
Count = Annotated[int, _or_auto(1), _shown]
CountOrNone = Annotated[int, _or_auto(0), _shown]
Amount = Annotated[float, _or_auto(0), _shown]
Share = Annotated[float, Field(ge=0, lt=1)]
Fanout = Annotated[int, Field(gt=0)]


class Knn(Block):
    """Candidates: each node's k most similar others."""

    k: Count = Field(AUTO, description="neighbours per node")
    keep_given: bool = Field(True, description="given edges are candidates too")
    index: str = Field("auto", description="exact, ivf, hnsw or a FAISS factory string")
    recall: float = Field(0.99, gt=0, le=1, description="an approximate search finds this share")
    sample: int = Field(1000, gt=0, description="queries that are checked for it")


class Learner(Block):
    """From features to the embeddings whose similarity is the weight of an edge."""

    later: ClassVar[tuple[str, ...]] = ("topics",)

    kind: Literal["auto", "attentive", "mlp", "gnn"] = Field("auto", description="metric learner")
    layers: int = Field(2, gt=0, description="layers of the learner")
    activation: Literal["auto", "relu", "tanh", "none"] = Field(
        "auto", description="between layers; auto: relu unless a feature is negative"
    )
    context: Literal["auto", "none", "smooth", "encoded", "manifold", "topics", "words"] = Field(
        "auto", description="what it sees beside the features: by edges, size and sparsity"
    )
    own: Amount = Field(AUTO, description="weight of the features themselves beside a context")
    hops: int = Field(12, gt=0, description="smooth: features are passed on this often")
    restart: float = Field(0.15, ge=0, le=1, description="smooth: what a node keeps of itself")
    directions: Count = Field(AUTO, description="manifold, topics, words: how many directions")
    topics: float | None = Field(
        None, ge=0, description="words: how much topics count beside rare words; none: 0.55"
    )
    width: CountOrNone = Field(
        AUTO, description="the MLP learner's input projected to this many dimensions; 0: not at all"
    )
    learning_rate: Amount = Field(AUTO, description="of the learner, not larger than train's")

    @property
    def weight_of_topics(self) -> float:
        return 0.55 if self.topics is None else self.topics


class Contrast(Block):
    """The two views, their encoder and their loss."""

    hidden: Count = Field(AUTO, description="width of the encoder's hidden layer")
    representation: Count = Field(AUTO, description="width of the representations")
    projection: Count = Field(AUTO, description="width of the projections")
    mask_learner: Share = Field(0.7, description="share of features masked in the learner view")
    mask_anchor: Share = Field(0.6, description="share of features masked in the anchor view")
    drop_edges: Share = Field(0.5, description="share of edges dropped, in both views")
    dropout: Share = Field(0.5, description="in the encoder's hidden layer")
    temperature: float = Field(0.2, ge=0.025, description="of NT-Xent")
    batch: Count = Field(AUTO, description="seeds per step")
    fanout: Literal["auto", "all"] | tuple[Fanout, Fanout] = Field(
        "auto", description="edges followed from a node, about, at each of the two hops"
    )


class AnchorSource(Block):
    """A graph that the anchor starts from: `{kind: edges, path: relations.csv, weight: 0.3}`."""

    locations: ClassVar[tuple[str, ...]] = ("path",)

    kind: Literal["given", "knn", "edges"] = Field(
        description="the given edges, the features' neighbours, or an edge list of its own"
    )
    path: str | None = Field(None, description="edges: CSV, TSV, Parquet, NPY or NPZ")
    weight: float = Field(1.0, gt=0, description="how much it counts beside the others")

    @model_validator(mode="after")
    def _has_its_file(self) -> Self:
        if (self.path is not None) != (self.kind == "edges"):
            needs = "needs a path" if self.kind == "edges" else "has no path"
            raise ValueError(f"a source of kind {self.kind} {needs}")
        return self


class Anchor(Block):
    """The slow target: tau of itself and 1 - tau of the learned graph, every c steps."""

    sources: tuple[AnchorSource, ...] | None = Field(
        None, min_length=1, description="what it starts from; none: the given edges, if any"
    )
    tau: float = Field(0.999, ge=0, le=1, description="decay; 1: never updated")
    c: Count = Field(AUTO, description="steps between updates")
    budget: Count = Field(AUTO, description="edges kept per node, the heaviest")


class Train(Block):
    """The loop."""

    steps: Count = Field(AUTO, description="at most this many")
    refresh: Count = Field(AUTO, description="steps between searches for new candidates")
    learning_rate: float = Field(1e-3, gt=0, description="of encoder and projector")
    patience: int = Field(
        5, gt=0, description="stop after this many refreshes without a lower loss"
    )
    seed: int = Field(0, ge=0, description="the same seed gives the same graph")


class Export(Block):
    """What the learned graph weighs when it is written."""

    later: ClassVar[tuple[str, ...]] = ("given", "new")

    given: Literal["learned", "kept"] | None = Field(
        None,
        description="given edges weigh what was learned, or are kept with weight 1; none: kept "
        "where nodes have 10 or more",
    )
    new: float | None = Field(
        None, gt=0, le=1, description="new edges count this much; none: 1, beside kept ones 0.25"
    )

    @property
    def share_of_new(self) -> float:
        if self.new is not None:
            return self.new
        return 0.25 if self.given == "kept" else 1.0


class Evaluate(Block):
    """How a finished graph is judged; the only block that has to do with labels."""

    later: ClassVar[tuple[str, ...]] = ("references",)

    seeds: int = Field(5, gt=0, description="classifiers trained per graph")
    hidden: Count = Field(AUTO, description="width of the GCN: 32; 256 for 100,000 nodes or more")
    layers: Count = Field(AUTO, description="layers of the GCN: 2; 3 for 100,000 nodes or more")
    learning_rate: float = Field(0.01, gt=0, description="of the GCN")
    weight_decay: tuple[float, ...] = Field(
        (5e-4, 5e-3, 3e-2, 5e-2), min_length=1, description="tried in turn; validation picks one"
    )
    dropout: Share = Field(0.5, description="of the GCN")
    drop_edges: Share = Field(0.5, description="edges dropped while the GCN trains")
    epochs: int = Field(200, gt=0, description="of the GCN, at most")
    cluster_runs: int = Field(10, gt=0, description="K-means runs")
    references: bool | None = Field(
        None, description="also smoothing and diffusion without learning; none: up to 20,000 nodes"
    )


class Run(Block):
    """Where it runs. Nothing here changes what is learned, nor any digest."""

    shards: Count = Field(AUTO, description="node ranges on disk")
    workers: int = Field(0, ge=0, description="Ray workers; 0: in this process, without Ray")
    threads: Count = Field(AUTO, le=_MOST_THREADS, description="threads per process")
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="a GPU if there is one")
    memory: Amount = Field(AUTO, description="GiB per worker for an index; auto: what is free")
    batch: int = Field(8192, gt=0, description="query rows per kNN search")
    retries: int = Field(3, ge=0, description="attempts in vain after a worker is lost")
    timeout: int = Field(900, gt=0, description="seconds a worker waits for the others")
    message_passing: Literal["torch", "dgl"] = Field("torch", description="kernels for graphs")


class Config(Block):
    """Everything a run may say."""

    data: AnyData
    learner: Learner = Learner()
    knn: Knn = Knn()
    contrast: Contrast = Contrast()
    anchor: Anchor = Anchor()
    train: Train = Train()
    export: Export = Export()
    evaluate: Evaluate = Evaluate()
    run: Run = Run()

    @model_validator(mode="after")
    def _keeps_what_it_has(self) -> Self:
        if self.export.given == "kept" and not self.knn.keep_given:
            raise ValueError("export.given=kept needs knn.keep_given=true")
        return self

    def to_yaml(self) -> str:
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def depends_on(config: Config, blocks: Iterable[str]) -> dict[str, Any]:
    """The keys (dotted) and values of these blocks that decide a stage's result."""
    found: dict[str, Any] = {}
    for name in blocks:
        block: Block = getattr(config, name)
        for key, value in block.model_dump(mode="json", exclude=_locations(block)).items():
            if value is not None or key not in block.later:
                found[f"{name}.{key}"] = value
    return found


def _locations(block: Block) -> dict[str, Any]:
    """Of a block and of those within it, as pydantic wants them."""
    found: dict[str, Any] = dict.fromkeys(block.locations, True)
    for key, value in block:
        if isinstance(value, tuple) and value and isinstance(value[0], Block):
            found[key] = {"__all__": set(value[0].locations)}
    return found


def digest(values: Any) -> str:
    """SHA-256 of a JSON value, independent of the order of its keys."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
