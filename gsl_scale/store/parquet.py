"""Parquet as we write and read it: small, checksummed page by page, damage named by file.

By default pyarrow reads a flipped byte without a word; every read here verifies checksums.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from gsl_scale.errors import CorruptError

ROWS_PER_GROUP = 1 << 20


def write_parquet(path: Path, table: pa.Table, encodings: dict[str, str] | None = None) -> None:
    pq.write_table(
        table,
        path,
        row_group_size=ROWS_PER_GROUP,
        compression="zstd",
        compression_level=1,
        use_dictionary=encodings is None,
        column_encoding=encodings,
        write_page_checksum=True,
    )


@contextmanager
def open_parquet(path: Path) -> Iterator[pq.ParquetFile]:
    """A file open for reading; whatever is wrong with its bytes names the part."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True, memory_map=True) as file:
            yield file
    except FileNotFoundError:
        raise CorruptError(
            f"{path} is missing.", "Its manifest lists it.", "Write the artifact again."
        ) from None
    except (pa.ArrowException, OSError) as error:
        raise CorruptError(
            f"{path} is damaged: {str(error).splitlines()[0]}",
            next_step="Find all damaged parts with gsl-scale check, then write the artifact again.",
        ) from None
