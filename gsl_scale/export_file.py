"""The edges of a store as one file, with the users' own ids instead of node numbers."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from gsl_scale import progress
from gsl_scale.errors import UserError
from gsl_scale.store.artifact import Artifact

_WRITERS = {".parquet": pq.ParquetWriter, ".csv": pacsv.CSVWriter}


def write_file(artifact: Artifact, path: Path) -> int:
    """Write src, dst, weight to a .parquet or .csv file, whole or not at all; how many edges."""
    if path.suffix not in _WRITERS:
        raise UserError(
            f"{path} ends in {path.suffix or 'nothing'}, which is no kind of file that is written.",
            f"There are: {', '.join(_WRITERS)}.",
            "Change the ending of --out.",
        )
    table = artifact.edges()
    ids = artifact.columns("ids")["id"].combine_chunks() if "ids" in artifact else None
    kind = pa.int64() if ids is None else ids.type
    schema = pa.schema([("src", kind), ("dst", kind), ("weight", pa.float32())])
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.draft")
    try:
        with (
            _WRITERS[path.suffix](draft, schema) as writer,
            progress.track("export", len(table)) as advance,
        ):
            for _, edges in table.parts():
                ends = [pa.array(end) for end in (edges.src, edges.dst)]
                if ids is not None:
                    ends = [ids.take(end) for end in ends]
                writer.write_table(pa.table([*ends, pa.array(edges.weight)], schema=schema))
                advance(len(edges.src))
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return len(table)
