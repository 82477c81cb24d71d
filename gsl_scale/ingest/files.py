"""Tables in files, as streams of Arrow blocks: CSV, TSV, Parquet (file, folder or glob).

Whatever is wrong with a file is refused with its name, line and column.
"""

import csv
import glob
import gzip
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from gsl_scale.errors import InputError
from gsl_scale.ingest.source import BLOCK_ROWS

_TEXT = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
_PARQUET = (".parquet", ".pq")
_SEPARATORS = (",", "\t", ";", "|", " ")


def open_table(text: str, separator: str | None, role: str) -> "CsvTable | ParquetTable":
    """Open a table for reading; `role` (features, edges, labels) names it in errors."""
    paths = find_files(text, role)
    suffixes = {kind_of(path) for path in paths}
    if suffixes == {"parquet"}:
        return ParquetTable(paths, role)
    if suffixes == {"text"} and len(paths) == 1:
        return CsvTable(paths[0], separator or find_separator(paths[0], role), role)
    raise InputError(
        f"{role}: {text} is of no kind that can be read as a table.",
        f"Expected one {', '.join(_TEXT)} file, or {', '.join(_PARQUET)} files; "
        f"found {', '.join(path.name for path in paths[:3])}.",
        "Convert it to Parquet or CSV.",
    )


def kind_of(path: Path) -> str:
    name = path.name.lower()
    if name.endswith(_PARQUET):
        return "parquet"
    if name.endswith(_TEXT):
        return "text"
    return path.suffix.lower().lstrip(".")


def find_files(text: str, role: str) -> list[Path]:
    """The files meant by a path, a folder or a glob, in order of name; none is empty."""
    path = Path(text)
    if path.is_dir():
        found = sorted(p for p in path.iterdir() if kind_of(p) == "parquet")
        missing = f"{role}: the folder {path} holds no .parquet file."
    elif glob.has_magic(text) and not path.exists():
        found = [Path(p) for p in sorted(glob.glob(text, recursive=True))]  # noqa: PTH207
        missing = f"{role}: no file matches {text}."
    else:
        found = [path] if path.exists() else []
        missing = f"{role}: {path} does not exist."
    if not found:
        raise InputError(missing, next_step="Check the path.")
    for file in found:
        if file.stat().st_size == 0:
            raise InputError(f"{role}: {file} is empty (0 bytes).", next_step="Write it again.")
    return found


@dataclass(frozen=True)
class ParquetTable:
    paths: list[Path]
    role: str
    notes: tuple[str, ...] = ()

    @cached_property
    def schema(self) -> pa.Schema:
        schemas = [self._open(path).schema_arrow for path in self.paths]
        for path, schema in zip(self.paths, schemas, strict=True):
            if schema.names != schemas[0].names:
                raise InputError(
                    f"{self.role}: {path} has the columns {', '.join(schema.names)}, "
                    f"{self.paths[0].name} has {', '.join(schemas[0].names)}.",
                    "Files of one table share their columns.",
                    "Leave the odd one out, or give the files as separate tables.",
                )
        return schemas[0]

    def num_rows(self) -> int:
        return sum(self._open(path).metadata.num_rows for path in self.paths)

    def blocks(self, columns: Sequence[str], types: dict[str, pa.DataType]) -> Iterator[pa.Table]:
        """Blocks of these columns; `types` casts some of them."""
        for path in self.paths:
            file = self._open(path)
            try:
                for batch in file.iter_batches(BLOCK_ROWS, columns=list(columns)):
                    table = pa.Table.from_batches([batch]).select(list(columns))
                    yield _cast(table, types, self.role, path)
            except (pa.ArrowException, OSError) as error:
                raise self._damaged(path, error) from None

    def name_row(self, row: int) -> str:
        return f"row {row}"

    def _open(self, path: Path) -> pq.ParquetFile:
        try:
            return pq.ParquetFile(path, page_checksum_verification=True)
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(path, error) from None

    def _damaged(self, path: Path, error: Exception) -> InputError:
        return InputError(
            f"{self.role}: {path} cannot be read as Parquet: {str(error).splitlines()[0]}",
            "The file is cut short, damaged, or of another kind.",
            "Write or copy it again.",
        )


