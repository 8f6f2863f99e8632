"""Tables of files, and one SELECT over them, in a DuckDB that can reach nothing else. Call it in the sandbox."""

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.optional import import_optional
from chiron_workers.documents.sandbox.sandbox import Limits
from chiron_workers.documents.tables.cells import json_value
from chiron_workers.documents.tables.load import TableFile, load_relations

SAMPLES = 3
THREADS = 2
# Of what the process has, so that the database gives up before the process is killed. It takes more than it counts.
SHARE_OF_TIME, SHARE_OF_MEMORY = 0.9, 0.5
NAME_CHARS_MAX = 60
MESSAGE_CHARS_MAX = 1_000
LOCKS = ("set enable_external_access = false", "set lock_configuration = true")
COMMENTS = re.compile(r"(?:\s+|--[^\n]*(?:\n|$)|/\*.*?\*/|\()*", re.DOTALL)
READING = re.compile(r"(select|with|from|values|table|describe|summarize|show|unpivot)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, with values of its first rows."""

    name: str
    type: str
    samples: list[Any]


@dataclass(frozen=True, slots=True)
class Table:
    """A table under the name that a query gives it."""

    name: str
    file: str
    rows: int
    columns: list[Column]


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a query, `is_cut` where there are more; or the `problem` that the database has with it."""

    columns: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)
    is_cut: bool = False
    problem: str = ""


def describe_tables(files: tuple[TableFile, ...], *, limits: Limits) -> list[Table]:
    """The tables of some files. Raises UnreadableError, naming the file that holds none."""
    with _database(limits) as database:
        return [_described(database, name, file) for name, file in _load(database, files)]


def query_tables(files: tuple[TableFile, ...], query: str, *, rows_max: int, limits: Limits) -> Answer:
    """What one SELECT over the tables of some files gives. Raises UnreadableError, naming the file that holds none."""
    duckdb = import_optional("duckdb")
    with _database(limits) as database:
        names = ", ".join(name for name, _ in _load(database, files))
        for lock in LOCKS:
            database.execute(lock)
        try:
            return _answer(database, query, rows_max)
        except duckdb.InterruptException:
            return Answer(
                problem=f"it took more than {limits.timeout_s * SHARE_OF_TIME:g} s; filter or aggregate first"
            )
        except duckdb.Error as error:
            return Answer(problem=f"{str(error).strip()[:MESSAGE_CHARS_MAX]}\nThe tables are {names}")


@contextmanager
def _database(limits: Limits) -> Iterator[Any]:
    settings = {
        "threads": THREADS,
        "memory_limit": f"{int(limits.memory_bytes * SHARE_OF_MEMORY) // 1_000_000}MB",
        "temp_directory": "",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "python_enable_replacements": False,
    }
    database = import_optional("duckdb").connect(":memory:", config=settings)
    clock = threading.Timer(limits.timeout_s * SHARE_OF_TIME, database.interrupt)
    clock.daemon = True
    clock.start()
    try:
        yield database
    finally:
        clock.cancel()
        database.close()


def _load(database: Any, files: Sequence[TableFile]) -> list[tuple[str, str]]:
    duckdb = import_optional("duckdb")
    loaded: list[tuple[str, str]] = []
    for file in files:
        try:
            for suffix, relation in load_relations(database, file):
                stem = PurePath(file.name).stem
                name = _free_name(database, f"{stem} {suffix}", {taken for taken, _ in loaded})
                relation.create(name)
                loaded.append((name, file.name))
        except UnreadableError as error:
            raise UnreadableError(f"{file.name}: {error}") from None
        except duckdb.InterruptException:
            raise UnreadableError(f"{file.name}: loading it took too long") from None
        except duckdb.Error as error:
            reason = str(error).strip().split("\n")[0][:MESSAGE_CHARS_MAX]
            raise UnreadableError(f"{file.name}: it cannot be loaded as a table ({reason})") from None
    return loaded


def _free_name(database: Any, text: str, taken: set[str]) -> str:
    """A name that SQL takes without quotes: of `Sales 2024.csv` sales_2024, and sales_2024_2 if that is taken."""
    word = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:NAME_CHARS_MAX] or "data"
    word = f"t_{word}" if word[0].isdigit() or word in _reserved(database) else word
    n = 1
    while (name := word if n == 1 else f"{word}_{n}") in taken:
        n += 1
    return name


def _reserved(database: Any) -> set[str]:
    return {
        word
        for word, category in database.table_function("duckdb_keywords").fetchall()
        if category != "unreserved"
    }


def _described(database: Any, name: str, file: str) -> Table:
    table = database.table(name)
    sample = table.limit(SAMPLES).fetchall()
    columns = [
        Column(column, str(kind), [json_value(row[n]) for row in sample])
        for n, (column, kind) in enumerate(zip(table.columns, table.types, strict=True))
    ]
    return Table(name, file, table.shape[0], columns)


def _answer(database: Any, query: str, rows_max: int) -> Answer:
    duckdb = import_optional("duckdb")
    statements = database.extract_statements(query)
    if len(statements) != 1:
        return Answer(problem=f"it must be one SELECT (got {len(statements)} statements)")
    begins = COMMENTS.match(query)
    if statements[0].type != duckdb.StatementType.SELECT or not READING.match(
        query, begins.end() if begins else 0
    ):
        return Answer(problem="it must be a SELECT; a query reads and changes nothing")
    result = database.execute(statements[0])
    rows = result.fetchmany(rows_max + 1)
    return Answer(
        columns=[str(column[0]) for column in result.description],
        types=[str(column[1]) for column in result.description],
        rows=[[json_value(value) for value in row] for row in rows[:rows_max]],
        is_cut=len(rows) > rows_max,
    )
