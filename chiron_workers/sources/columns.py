"""Rows of cells as CSV in one dialect, with a DuckDB type for each column: DuckDB's own guesses may leave rows out."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import lru_cache

from chiron_workers.sources.sheets import Cell, shown

BIGINT_MAX = 2**63 - 1
TEXT = "VARCHAR"
NUMBERS = {frozenset({"BIGINT", "DOUBLE"}): "DOUBLE", frozenset({"DATE", "TIMESTAMP"}): "TIMESTAMP"}
KINDS: dict[type, str] = {bool: "BOOLEAN", float: "DOUBLE", date: "DATE", datetime: "TIMESTAMP", time: "TIME"}
WHOLE = re.compile(r"[+-]?(0|[1-9]\d{0,17})")  # 007 is no number
DECIMAL = re.compile(r"[+-]?(0|[1-9]\d*)?(\.\d+)?([eE][+-]?\d{1,3})?(?<=\d)")
DATED = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?")


@dataclass(frozen=True, slots=True)
class Typed:
    """A table as UTF-8 CSV without a header, with the names and DuckDB types of its columns."""

    names: list[str]
    types: list[str]
    csv: bytes


def typed(rows: Callable[[], Iterable[Sequence[Cell]]]) -> Typed:
    """A table of rows, of which the first that is not empty names the columns. They are gone through twice.

    Shorter rows are filled up, empty ones left out. A column has the narrowest type that all its cells have; in text,
    numbers, true and false, and dates as ISO 8601 writes them are known.
    """
    header, kinds = _surveyed(_filled(rows()))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in _filled(rows(), skip=1):
        cells = [shown(cell) for cell in row[: len(kinds)]]
        writer.writerow([*cells, *[""] * (len(kinds) - len(cells))])
    names = unique([*map(shown, header[: len(kinds)]), *[""] * (len(kinds) - len(header))])
    return Typed(names, [_narrowest(found) for found in kinds], out.getvalue().encode())


def unique(names: Sequence[str]) -> list[str]:
    """Names with none empty and none twice, also if case is ignored: `a, A,` becomes `a, A_2, column3`."""
    found: dict[str, str] = {}
    for n, name in enumerate(names, 1):
        wanted, copies = " ".join(name.split()) or f"column{n}", 1
        while (candidate := wanted if copies == 1 else f"{wanted}_{copies}").lower() in found:
            copies += 1
        found[candidate.lower()] = candidate
    return list(found.values())


def _filled(rows: Iterable[Sequence[Cell]], *, skip: int = 0) -> Iterator[Sequence[Cell]]:
    for row in rows:
        if _width(row):
            if skip:
                skip -= 1
                continue
            yield row


def _surveyed(rows: Iterator[Sequence[Cell]]) -> tuple[Sequence[Cell], list[set[str]]]:
    header = next(rows, ())
    kinds: list[set[str]] = [set() for _ in range(_width(header))]
    for row in rows:
        width = _width(row)
        kinds += [set() for _ in range(width - len(kinds))]
        for n in range(width):
            if TEXT not in kinds[n] and not _is_empty(row[n]):
                kinds[n].add(_kind(row[n]))
    return header, kinds


def _width(row: Sequence[Cell]) -> int:
    return next((n for n in range(len(row), 0, -1) if not _is_empty(row[n - 1])), 0)


def _is_empty(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _kind(cell: Cell) -> str:
    if isinstance(cell, str):
        return _kind_of_text(cell)
    if isinstance(cell, int) and not isinstance(cell, bool):
        return "BIGINT" if abs(cell) <= BIGINT_MAX else "DOUBLE"
    return KINDS.get(type(cell), TEXT)


@lru_cache(maxsize=10_000)
def _kind_of_text(cell: str) -> str:
    if WHOLE.fullmatch(cell):
        return "BIGINT"
    if DECIMAL.fullmatch(cell):
        return "DOUBLE"
    if cell.lower() in ("true", "false"):
        return "BOOLEAN"
    if DATED.fullmatch(cell):
        with suppress(ValueError):  # a 30th of February is text
            datetime.fromisoformat(cell)
            return "DATE" if len(cell) == len("2024-01-01") else "TIMESTAMP"
    return TEXT


def _narrowest(kinds: set[str]) -> str:
    return next(iter(kinds)) if len(kinds) == 1 else NUMBERS.get(frozenset(kinds), TEXT)
