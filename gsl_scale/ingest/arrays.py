"""Numbers in .npy and .npz files, dense or CSR, as streams of blocks. Never unpickles.

Dense arrays are streamed from the file, also from inside an .npz, so that one larger than memory
is no special case. CSR arrays are held in memory and made dense one block at a time.
"""

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gsl_scale.errors import InputError
from gsl_scale.ingest.source import BLOCK_ROWS

Array = npt.NDArray[Any]
_BROKEN = (OSError, ValueError, zipfile.BadZipFile, zlib.error, EOFError, KeyError)


@dataclass(frozen=True)
class ArrayFile:
    """An .npy file, or the arrays of an .npz file."""

    path: Path
    role: str

    @property
    def is_npz(self) -> bool:
        return self.path.suffix.lower() == ".npz"

    def keys(self) -> list[str]:
        try:
            with zipfile.ZipFile(self.path) as archive:
                return [name.removesuffix(".npy") for name in archive.namelist()]
        except _BROKEN as error:
            raise self._damaged(error) from None

    def pick(self, names: Sequence[str]) -> str:
        """The first of these arrays that is there (an .npy file has only one, without a name)."""
        if not self.is_npz:
            return ""
        keys = self.keys()
        for name in names:
            if name in keys:
                return name
        raise InputError(
            f"{self.role}: {self.path} has the arrays {', '.join(keys) or 'none'}.",
            f"Expected one of: {', '.join(names)}.",
            "Save the array under one of those names.",
        )

    def load(self, key: str = "") -> Array:
        try:
            if not self.is_npz:
                loaded: Array = np.load(self.path, mmap_mode="r", allow_pickle=False)
            else:
                with np.load(self.path, allow_pickle=False) as arrays:
                    loaded = arrays[key]
        except _BROKEN as error:
            raise self._damaged(error) from None
        return loaded

    def shape_and_type(self, key: str = "") -> tuple[tuple[int, ...], np.dtype[Any], bool]:
        try:
            with self._open(key) as file:
                return _read_header(file)
        except _BROKEN as error:
            raise self._damaged(error) from None

    def rows(self, key: str = "") -> Iterator[Array]:
        """All rows in blocks, reading the file from front to back."""
        shape, _, fortran = self.shape_and_type(key)
        if fortran and len(shape) > 1:
            whole = self.load(key)
            yield from (whole[at : at + BLOCK_ROWS] for at in range(0, shape[0], BLOCK_ROWS))
            return
        width = int(np.prod(shape[1:], dtype=np.int64))
        for block in self._numbers(key, 0, shape[0] * width, BLOCK_ROWS * width):
            yield block.reshape(-1, *shape[1:])

    def row(self, index: int, key: str = "") -> Iterator[Array]:
        """One row of a wide array, in blocks: for (2, edges) arrays."""
        (_, width), _, fortran = self.shape_and_type(key)
        if fortran:
            whole = self.load(key)[index]
            yield from (whole[at : at + BLOCK_ROWS] for at in range(0, width, BLOCK_ROWS))
            return
        yield from self._numbers(key, index * width, width, BLOCK_ROWS)

    def _numbers(self, key: str, first: int, count: int, at_once: int) -> Iterator[Array]:
        try:
            with self._open(key) as file:
                _, dtype, _ = _read_header(file)
                file.seek(first * dtype.itemsize, 1)
                for at in range(0, count, at_once):
                    wanted = min(at_once, count - at)
                    yield np.frombuffer(file.read(wanted * dtype.itemsize), dtype, wanted)
        except _BROKEN as error:
            raise self._damaged(error) from None

    def csr_prefix(self, names: Sequence[str]) -> str | None:
        """'' or 'attr_' and the like, if the file holds a CSR matrix under such names."""
        if not self.is_npz:
            return None
        keys = set(self.keys())
        return next((p for p in names if {f"{p}indptr", f"{p}indices"} <= keys), None)

    def csr(self, prefix: str) -> sp.csr_matrix:
        indptr, indices = self.load(f"{prefix}indptr"), self.load(f"{prefix}indices")
        keys = self.keys()
        data = (
            self.load(f"{prefix}data") if f"{prefix}data" in keys else np.ones(len(indices), "f4")
        )
        try:
            if f"{prefix}shape" in keys:
                rows, columns = (int(size) for size in self.load(f"{prefix}shape"))
                matrix = sp.csr_matrix((data, indices, indptr), shape=(rows, columns))
            else:
                matrix = sp.csr_matrix((data, indices, indptr))
            matrix.check_format()
        except (ValueError, TypeError) as error:
            raise InputError(
                f"{self.role}: {self.path} does not hold a valid CSR matrix: {error}",
                next_step="Save it with scipy.sparse.save_npz.",
            ) from None
        return matrix

    def _open(self, key: str) -> IO[bytes]:
        if not self.is_npz:
            return self.path.open("rb")
        return zipfile.ZipFile(self.path).open(f"{key}.npy")

    def _damaged(self, error: Exception) -> InputError:
        pickled = "pickle" in str(error) or "Object arrays" in str(error)
        return InputError(
            f"{self.role}: {self.path} cannot be read: {error}",
            "It holds Python objects, which could run code when loaded."
            if pickled
            else "The file is cut short, damaged, or of another kind.",
            "Save plain numbers with numpy.save or scipy.sparse.save_npz.",
        )


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any], bool]:
    version = np.lib.format.read_magic(file)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    shape, fortran, dtype = read[version](file)
    if dtype.hasobject:
        raise ValueError("Object arrays cannot be loaded")
    return shape, dtype, fortran


def dense_blocks(matrix: sp.csr_matrix) -> Iterator[Array]:
    for at in range(0, matrix.shape[0], BLOCK_ROWS):
        yield matrix[at : at + BLOCK_ROWS].toarray().astype(np.float32, copy=False)