@dataclass(frozen=True)
class CsvTable:
    path: Path
    separator: str
    role: str
    headless: bool = False  # known to have no header line

    @cached_property
    def header(self) -> list[str] | None:
        """Column names, or None if the first line is data: all numbers, other than the 0, 1, 2, ...
        that pandas writes over columns without names."""
        first = self.first_line
        if self.headless:
            return None
        unnamed = len(first) > 2 and first == [str(i) for i in range(len(first))]
        return first if unnamed or not all(is_number(cell) for cell in first) else None

    @cached_property
    def first_line(self) -> list[str]:
        return next(self._lines())

    @property
    def notes(self) -> tuple[str, ...]:
        if self.header:
            return ()
        first = self.separator.join(self.first_line)[:40]
        return (f"{self.role}: no header line; the first line ({first}) was read as data.",)

    @property
    def names(self) -> list[str]:
        return self.header or [f"c{i}" for i in range(len(self.first_line))]

    @cached_property
    def schema(self) -> pa.Schema:
        """Types as the first block suggests."""
        twice = {name for name in self.names if self.names.count(name) > 1}
        if twice:
            raise InputError(
                f"{self.role}: {self.path} has two columns called {twice.pop()!r}.",
                next_step="Rename one of them.",
            )
        with self._reader({}) as reader:
            return reader.schema

    def num_rows(self) -> int:
        one = self.names[:1]
        return sum(len(block) for block in self.blocks(one, {one[0]: pa.string()}))

    def blocks(self, columns: Sequence[str], types: dict[str, pa.DataType]) -> Iterator[pa.Table]:
        """Blocks of these columns; `types` says how some of them are to be read."""
        known = {field.name: field.type for field in self.schema}
        wanted = {name: types.get(name, known[name]) for name in columns}
        with self._reader(wanted) as reader:
            try:
                for batch in reader:
                    yield pa.Table.from_batches([batch]).select(list(columns))
            except pa.ArrowException as error:
                raise self._located(error, wanted) from None

    def name_row(self, row: int) -> str:
        return f"line {row + (2 if self.header else 1)}"

    def _reader(self, types: dict[str, pa.DataType]) -> pacsv.CSVStreamingReader:
        names = None if self.header else self.names
        try:
            return pacsv.open_csv(
                self.path,
                read_options=pacsv.ReadOptions(column_names=names, block_size=8 << 20),
                parse_options=pacsv.ParseOptions(delimiter=self.separator),
                convert_options=pacsv.ConvertOptions(
                    column_types=types,
                    include_columns=list(types) or None,
                    strings_can_be_null=True,
                ),
            )
        except (pa.ArrowException, OSError) as error:
            raise self._located(error, types) from None

    def _lines(self) -> Iterator[list[str]]:
        with open_text(self.path) as file:
            yield from csv.reader(file, delimiter=self.separator)

    def _located(self, error: Exception, types: dict[str, pa.DataType]) -> InputError:
        """Find the line that Arrow could not read: slow, but only ever done once."""
        names = self.names
        where = f"{self.role}: {self.path}"
        try:
            for number, cells in enumerate(self._lines(), start=1):
                if not cells or (number == 1 and self.header):
                    continue
                if len(cells) != len(names):
                    line = self.separator.join(cells)[:60]
                    return InputError(
                        f"{where} line {number}: expected {len(names)} columns separated by "
                        f"{self.separator!r}, found {len(cells)}: {line!r}",
                        "Every line needs the same columns and the same separator.",
                        "Mend that line, or say which separator it is: data.separator",
                    )
                for name, cell in zip(names, cells, strict=True):
                    if name in types and not _fits(cell, types[name]):
                        return _not_a_number(f"{where} line {number}", name, cell, types[name])
        except (UnicodeDecodeError, csv.Error, OSError, EOFError) as text_error:
            return InputError(
                f"{where} is not readable text: {text_error}",
                next_step="Save it as UTF-8 CSV, or give Parquet.",
            )
        return InputError(f"{where}: {str(error).splitlines()[0]}", next_step="Mend the file.")


def open_text(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return io.TextIOWrapper(gzip.open(path), encoding="utf-8", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def find_separator(path: Path, role: str) -> str:
    """The separator that cuts the first lines into the most equal cells."""
    try:
        with open_text(path) as file:
            lines = [line for line, _ in zip(file, range(20), strict=False) if line.strip()]
    except (UnicodeDecodeError, OSError, EOFError) as error:
        raise InputError(
            f"{role}: {path} is not readable text: {error}",
            next_step="Save it as UTF-8 CSV, or give Parquet.",
        ) from None
    if not lines:
        raise InputError(f"{role}: {path} has no line with text.", next_step="Write it again.")
    if ".tsv" in path.suffixes:
        return "\t"
    cells = {sep: len(next(csv.reader([lines[0]], delimiter=sep))) for sep in _SEPARATORS}
    return max(_SEPARATORS, key=lambda sep: cells[sep])


def _cast(table: pa.Table, types: dict[str, pa.DataType], role: str, path: Path) -> pa.Table:
    for name, wanted in types.items():
        if table.schema.field(name).type == wanted:
            continue
        column = table.schema.get_field_index(name)
        try:
            table = table.set_column(column, name, pc.cast(table[name], wanted, safe=False))
        except pa.ArrowException:
            cells = [str(cell) for cell in table[name].to_pylist()]
            bad = next((cell for cell in cells if not _fits(cell, wanted)), cells[0])
            raise _not_a_number(f"{role}: {path}", name, bad, wanted) from None
    return table


def _not_a_number(where: str, name: str, cell: str, wanted: pa.DataType) -> InputError:
    expected = "a whole number" if pa.types.is_integer(wanted) else "a number"
    return InputError(
        f"{where}: column {name!r} holds {cell!r}, expected {expected}.",
        "Features and weights are numbers; ids and labels may be text.",
        f"If {name!r} is an id or a label, say so (--id-column, --label-column); otherwise choose "
        "the feature columns (data.feature_columns).",
    )


_NULLS = {"", "#N/A", "NA", "N/A", "NaN", "nan", "null", "NULL", "-nan", "-NaN", "None"}


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _fits(cell: str, wanted: pa.DataType) -> bool:
    if pa.types.is_integer(wanted):
        return cell in _NULLS or cell.strip().lstrip("+-").isdigit()
    return not pa.types.is_floating(wanted) or cell in _NULLS or is_number(cell)
