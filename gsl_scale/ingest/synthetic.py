"""Communities with noisy features and edges, of any size.

Every block of nodes is drawn from its own counter-based stream, so block b of a graph of ten
million nodes costs what block b of a small one does, and nothing but a block is in memory.
Node i belongs to community i mod `communities`, which is its label unless `classes` are fewer.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from gsl_scale.config_data import SyntheticData
from gsl_scale.ingest.source import BLOCK_ROWS, EdgeBlock, Rows, Source, labels_table

_CENTRES, _FEATURES, _EDGES, _SPLIT = range(4)


def open_synthetic(data: SyntheticData) -> Source:
    return Source(
        num_nodes=data.nodes,
        num_features=data.features,
        features=lambda: _features(data),
        edges=(lambda: _edges(data)) if data.degree else None,
        labels=lambda: _labels(data),
        facts={"classes": [str(c) for c in range(min(_classes(data), data.nodes))]},
    )


def _stream(data: SyntheticData, use: int, block: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=[data.seed, (block << 8) | use]))


def _blocks(data: SyntheticData) -> Iterator[tuple[int, np.ndarray]]:
    for block, start in enumerate(range(0, data.nodes, BLOCK_ROWS)):
        yield block, np.arange(start, min(start + BLOCK_ROWS, data.nodes))


def _features(data: SyntheticData) -> Iterator[Rows]:
    centres = _stream(data, _CENTRES).normal(size=(data.communities, data.features))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    scale = data.noise / np.sqrt(data.features)
    for block, nodes in _blocks(data):
        rows = _stream(data, _FEATURES, block).standard_normal(
            (len(nodes), data.features), dtype=np.float32
        )
        rows *= scale
        rows += centres[nodes % data.communities]
        yield rows


def _edges(data: SyntheticData) -> Iterator[EdgeBlock]:
    """Each node draws its edges: mostly inside its community, the rest anywhere.

    With skew s the target is node floor(n * u^(1 / (1 - s))): low numbers become hubs.
    """
    power = 1.0 / (1.0 - data.skew)
    for block, nodes in _blocks(data):
        rng = _stream(data, _EDGES, block)
        src = np.repeat(nodes, rng.poisson(data.degree, len(nodes)))
        place = rng.random(len(src)) ** power
        anywhere = (place * data.nodes).astype(np.int64)
        home = src % data.communities
        members = (data.nodes - 1 - home) // data.communities + 1
        inside = home + data.communities * (place * members).astype(np.int64)
        mixed = rng.random(len(src)) < data.mixing
        dst = np.where(mixed, anywhere, inside)
        keep = src != dst
        yield EdgeBlock(src[keep], dst[keep], None)


def _labels(data: SyntheticData) -> Iterator[pa.Table]:
    """A tenth of the nodes to train on, a tenth to validate, the rest to test."""
    for block, nodes in _blocks(data):
        drawn = _stream(data, _SPLIT, block).random(len(nodes))
        split = np.select([drawn < 0.1, drawn < 0.2], ["train", "valid"], "test")
        yield labels_table(nodes % data.communities % _classes(data), split)


def _classes(data: SyntheticData) -> int:
    return min(data.communities, data.classes or data.communities)
