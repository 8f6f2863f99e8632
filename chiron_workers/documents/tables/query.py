"""Query the tables of files with one SELECT, in a DuckDB without any other access. Call it in the sandbox."""

import itertools
import math
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, time
from decimal import Decimal
from pathlib import PurePath
from typing import Any, TypeVar

from chiron_workers.documents.document import UnreadableError, clean, import_optional
from chiron_workers.documents.omissions import Omission, merged
from chiron_workers.documents.sandbox.sandbox import Limits
from chiron_workers.documents.tables.columns import COLUMNS_MAX
from chiron_workers.documents.tables.load import TableFile, load_relations

SAMPLE_ROWS = 3
THREADS = 2
# Shares of the sandbox's limits, so that DuckDB gives up before its process is killed. It uses more memory than it counts.
TIME_SHARE, MEMORY_SHARE = 0.9, 0.5
NAME_CHARS_MAX = 60
NOTES_MAX = 30
MESSAGE_CHARS_MAX = 1_000
CELL_CHARS_MAX = 2_000
CELL_ITEMS_MAX = 100  # of a list or an object in one cell
ANSWER_CHARS_MAX = 2_000_000  # as much as is kept of a result; cells within cells multiply what each may hold
LOCK_STATEMENTS = ("set enable_external_access = false", "set lock_configuration = true")
LEADING_COMMENTS = re.compile(r"(?:\s+|--[^\n]*(?:\n|$)|/\*.*?\*/|\()*", re.DOTALL)
Item = TypeVar("Item")
INT_BITS_MAX = 128  # DuckDB's longest; a longer one is shown as text
SELECT_START = re.compile(r"(select|with|from|values|table|describe|summarize|show|unpivot)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, with the values of the first rows."""

    name: str
    type: str
    samples: list[Any]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; `name` is its name in SQL. `notes` say how it was read where its values do not, and `left_out` is what its
    file holds and the table does not."""

    name: str
    file: str
    rows: int
    columns: list[Column]
    notes: list[str] = field(default_factory=list)
    left_out: tuple[Omission, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The rows of a query, `is_cut` if there are more, `is_too_long` if there was no room for their text; or the
    `problem` that DuckDB reports. `notes` are those of the tables that could be asked, and `left_out` is what the tables
    lack of their files."""

    columns: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)
    is_cut: bool = False
    is_too_long: bool = False
    problem: str = ""
    notes: list[str] = field(default_factory=list)
    left_out: tuple[Omission, ...] = ()


def describe_tables(files: tuple[TableFile, ...], *, limits: Limits) -> list[Table]:
    """Describe the tables of files. Raises UnreadableError, naming a file without a table."""
    cells = _CellWriter()
    with _database(limits) as database:
        return [_describe(database, table, cells) for table in _load(database, files)]


def query_tables(files: tuple[TableFile, ...], query: str, *, rows_max: int, limits: Limits) -> QueryAnswer:
    """Run one SELECT over the tables of files. Raises UnreadableError, naming a file without a table."""
    duckdb = import_optional("duckdb")
    with _database(limits) as database:
        tables = _load(database, files)
        names = ", ".join(table.name for table in tables)
        notes = [f"{table.name}: {note}" for table in tables for note in table.notes][:NOTES_MAX]
        left_out = merged(table.left_out for table in tables)
        for lock in LOCK_STATEMENTS:
            database.execute(lock)
        try:
            return replace(_run_query(database, query, rows_max), notes=notes, left_out=left_out)
        except duckdb.InterruptException:
            return QueryAnswer(
                problem=f"it took more than {limits.timeout_s * TIME_SHARE:g} s; filter or aggregate first"
            )
        except duckdb.Error as error:
            return QueryAnswer(problem=f"{str(error).strip()[:MESSAGE_CHARS_MAX]}\nThe tables are {names}")


@contextmanager
def _database(limits: Limits) -> Iterator[Any]:
    settings = {
        "threads": THREADS,
        "memory_limit": f"{int(limits.memory_bytes * MEMORY_SHARE) // 1_000_000}MB",
        "temp_directory": "",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "python_enable_replacements": False,
    }
    database = import_optional("duckdb").connect(":memory:", config=settings)
    timer = threading.Timer(limits.timeout_s * TIME_SHARE, database.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield database
    finally:
        timer.cancel()
        database.close()


@dataclass(frozen=True, slots=True)
class _NamedTable:
    name: str
    file: str
    notes: tuple[str, ...]
    left_out: tuple[Omission, ...]


def _load(database: Any, files: Sequence[TableFile]) -> list[_NamedTable]:
    duckdb = import_optional("duckdb")
    tables: list[_NamedTable] = []
    for file in files:
        try:
            for source in load_relations(database, file):
                stem = PurePath(file.name).stem
                name = _free_name(database, f"{stem} {source.suffix}", {table.name for table in tables})
                source.relation.create(name)
                tables.append(_NamedTable(name, file.name, source.notes, source.left_out))
        except UnreadableError as error:
            raise UnreadableError(f"{file.name}: {error}") from None
        except duckdb.InterruptException:
            raise UnreadableError(f"{file.name}: loading it took too long") from None
        except duckdb.Error as error:
            reason = str(error).strip().split("\n")[0][:MESSAGE_CHARS_MAX]
            raise UnreadableError(f"{file.name}: it cannot be loaded as a table ({reason})") from None
    return tables


def _free_name(database: Any, text: str, used: set[str]) -> str:
    """An unused name that needs no quotes in SQL: `Sales 2024.csv` becomes sales_2024, or sales_2024_2 if used."""
    word = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:NAME_CHARS_MAX] or "data"
    keywords = database.table_function("duckdb_keywords").fetchall()
    is_reserved = any(word == keyword and category != "unreserved" for keyword, category in keywords)
    word = f"t_{word}" if word[0].isdigit() or is_reserved else word
    n = 1
    while (name := word if n == 1 else f"{word}_{n}") in used:
        n += 1
    return name


