"""Query the tables of files with one SELECT, in a DuckDB without any other access. Call it in the sandbox."""

import math
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import PurePath
from typing import Any

from chiron_workers.documents.document import UnreadableError, clean, import_optional
from chiron_workers.documents.sandbox.sandbox import Limits
from chiron_workers.documents.tables.load import TableFile, load_relations

SAMPLE_ROWS = 3
THREADS = 2
# Shares of the sandbox's limits, so that DuckDB gives up before its process is killed. It uses more memory than it counts.
TIME_SHARE, MEMORY_SHARE = 0.9, 0.5
NAME_CHARS_MAX = 60
MESSAGE_CHARS_MAX = 1_000
CELL_CHARS_MAX = 2_000
CELL_ITEMS_MAX = 100  # of a list or an object in one cell
LOCK_STATEMENTS = ("set enable_external_access = false", "set lock_configuration = true")
LEADING_COMMENTS = re.compile(r"(?:\s+|--[^\n]*(?:\n|$)|/\*.*?\*/|\()*", re.DOTALL)
SELECT_START = re.compile(r"(select|with|from|values|table|describe|summarize|show|unpivot)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, with the values of the first rows."""

    name: str
    type: str
    samples: list[Any]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; `name` is its name in SQL."""

    name: str
    file: str
    rows: int
    columns: list[Column]


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The rows of a query, `is_cut` if there are more; or the `problem` that DuckDB reports."""

    columns: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)
    is_cut: bool = False
    problem: str = ""


def describe_tables(files: tuple[TableFile, ...], *, limits: Limits) -> list[Table]:
    """Describe the tables of files. Raises UnreadableError, naming a file without a table."""
    with _database(limits) as database:
        return [_describe(database, name, file) for name, file in _load(database, files)]


def query_tables(files: tuple[TableFile, ...], query: str, *, rows_max: int, limits: Limits) -> QueryAnswer:
    """Run one SELECT over the tables of files. Raises UnreadableError, naming a file without a table."""
    duckdb = import_optional("duckdb")
    with _database(limits) as database:
        names = ", ".join(name for name, _ in _load(database, files))
        for lock in LOCK_STATEMENTS:
            database.execute(lock)
        try:
            return _run_query(database, query, rows_max)
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


def _load(database: Any, files: Sequence[TableFile]) -> list[tuple[str, str]]:
    duckdb = import_optional("duckdb")
    names: list[tuple[str, str]] = []
    for file in files:
        try:
            for suffix, relation in load_relations(database, file):
                stem = PurePath(file.name).stem
                name = _free_name(database, f"{stem} {suffix}", {table for table, _ in names})
                relation.create(name)
                names.append((name, file.name))
        except UnreadableError as error:
            raise UnreadableError(f"{file.name}: {error}") from None
        except duckdb.InterruptException:
            raise UnreadableError(f"{file.name}: loading it took too long") from None
        except duckdb.Error as error:
            reason = str(error).strip().split("\n")[0][:MESSAGE_CHARS_MAX]
            raise UnreadableError(f"{file.name}: it cannot be loaded as a table ({reason})") from None
    return names


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


def _describe(database: Any, name: str, file: str) -> Table:
    table = database.table(name)
    sample = table.limit(SAMPLE_ROWS).fetchall()
    columns = [
        Column(column, str(kind), [_json_value(row[n]) for row in sample])
        for n, (column, kind) in enumerate(zip(table.columns, table.types, strict=True))
    ]
    return Table(name, file, table.shape[0], columns)


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
    rows = result.fetchmany(rows_max + 1)
    return QueryAnswer(
        columns=[str(column[0]) for column in result.description],
        types=[str(column[1]) for column in result.description],
        rows=[[_json_value(value) for value in row] for row in rows[:rows_max]],
        is_cut=len(rows) > rows_max,
    )


def _json_value(value: Any) -> Any:
    """Convert a DuckDB value to JSON: dates as ISO 8601, bytes as hex, long texts and lists cut with a mark."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Decimal):
        return float(value) if Decimal(repr(float(value))) == value else str(value)
    if isinstance(value, bytes):
        return _shortened(value[:CELL_CHARS_MAX].hex())
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, dict):
        return {
            str(_json_value(key)): _json_value(inner) for key, inner in list(value.items())[:CELL_ITEMS_MAX]
        }
    if isinstance(value, list | tuple):
        remainder = [f"… [{len(value) - CELL_ITEMS_MAX:,} more]"] if len(value) > CELL_ITEMS_MAX else []
        return [*(_json_value(inner) for inner in value[:CELL_ITEMS_MAX]), *remainder]
    return _shortened(str(value))


def _shortened(text: str) -> str:
    printable = clean(text)
    if len(printable) <= CELL_CHARS_MAX:
        return printable
    return f"{printable[:CELL_CHARS_MAX]}… [cut, {len(printable):,} characters]"
