import csv
import io
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from chiron_workers.documents.charset import decode
from chiron_workers.documents.document import UnreadableError, clean
from chiron_workers.documents.file_types import FileType, detect_file_type
from chiron_workers.documents.optional import import_optional
from chiron_workers.documents.tables.columns import rectangular_csv, typed_relation
from chiron_workers.documents.tables.csv import detect_delimiter, iter_rows
from chiron_workers.documents.tables.sheets import cell_text, read_sheet, sheet_names

OBJECT_BYTES_SLACK = 1_000_000


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file with tables; of a workbook one sheet, or all if none is named."""

    name: str
    data: bytes
    sheet: str = ""


def load_relations(database: Any, file: TableFile) -> Iterator[tuple[str, Any]]:
    """Each table of a file: what to add to its name, and a DuckDB relation that is good until the next is asked for.

    Raises:
        UnreadableError: It holds no table.
        duckdb.Error: It looks like one, and cannot be loaded.
    """
    kind = detect_file_type(file.data, file.name)
    if kind is FileType.SHEETS:
        yield from _sheets(database, file)
    elif kind in (FileType.CSV, FileType.TEXT):
        yield from _delimited(database, clean(decode(file.data)))
    elif kind in (FileType.JSON, FileType.JSON_LINES):
        with _kept(decode(file.data).encode()) as path:
            form = "newline_delimited" if kind is FileType.JSON_LINES else "auto"
            size = len(file.data) + OBJECT_BYTES_SLACK
            yield "", database.read_json(path, format=form, sample_size=-1, maximum_object_size=size)
    elif kind is FileType.PARQUET:
        with _kept(file.data) as path:
            yield "", database.read_parquet(path)
    else:
        raise UnreadableError(f"it is {kind}, which holds no table; file_reader reads it")


def _sheets(database: Any, file: TableFile) -> Iterator[tuple[str, Any]]:
    names = (file.sheet,) if file.sheet else sheet_names(file.data)
    found = False
    for name in names:
        rows = [[cell_text(cell) for cell in row] for row in read_sheet(file.data, name).rows]
        if any(map(any, rows)):
            found = True
            with _table(database, rows.__iter__) as relation:
                yield name if len(names) > 1 else "", relation
    if not found:
        raise UnreadableError("it holds no table")


def _delimited(database: Any, text: str) -> Iterator[tuple[str, Any]]:
    if not text.strip():
        raise UnreadableError("it holds no table")
    duckdb = import_optional("duckdb")
    delimiter = detect_delimiter(text)
    try:
        header = next(iter_rows(text, delimiter))
        if len(header) > 1:
            with _kept(text.encode()) as path, suppress(duckdb.InvalidInputException):  # rows of many lengths
                yield "", typed_relation(database, path, header, delimiter)
                return
        with _table(database, lambda: iter_rows(text, delimiter)) as relation:
            yield "", relation
    except csv.Error as error:
        raise UnreadableError(f"its rows cannot be told apart ({error})") from None


@contextmanager
def _table(database: Any, rows: Callable[[], Iterator[list[str]]]) -> Iterator[Any]:
    data = rectangular_csv(rows)
    header = next(csv.reader(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")))
    with _kept(data) as path:
        yield typed_relation(database, path, header)


@contextmanager
def _kept(data: bytes) -> Iterator[str]:
    """Bytes as a file that DuckDB reads: it takes nothing but paths."""
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        yield f"/dev/fd/{file.fileno()}"