def _describe(database: Any, entry: _NamedTable, cells: "_CellWriter") -> Table:
    table = database.table(entry.name)
    sample = table.limit(SAMPLE_ROWS).fetchall()
    if len(table.columns) > COLUMNS_MAX:
        raise UnreadableError(f"{entry.file}: it has more than {COLUMNS_MAX:,} columns")
    columns = [
        Column(cells.text(column), cells.text(str(kind)), [cells.value(row[n]) for row in sample])
        for n, (column, kind) in enumerate(zip(table.columns, table.types, strict=True))
    ]
    notes = [cells.text(note) for note in entry.notes[:NOTES_MAX]]
    return Table(entry.name, entry.file, table.shape[0], columns, notes, entry.left_out)


def _run_query(database: Any, query: str, rows_max: int) -> QueryAnswer:
    duckdb = import_optional("duckdb")
    statements = database.extract_statements(query)
    if len(statements) != 1:
        return QueryAnswer(problem=f"it must be one SELECT (got {len(statements)} statements)")
    comments = LEADING_COMMENTS.match(query)
    if statements[0].type != duckdb.StatementType.SELECT or not SELECT_START.match(
        query, comments.end() if comments else 0
    ):
        return QueryAnswer(problem="it must be a SELECT; a query reads and changes nothing")
    result = database.execute(statements[0])
    if len(result.description) > COLUMNS_MAX:
        return QueryAnswer(
            problem=f"it has {len(result.description):,} columns; select at most {COLUMNS_MAX:,}"
        )
    rows, cells = result.fetchmany(rows_max + 1), _CellWriter()
    columns, types = ([cells.text(str(column[n])) for column in result.description] for n in (0, 1))
    shown: list[list[Any]] = []
    for row in rows[:rows_max]:
        shown.append([cells.value(value) for value in row])
        if cells.is_full:
            break
    is_cut = len(rows) > rows_max or len(shown) < len(rows)
    return QueryAnswer(columns, types, shown, is_cut=is_cut, is_too_long=cells.is_full)


@dataclass(slots=True)
class _CellWriter:
    """Converts DuckDB values to JSON, as many as there is room for: the rest is cut with a mark."""

    chars_left: int = ANSWER_CHARS_MAX

    @property
    def is_full(self) -> bool:
        return self.chars_left <= 0

    def value(self, value: Any) -> Any:
        """Dates as ISO 8601, bytes as hex, long texts and lists cut with a mark."""
        self.chars_left -= 1  # so that empty cells take room, too
        match value:
            case None | bool():
                return value
            case dict():
                members = itertools.islice(value.items(), CELL_ITEMS_MAX)
                return {str(self.value(key)): self.value(inner) for key, inner in self._while_room(members)}
            case list() | tuple():
                items = [self.value(inner) for inner in self._while_room(value[:CELL_ITEMS_MAX])]
                return [*items, f"… [{len(value) - len(items):,} more]"] if len(items) < len(value) else items
            case int() if value.bit_length() <= INT_BITS_MAX:
                return value
            case float() if math.isfinite(value):
                return value
            # As text where a number of JSON would not give its digits back: 1.10 is no 1.1, as it may be of a version.
            case Decimal() if repr(float(value)) in (text := f"{value:f}", f"{text}.0"):
                return float(value)
            case bytes():
                return self.text(value[:CELL_CHARS_MAX].hex())
            case date() | time():
                return value.isoformat()
            case Decimal():
                return self.text(f"{value:f}")
        return self.text(str(value))

    def text(self, text: str) -> str:
        """A text without control characters, cut where it is long or there is no room."""
        chars_max = max(0, min(CELL_CHARS_MAX, self.chars_left))
        self.chars_left -= min(len(text), chars_max) + 1
        if len(text) <= chars_max:
            return clean(text)
        return f"{clean(text[:chars_max])}… [cut, {len(text):,} characters]"

    def _while_room(self, items: Iterable[Item]) -> Iterator[Item]:
        for item in items:
            if self.is_full:
                return
            yield item
