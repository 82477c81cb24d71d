"""What a run may say: YAML into typed, frozen models.

*What is learned* (`data`, `knn`) and *where it runs* (`run`) are separate blocks, and the
second never changes a digest. Unknown keys are errors that name the nearest key; every error
names the file, the line and the key path (`config_file.py`).
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator


class Block(BaseModel):
    """A frozen group of keys; keys it does not have are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Split(Block):
    """Labelled nodes drawn per class (stratified); what is left over is the test set."""

    train: int = Field(gt=0, description="labelled nodes to train on")
    valid: int = Field(ge=0, description="labelled nodes to validate on")
    seed: int = Field(0, ge=0, description="seed of the draw")


class DataBlock(Block):
    """What every source of data has."""

    # Keys that say where input lies. They are left out of digests, because what is
    # compared is the content of the files (see `ingest.inputs`), not their path.
    locations: ClassVar[tuple[str, ...]] = ()

    dtype: Literal["float32", "float16"] = Field(
        "float32", description="how features are stored; float16 halves the disk"
    )


class SklearnData(DataBlock):
    """A dataset that ships with scikit-learn: nothing to download."""

    source: Literal["sklearn"]
    name: Literal["wine", "cancer", "digits"] = Field(description="which one")
    split_seed: int = Field(0, ge=0, description="seed of the paper-sized label split")


class PlanetoidData(DataBlock):
    """A folder of `ind.NAME.*` files (Cora, Citeseer, Pubmed) with the public split."""

    locations: ClassVar[tuple[str, ...]] = ("folder",)

    source: Literal["planetoid"]
    name: str = Field(pattern=r"^[A-Za-z0-9_-]+$", description="cora, citeseer or pubmed")
    folder: str = Field("$GSL_DATA/planetoid", description="folder with the ind.NAME.* files")
    edges: bool = Field(True, description="false leaves the given graph out (structure inference)")


class OgbData(DataBlock):
    """An OGB node property dataset, downloaded by the ogb package or already on disk."""

    locations: ClassVar[tuple[str, ...]] = ("root",)

    source: Literal["ogb"]
    name: str = Field(pattern=r"^ogbn-[A-Za-z0-9_-]+$", description="for example ogbn-arxiv")
    root: str = Field("~/.cache/gsl_scale/ogb", description="holds (or will hold) ogbn_NAME/")
    download: bool = Field(True, description="false never uses the network")
    edges: bool = Field(True, description="false leaves the given graph out (structure inference)")


class TablesData(DataBlock):
    """Your own files: CSV, TSV, Parquet (file, folder or glob), NPY or NPZ (dense or CSR)."""

    locations: ClassVar[tuple[str, ...]] = ("features", "edges", "labels")

    source: Literal["tables"]
    features: str = Field(description="one row per node")
    edges: str | None = Field(None, description="one row per edge; none: structure inference")
    labels: str | None = Field(None, description="one row per node; only evaluation reads it")
    id_column: str | None = Field(None, description="column with your own node ids")
    feature_columns: tuple[str, ...] | None = Field(None, description="default: all that remain")
    label_column: str | None = Field(None, description="label column in labels (or features)")
    split_column: str | None = Field(None, description="train / valid / test per node")
    src_column: str | None = Field(None, description="default: src, source, from, or the first")
    dst_column: str | None = Field(None, description="default: dst, target, to, or the second")
    weight_column: str | None = Field(None, description="default: weight, if there is one")
    separator: str | None = Field(None, min_length=1, max_length=1, description="default: found")
    fill_missing: float | None = Field(None, description="number put where a feature is missing")
    unknown_nodes: Literal["refuse", "drop"] = Field(
        "refuse", description="edges that name a node without features"
    )
    split: Split | None = Field(None, description="draw a split where the files have none")


class SyntheticData(DataBlock):
    """Communities with noisy features and edges, of any size, made as a stream."""

    source: Literal["synthetic"]
    nodes: int = Field(gt=1, description="how many nodes")
    features: int = Field(64, gt=0, description="numbers per node")
    communities: int = Field(10, gt=0, description="classes; node i belongs to i mod this")
    degree: float = Field(10.0, ge=0, description="mean edges drawn per node; 0: no graph")
    mixing: float = Field(0.2, ge=0, le=1, description="share of edges that ignore communities")
    noise: float = Field(1.0, ge=0, description="feature noise against a community centre of 1")
    skew: float = Field(0.0, ge=0, lt=1, description="0: equal degrees; towards 1: a few hubs")
    seed: int = Field(0, ge=0, description="the same seed gives the same graph")


AnyData = Annotated[
    SklearnData | PlanetoidData | OgbData | TablesData | SyntheticData,
    Field(discriminator="source"),
]
DATA_BLOCKS: dict[str, type[DataBlock]] = {
    "sklearn": SklearnData,
    "planetoid": PlanetoidData,
    "ogb": OgbData,
    "tables": TablesData,
    "synthetic": SyntheticData,
}


class Knn(Block):
    """The candidates of the first round: each node's k most similar others."""

    k: int = Field(20, gt=0, description="neighbours per node")


class Run(Block):
    """Where it runs. Nothing here changes what is learned, nor any digest."""

    shards: int | Literal["auto"] = Field("auto", description="node ranges on disk")
    threads: int | Literal["auto"] = Field("auto", description="threads per process")
    batch: int = Field(8192, gt=0, description="query rows per kNN search")

    @model_validator(mode="after")
    def _positive(self) -> "Run":
        for key in ("shards", "threads"):
            number = getattr(self, key)
            if number != "auto" and number < 1:
                raise ValueError(f"{key} must be 'auto' or at least 1 (got {number})")
        return self


class Config(Block):
    """Everything a run may say."""

    data: AnyData
    knn: Knn = Knn()
    run: Run = Run()

    def to_yaml(self) -> str:
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def depends_on(config: Config, blocks: Iterable[str]) -> dict[str, Any]:
    """The keys (dotted) and values of these blocks that decide a stage's result."""
    found: dict[str, Any] = {}
    for name in blocks:
        block = getattr(config, name)
        left_out = block.locations if isinstance(block, DataBlock) else ()
        for key, value in block.model_dump(mode="json").items():
            if key not in left_out:
                found[f"{name}.{key}"] = value
    return found


def digest(values: Any) -> str:
    """SHA-256 of a JSON value, independent of the order of its keys."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
