"""What a run may say of its data: where it lies, what its columns are, how it is split."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from gsl_scale.config_block import Block


class Split(Block):
    """Labelled nodes drawn per class (stratified); what is left over is the test set."""

    train: int = Field(gt=0, description="labelled nodes to train on")
    valid: int = Field(ge=0, description="labelled nodes to validate on")
    seed: int = Field(0, ge=0, description="seed of the draw")


class Perturb(Block):
    """Damage done on purpose, to see what refinement repairs (`evaluate/perturb.py`)."""

    delete: float = Field(0.0, ge=0, lt=1, description="share of edges taken away")
    rewire: float = Field(0.0, ge=0, lt=1, description="share of edges put between other nodes")
    add: float = Field(0.0, ge=0, le=100, description="edges added, as a share of those there are")
    mask_features: float = Field(0.0, ge=0, lt=1, description="share of columns set to 0")
    drop_features: float = Field(0.0, ge=0, lt=1, description="share of each row's values set to 0")
    seed: int = Field(0, ge=0, description="the same seed does the same damage")

    @property
    def of_edges(self) -> bool:
        return bool(self.delete or self.rewire or self.add)


class DataBlock(Block):
    """What every source of data has."""

    later: ClassVar[tuple[str, ...]] = ("perturb",)

    dtype: Literal["float32", "float16"] = Field(
        "float32", description="how features are stored; float16 halves the disk"
    )
    perturb: Perturb | None = Field(None, description="damage on purpose; none: as it comes")


Scale = Literal["auto", "none", "standard", "asinh", "log"]
_SCALE: Any = Field(
    "auto",
    description="standard: mean 0, spread 1; asinh: the same, far values drawn in; log: standard "
    "of logarithms, for skewed amounts; auto: asinh if units differ",
)


class SklearnData(DataBlock):
    """A dataset that ships with scikit-learn: nothing to download."""

    source: Literal["sklearn"]
    scale: Scale = _SCALE
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
    scale: Scale = _SCALE
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

    later: ClassVar[tuple[str, ...]] = (*DataBlock.later, "classes")

    source: Literal["synthetic"]
    nodes: int = Field(gt=1, description="how many nodes")
    features: int = Field(64, gt=0, description="numbers per node")
    communities: int = Field(10, gt=0, description="node i belongs to i mod this")
    classes: int | None = Field(
        None, gt=0, description="labels; community j has label j mod this (every one its own)"
    )
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
