import csv
import io
import os
import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import IO, Any

from chiron_workers.documents.charset import decode
from chiron_workers.documents.document import UnreadableError, clean, import_optional
from chiron_workers.documents.file_types import FileType, detect_file_type
from chiron_workers.documents.omissions import Omission
from chiron_workers.documents.tables.columns import (
    COLUMNS_MAX,
    GROUPS,
    TypedTable,
    rectangular_csv,
    typed_relation,
)
from chiron_workers.documents.tables.csv import detect_delimiter, iter_rows
from chiron_workers.documents.tables.header import SAMPLE_ROWS, TITLE_ROWS_MAX, Header, find_header
from chiron_workers.documents.tables.json_numbers import quote_long_numbers
from chiron_workers.documents.tables.sheet_notes import sheet_notes, sheet_omissions
from chiron_workers.documents.tables.sheets import cell_text, read_sheet, sheet_names, unread_sheets

OBJECT_BYTES_SLACK = 1_000_000
HEAD_ROWS = TITLE_ROWS_MAX + SAMPLE_ROWS
ISO_DATE, ISO_TIME = "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"
QUOTE = '"'
# A column of numbers and texts is JSON in DuckDB, where texts have quotes.
WORDS_OF_JSON = "case when json_type({name}) = 'VARCHAR' then {name} ->> '$' else {name}::varchar end"
LONG_NUMBERS_NOTE = "{count:,} numbers have more digits than a number keeps, or are too large or small for one: they are text."
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]{1,2}")
DOT_GROUP = re.compile(GROUPS)


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file with tables; `sheet` is empty for all sheets of a workbook."""

    name: str
    data: bytes
    sheet: str = ""


@dataclass(frozen=True, slots=True)
class LoadedTable:
    """A table of a file: a suffix for its name, and a DuckDB relation that is valid until the next one.

    `notes` say how it was read; `left_out` is what the file holds and the table does not.
    """

    suffix: str
    relation: Any
    notes: tuple[str, ...] = ()
    left_out: tuple[Omission, ...] = ()


def load_relations(database: Any, file: TableFile) -> Iterator[LoadedTable]:
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
        yield from _json_relation(database, decode(file.data), is_lines=file_type is FileType.JSON_LINES)
    elif file_type is FileType.PARQUET:
        with _temporary_path(file.data) as path:
            yield LoadedTable("", database.read_parquet(path))
    else:
        raise UnreadableError(f"it is {file_type}, which holds no table; file_reader reads it")


def _json_relation(database: Any, text: str, *, is_lines: bool) -> Iterator[LoadedTable]:
    """The table of JSON. DuckDB finds its types; a number that it would round is text before, as are dates of any other form."""
    quoted_text, changes = quote_long_numbers(text)
    data = quoted_text.encode()
    with _temporary_path(data) as path:
        relation = database.read_json(
            path, format="newline_delimited" if is_lines else "auto", sample_size=-1,
            maximum_object_size=len(data) + OBJECT_BYTES_SLACK, date_format=ISO_DATE, timestamp_format=ISO_TIME,
        )  # fmt: skip
        if not changes:
            yield LoadedTable("", relation)
            return
        duckdb = import_optional("duckdb")
        columns = [
            duckdb.SQLExpression(WORDS_OF_JSON.format(name=f'"{name.replace(QUOTE, QUOTE * 2)}"')).alias(name)
            if str(kind) == "JSON"
            else duckdb.ColumnExpression(name)
            for name, kind in zip(relation.columns, relation.types, strict=True)
        ]
        yield LoadedTable("", relation.select(*columns), (LONG_NUMBERS_NOTE.format(count=changes),))


def _sheet_relations(database: Any, file: TableFile) -> Iterator[LoadedTable]:
    names = (file.sheet,) if file.sheet else sheet_names(file.data)
    has_rows, left_out = False, unread_sheets(file.data)
    for name in names:
        sheet = read_sheet(file.data, name)
        left_out = (*sheet_omissions(sheet), *left_out)  # of sheets without rows, too
        rows = [[cell_text(cell) for cell in row] for row in sheet.rows]
        if any(map(any, rows)):
            has_rows = True
            header = find_header(rows[:HEAD_ROWS])
            group_columns = {
                n
                for row in sheet.rows[header.last_row :]
                for n, cell in enumerate(row)
                if isinstance(cell, str) and cell[-4:-3] == "." and DOT_GROUP.fullmatch(cell)
            }
            notes = (*filter(None, [header.note()]), *sheet_notes(sheet, header))
            suffix = name if len(names) > 1 else ""
            with _rows_relation(database, rows.__iter__, header, group_columns, is_floating=True) as table:
                yield LoadedTable(suffix, table.relation, (*notes, *table.notes), left_out)
            left_out = ()
    if not has_rows:
        raise UnreadableError("it holds no table")


def _csv_relation(database: Any, text: str) -> Iterator[LoadedTable]:
    if not text.strip():
        raise UnreadableError("it holds no table")
    duckdb = import_optional("duckdb")
    delimiter = detect_delimiter(text)
    head = list(islice(iter_rows(text, delimiter), HEAD_ROWS))
    header = find_header(head)
    has_groups = delimiter == ";" or any(DECIMAL_COMMA.fullmatch(cell) for row in head for cell in row)
    group_columns = range(COLUMNS_MAX) if has_groups else ()
    if len(header.names) > 1 and header.rows == (1,):
        # The error means that the rows differ in length.
        with _temporary_path(text.encode()) as path, suppress(duckdb.InvalidInputException):
            table = typed_relation(database, path, header.names, delimiter, group_columns=group_columns)
            yield LoadedTable("", table.relation, table.notes)
            return
    rows = partial(iter_rows, text, delimiter)
    with _rows_relation(database, rows, header, group_columns) as table:
        yield LoadedTable("", table.relation, (*filter(None, [header.note()]), *table.notes))


@contextmanager
def _rows_relation(
    database: Any,
    rows: Callable[[], Iterator[list[str]]],
    header: Header,
    group_columns: Collection[int],
    *,
    is_floating: bool = False,
) -> Iterator[TypedTable]:
    def named_rows() -> Iterator[Sequence[str]]:
        return chain([header.names], islice(rows(), header.last_row, None))

    data = rectangular_csv(named_rows)
    names = next(csv.reader(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")))
    with _temporary_path(data) as path:
        yield typed_relation(database, path, names, group_columns=group_columns, is_floating=is_floating)


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
