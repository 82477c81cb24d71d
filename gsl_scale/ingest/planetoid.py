"""Cora, Citeseer and Pubmed in the original `ind.NAME.*` files, with the public split.

The files are pickles. They are read by an unpickler that builds arrays, CSR matrices and a dict of
lists, and refuses to name anything else, so a hostile file cannot run code.
"""

import pickle
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from numpy._core import multiarray

from gsl_scale.config_data import PlanetoidData
from gsl_scale.errors import InputError
from gsl_scale.ingest import splits
from gsl_scale.ingest.arrays import dense_blocks
from gsl_scale.ingest.source import EdgeBlock, Source, labels_table

_PARTS = ("x", "y", "tx", "ty", "allx", "ally", "graph", "test.index")
_NUM_VALID = 500
_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"): multiarray._reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): multiarray._reconstruct,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("scipy.sparse.csr", "csr_matrix"): sp.csr_matrix,
    ("scipy.sparse._csr", "csr_matrix"): sp.csr_matrix,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
}


class _ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return _ALLOWED[module, name]


def input_paths(data: PlanetoidData) -> list[tuple[str, Path]]:
    return [(part, Path(data.folder) / f"ind.{data.name}.{part}") for part in _PARTS]


def open_planetoid(data: PlanetoidData) -> Source:
    inputs = input_paths(data)
    absent = [path.name for _, path in inputs if not path.is_file()]
    if absent:
        raise InputError(
            f"{data.folder} lacks {', '.join(absent)}.",
            f"A Planetoid dataset is the {len(_PARTS)} files ind.{data.name}.*.",
            "Set data.folder to the folder that has them.",
        )
    files = {part: path for part, path in inputs if part != "test.index"}
    read = {part: _unpickle(path) for part, path in files.items()}
    test = _test_index(dict(inputs)["test.index"])
    try:
        features, labels = _assemble(read, test)
    except (ValueError, IndexError, AttributeError, TypeError) as error:
        raise InputError(
            f"{data.folder}: the ind.{data.name}.* files do not fit together: {error}",
            next_step="Copy all of them again from one place.",
        ) from None
    num_nodes, num_train = features.shape[0], read["y"].shape[0]
    split = splits.by_index(
        num_nodes,
        train=np.arange(num_train),
        valid=np.arange(num_train, num_train + _NUM_VALID),
        test=test,
    )
    return Source(
        num_nodes=num_nodes,
        num_features=features.shape[1],
        features=lambda: dense_blocks(features),
        edges=(lambda: _edges(read["graph"])) if data.edges else None,
        labels=lambda: iter([labels_table(labels, split)]),
        inputs=tuple(inputs),
        facts={"classes": [str(c) for c in range(read["y"].shape[1])]},
    )


def _unpickle(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            return _ArrayUnpickler(file, encoding="latin1").load()
    except (
        pickle.UnpicklingError,
        EOFError,
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        ImportError,
        MemoryError,
    ) as error:
        raise InputError(
            f"{path} is not a Planetoid file: {error}.",
            "It may hold arrays, CSR matrices and a dict of lists, and nothing else.",
            "Copy it again from a source you trust.",
        ) from None


def _test_index(path: Path) -> npt.NDArray[np.int64]:
    try:
        return np.array([int(line) for line in path.read_text().split()], np.int64)
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: expected one node number per line ({error}).") from None


def _assemble(
    read: dict[str, Any], test: npt.NDArray[np.int64]
) -> tuple[sp.csr_matrix, npt.NDArray[np.int64]]:
    """Rows of `tx` go to the places named by test.index; places it skips stay empty (Citeseer)."""
    num_known = read["allx"].shape[0]
    num_nodes = max(num_known, int(test.max()) + 1)
    rest = np.setdiff1d(np.arange(num_known, num_nodes), test)
    place = np.concatenate([np.arange(num_known), test, rest])
    empty = sp.csr_matrix(np.zeros((len(rest), read["allx"].shape[1]), np.float32))
    stacked = sp.vstack([read["allx"], read["tx"], empty]).tocsr()
    one_hot = np.vstack([read["ally"], read["ty"]])
    labels = np.concatenate([one_hot.argmax(1), np.full(len(rest), -1)])
    labels[: len(one_hot)][~one_hot.any(1)] = -1
    order = np.argsort(place)
    if stacked.shape[0] != num_nodes or len(labels) != num_nodes:
        raise ValueError(f"{stacked.shape[0]} rows for {num_nodes} nodes")
    return stacked[order].astype(np.float32), labels[order].astype(np.int64)


def _edges(graph: dict[int, list[int]]) -> Iterator[EdgeBlock]:
    degrees = [len(neighbours) for neighbours in graph.values()]
    src = np.repeat(np.fromiter(graph, np.int64, len(graph)), degrees)
    dst = np.fromiter((v for vs in graph.values() for v in vs), np.int64, sum(degrees))
    yield EdgeBlock(src, dst, None)
