import csv
import io
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any

from chiron_workers.documents.charset import decode
from chiron_workers.documents.document import UnreadableError, clean, import_optional
from chiron_workers.documents.file_types import FileType, detect_file_type
from chiron_workers.documents.omissions import Omission
from chiron_workers.documents.tables.columns import rectangular_csv, typed_relation
from chiron_workers.documents.tables.csv import detect_delimiter, iter_rows
from chiron_workers.documents.tables.sheets import cell_text, read_sheet, sheet_names

OBJECT_BYTES_SLACK = 1_000_000


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file with tables; `sheet` is empty for all sheets of a workbook."""

    name: str
    data: bytes
    sheet: str = ""


# A suffix for the name of a table, a DuckDB relation that is valid until the next one, and what the file holds beside it.
Relation = tuple[str, Any, tuple[Omission, ...]]


def load_relations(database: Any, file: TableFile) -> Iterator[Relation]:
    """Yield each table of a file.

    Raises:
        UnreadableError: It holds no table.
        duckdb.Error: It cannot be loaded as a table.
    """
    file_type = detect_file_type(file.data, file.name)
    if file_type is FileType.SHEETS:
        yield from _sheet_relations(database, file)
    elif file_type in (FileType.CSV, FileType.TEXT):
        yield from _csv_relation(database, clean(decode(file.data)))
    elif file_type in (FileType.JSON, FileType.JSON_LINES):
        with _temporary_path(decode(file.data).encode()) as path:
            json_format = "newline_delimited" if file_type is FileType.JSON_LINES else "auto"
            size = len(file.data) + OBJECT_BYTES_SLACK
            relation = database.read_json(path, format=json_format, sample_size=-1, maximum_object_size=size)
            yield "", relation, ()
    elif file_type is FileType.PARQUET:
        with _temporary_path(file.data) as path:
            yield "", database.read_parquet(path), ()
    else:
        raise UnreadableError(f"it is {file_type}, which holds no table; file_reader reads it")


def _sheet_relations(database: Any, file: TableFile) -> Iterator[Relation]:
    names = (file.sheet,) if file.sheet else sheet_names(file.data)
    has_rows = False
    for name in names:
        sheet = read_sheet(file.data, name)
        rows = [[cell_text(cell) for cell in row] for row in sheet.rows]
        if any(map(any, rows)):
            has_rows = True
            with _rows_relation(database, rows.__iter__) as relation:
                yield name if len(names) > 1 else "", relation, sheet.left_out
    if not has_rows:
        raise UnreadableError("it holds no table")


def _csv_relation(database: Any, text: str) -> Iterator[Relation]:
    if not text.strip():
        raise UnreadableError("it holds no table")
    duckdb = import_optional("duckdb")
    delimiter = detect_delimiter(text)
    header = next(iter_rows(text, delimiter))
    if len(header) > 1:
        # The error means that the rows differ in length.
        with _temporary_path(text.encode()) as path, suppress(duckdb.InvalidInputException):
            yield "", typed_relation(database, path, header, delimiter), ()
            return
    with _rows_relation(database, lambda: iter_rows(text, delimiter)) as relation:
        yield "", relation, ()


@contextmanager
def _rows_relation(database: Any, rows: Callable[[], Iterator[list[str]]]) -> Iterator[Any]:
    data = rectangular_csv(rows)
    header = next(csv.reader(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")))
    with _temporary_path(data) as path:
        yield typed_relation(database, path, header)


@contextmanager
def _temporary_path(data: bytes) -> Iterator[str]:
    """Write bytes to a temporary file, since DuckDB reads paths only; in memory where the system has such files."""
    with _temporary_file() as file:
        file.write(data)
        file.flush()
        yield f"/dev/fd/{file.fileno()}"


def _temporary_file() -> IO[bytes]:
    # Confined as it is, a parser can write no file that has a place.
    return (
        os.fdopen(os.memfd_create("table"), "w+b")
        if hasattr(os, "memfd_create")
        else tempfile.TemporaryFile()
    )
