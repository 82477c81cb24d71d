"""OGB node property datasets, streamed from OGB's own layout on disk.

The `ogb` package tells what there is and where it is downloaded from. Its loader is not used: it
holds the whole graph in memory and keeps a pickle that current torch refuses. The raw files are
read here block by block, so ogbn-papers100M (57 GB of features) needs no more memory than arxiv.

    ROOT/ogbn_arxiv/raw/{node-feat,edge,node-label,num-node-list}.csv.gz      or
    ROOT/ogbn_papers100M/raw/{data,node-label}.npz
    ROOT/NAME/split/SPLIT/{train,valid,test}.csv.gz
"""

import importlib.util
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from gsl_scale import progress
from gsl_scale.config_data import OgbData
from gsl_scale.errors import InputError
from gsl_scale.ingest.arrays import ArrayFile
from gsl_scale.ingest.files import CsvTable
from gsl_scale.ingest.source import BLOCK_ROWS, EdgeBlock, Rows, Source, labels_table

_SPLITS = ("train", "valid", "test")


def open_ogb(data: OgbData) -> Source:
    about = _about(data.name)
    folder = _folder(data)
    if not (folder / "raw").is_dir():
        _download(data, about, folder)
    absent = [path for _, path in input_paths(data) if not path.exists()]
    if absent:
        raise InputError(
            f"{absent[0]} does not exist.",
            "OGB's layout is not complete.",
            "Delete the folder and let it be downloaded again.",
        )
    raw = folder / "raw"
    binary = (raw / "data.npz").exists()
    num_nodes, num_features = _sizes(raw, binary)
    read_features = _binary_features if binary else _csv_features
    read_edges = _binary_edges if binary else _csv_edges
    return Source(
        num_nodes=num_nodes,
        num_features=num_features,
        features=partial(read_features, raw),
        edges=partial(read_edges, raw) if data.edges else None,
        labels=partial(_labels, folder, binary, str(about["split"]), num_nodes),
        inputs=tuple(input_paths(data)),
        facts={"classes": [str(c) for c in range(int(about["num classes"]))]},
    )


def input_paths(data: OgbData) -> list[tuple[str, Path]]:
    raw = _folder(data) / "raw"
    if not raw.is_dir():
        return []
    names = (
        ("data.npz", "node-label.npz")
        if (raw / "data.npz").exists()
        else ("node-feat.csv.gz", "edge.csv.gz", "node-label.csv.gz", "num-node-list.csv.gz")
    )
    return [(name, raw / name) for name in names]


def _folder(data: OgbData) -> Path:
    return Path(data.root) / data.name.replace("-", "_")


def _about(name: str) -> dict[str, Any]:
    """What the ogb package knows of a dataset, without importing it (that goes to the network)."""
    spec = importlib.util.find_spec("ogb")
    assert spec is not None and spec.submodule_search_locations
    master = Path(spec.submodule_search_locations[0]) / "nodeproppred" / "master.csv"
    known = pd.read_csv(master, index_col=0, keep_default_na=False)
    usable = [
        str(one)
        for one, row in known.items()
        if row["is hetero"] == "False" and row["has_node_attr"] == "True"
    ]
    if name not in usable:
        raise InputError(
            f"{name} is not an OGB dataset with one kind of node and node features.",
            f"There are: {', '.join(usable)}.",
            "Set data.name to one of them.",
        )
    return dict(known[name])


def _download(data: OgbData, about: dict[str, Any], folder: Path) -> None:
    if not data.download:
        raise InputError(
            f"{folder}/raw does not exist and data.download is false.",
            next_step=f"Put {data.name} there in OGB's layout, or set data.download=true.",
        )
    root = Path(data.root)
    progress.say(f"{data.name}: downloading {about['url']}")
    try:
        from ogb.utils.url import download_url, extract_zip

        root.mkdir(parents=True, exist_ok=True)
        archive = Path(download_url(about["url"], str(root), log=False))
        extract_zip(str(archive), str(root), log=False)
    except Exception as error:
        raise InputError(
            f"{data.name} could not be downloaded: {error}",
            f"It is fetched once, from {about['url']}.",
            f"Check the network, or unpack it by hand as {folder}, then run again.",
        ) from None
    archive.unlink()
    shutil.move(root / str(about["download_name"]), folder)


def _csv(raw: Path, name: str) -> CsvTable:
    return CsvTable(raw / f"{name}.csv.gz", ",", name)


def _sizes(raw: Path, binary: bool) -> tuple[int, int]:
    if binary:
        shape, _, _ = ArrayFile(raw / "data.npz", "features").shape_and_type("node_feat")
        return shape[0], shape[1]
    num_nodes = int(next(_csv(raw, "num-node-list")._lines())[0])
    return num_nodes, len(_csv(raw, "node-feat").names)


def _csv_features(raw: Path) -> Iterator[Rows]:
    table = _csv(raw, "node-feat")
    types = dict.fromkeys(table.names, pa.float32())
    for block in table.blocks(table.names, types):
        yield np.stack([column.to_numpy() for column in block.columns], axis=1)


def _csv_edges(raw: Path) -> Iterator[EdgeBlock]:
    table = _csv(raw, "edge")
    for block in table.blocks(table.names, dict.fromkeys(table.names, pa.int64())):
        src, dst = (column.to_numpy() for column in block.columns)
        yield EdgeBlock(src, dst, None)


def _binary_features(raw: Path) -> Iterator[Rows]:
    for block in ArrayFile(raw / "data.npz", "features").rows("node_feat"):
        yield block.astype(np.float32, copy=False)


def _binary_edges(raw: Path) -> Iterator[EdgeBlock]:
    """edge_index is (2, edges): its two rows are read side by side, a block of each at a time."""
    file = ArrayFile(raw / "data.npz", "edges")
    for src, dst in zip(file.row(0, "edge_index"), file.row(1, "edge_index"), strict=True):
        yield EdgeBlock(src.astype(np.int64), dst.astype(np.int64), None)


def _labels(folder: Path, binary: bool, split_name: str, num_nodes: int) -> Iterator[pa.Table]:
    raw = folder / "raw"
    code = np.zeros(num_nodes, np.int8)  # a name per node would be 20 bytes each
    for number, name in enumerate(_SPLITS, start=1):
        rows = pd.read_csv(folder / "split" / split_name / f"{name}.csv.gz", header=None)
        code[rows[0].to_numpy(np.int64)] = number
    if binary:
        label = ArrayFile(raw / "node-label.npz", "labels").load("node_label").reshape(-1)
    else:
        label = pd.read_csv(raw / "node-label.csv.gz", header=None)[0].to_numpy()
    if len(label) != num_nodes:
        raise InputError(
            f"{raw}: {len(label):,} labels for {num_nodes:,} nodes.",
            next_step="Delete the folder and let it be downloaded again.",
        )
    names = np.array(["", *_SPLITS])
    for at in range(0, num_nodes, BLOCK_ROWS):
        some = label[at : at + BLOCK_ROWS]
        known = np.where(np.isnan(some), -1, some).astype(np.int64)
        yield labels_table(known, names[code[at : at + BLOCK_ROWS]])
