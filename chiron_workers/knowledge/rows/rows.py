"""The rows that a run hands in, in the columns of its batch: each cell is held to its facts, or says why it is empty."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from chiron_workers.db.queries import load
from chiron_workers.db.validation import collapse_whitespace
from chiron_workers.errors import ToolError
from chiron_workers.evidence.statements.support import Finding
from chiron_workers.ids import new_id
from chiron_workers.knowledge.drafts.citable_facts import CitableFacts, Scope
from chiron_workers.knowledge.facts.verdicts import Verdicts
from chiron_workers.knowledge.rows.cell_checks import check_cells
from chiron_workers.knowledge.rows.cell_rules import FilledCell
from chiron_workers.knowledge.rows.values import Value, value_of, written
from chiron_workers.runs.columns import Column, columns_of
from chiron_workers.runs.entries import storable
from chiron_workers.runs.session import Session

SQL = load(__file__)
ROWS_MAX = 1_000  # of a run
CALL_ROWS_MAX = 50
BYTES_MAX = 4 * 1024 * 1024  # of all cells of a run
REASON_CHARS_MAX = 500
LABEL_CHARS = 80
REFUSALS_MAX = 20  # that are told at once
NO_COLUMNS = "This run was asked for no rows; answer in words."


@dataclass(frozen=True, slots=True)
class NewCell:
    """A cell as a model sent it: a value with the ids of its facts, or a reason why it is empty."""

    value: Value | None = None
    fact_ids: tuple[str, ...] = ()
    reason: str = ""


MISSING = NewCell(reason="It is missing.")


@dataclass(frozen=True, slots=True)
class NewRow:
    """A row by the names of its columns; `replaces` is the number of the row that it stands in place of."""

    cells: Mapping[str, NewCell]
    replaces: int | None = None


@dataclass(frozen=True, slots=True)
class HandedIn:
    """The numbers of the rows that were handed in, and what the run has now."""

    numbers: list[int]
    rows: int
    empty_cells: int


@dataclass(slots=True)
class _CheckedRow:
    """The cells of a row in the order of the columns, each as its row in Postgres, and which row it replaces."""

    replaces: int | None
    cells: list[dict[str, Any]] = field(default_factory=list)

    @property
    def values(self) -> list[str | None]:
        return [cell["value"] for cell in self.cells]


class Rows:
    """The rows of the run on whose behalf a store is used."""

    def __init__(self, session: Session, verdicts: Verdicts) -> None:
        self._session = session
        self._verdicts = verdicts

    async def hand_in(self, rows: Sequence[NewRow]) -> HandedIn:
        """Keep rows; one with the values of a row that stands takes its place.

        Raises:
            ToolError: A cell cannot stand, or they are too many; nothing was kept. The message numbers the rows.
        """
        run_id, columns = await self._asked_for()
        if not 1 <= len(rows) <= CALL_ROWS_MAX:
            raise ToolError(
                f"rows: a call hands in between 1 and {CALL_ROWS_MAX} of them (got {len(rows):,})."
            )
        checked_rows = await self._check(columns, rows)
        await self._session.lock(SQL["lock"], {"run_id": run_id}, keys=[f"rows {run_id}"])
        earlier = await self._session.rows(SQL["values"], {"run_id": run_id})
        numbers = _numbered(checked_rows, {row["n"]: row["values"] for row in earlier})
        # Of two rows with one number the later one stands.
        standing = dict(zip(numbers, checked_rows, strict=True))
        args = {
            "run_id": run_id,
            "call_id": self._session.caller.call_id,
            "numbers": list(standing),
            "rows": Jsonb([{"n": n, "id": str(new_id())} for n in standing]),
            "cells": Jsonb([{"n": n} | cell for n, row in standing.items() for cell in row.cells]),
        }
        await self._session.write(SQL["add"], args)
        await self._session.write(SQL["clear"], args)
        await self._session.write(SQL["add_cells"], args)
        [size] = await self._session.rows(SQL["size"], args)
        if size["rows"] > ROWS_MAX or size["bytes"] > BYTES_MAX:
            raise ToolError(
                f"rows: a run has at most {ROWS_MAX:,} of them, with {BYTES_MAX // 1024**2} MB of text. Nothing of this call "
                "was kept; what was handed in before stays."
            )
        return HandedIn(numbers, size["rows"], size["empty_cells"])

    async def _asked_for(self) -> tuple[UUID, tuple[Column, ...]]:
        run_id = self._session.caller.run_id
        row = await self._session.row(SQL["columns"], {"run_id": run_id}) if run_id else None
        columns = columns_of(row["columns"]) if row else ()
        if run_id is None or not columns:
            raise ToolError(NO_COLUMNS)
        return run_id, columns

    async def _check(self, columns: Sequence[Column], rows: Sequence[NewRow]) -> list[_CheckedRow]:
        """The rows with what their cells rest on. Raises ToolError, which names each cell that cannot stand."""
        refusals: list[str] = []
        checked_rows: list[_CheckedRow] = []
        open_cells: list[tuple[str, FilledCell, dict[str, Any]]] = []
        for n, row in enumerate(rows, start=1):
            refusals += [f"Row {n}: {sentence}" for sentence in _refuse_names(columns, row)]
            checked_rows.append(checked := _CheckedRow(row.replaces))
            label = ""
            for place, column in enumerate(columns):
                name = f"Row {n}, {column.name}"
                cell = row.cells.get(column.name, MISSING)
                try:
                    filled = _filled(column, cell, label)
                except ToolError as error:
                    refusals.append(f"{name}: {error}")
                    continue
                entry = _entry(place, filled, cell)
                checked.cells.append(entry)
                if filled is not None:
                    open_cells.append((name, filled, entry))
                    label = label or written(filled.value)[:LABEL_CHARS]
        if not refusals:
            refusals = await self._hold_to_facts(open_cells)
        if refusals:
            more = len(refusals) - REFUSALS_MAX
            tail = [f"And {more:,} more cells."] if more > 0 else []
            lines = ["Nothing was kept, since these cells cannot stand.", *refusals[:REFUSALS_MAX], *tail]
            raise ToolError("\n".join(lines))
        return checked_rows

    async def _hold_to_facts(self, cells: Sequence[tuple[str, FilledCell, dict[str, Any]]]) -> list[str]:
        """Why cells cannot stand; the entries of those that can are told who found that."""
        scope = Scope(subject_id=self._session.caller.subject_id)
        facts = await CitableFacts(self._session, scope).by_id(
            fact_id for _, cell, _ in cells for fact_id in cell.fact_ids
        )
        outcomes = await check_cells([cell for _, cell, _ in cells], facts, self._verdicts)
        refusals = []
        for (name, _, entry), outcome in zip(cells, outcomes, strict=True):
            if isinstance(outcome, Finding):
                entry |= {"verdict_reason": outcome.reason, "verdict_by": outcome.judge}
            else:
                refusals.append(f"{name}: {outcome}")
        return refusals


def _refuse_names(columns: Sequence[Column], row: NewRow) -> list[str]:
    names = [column.name for column in columns]
    refusals = [
        f"{name} is missing. Give its value with its facts, or null with the reason why it is empty."
        for name in names
        if name not in row.cells
    ]
    unknown = [name for name in row.cells if name not in names]
    return refusals + [f"There is no column {name[:60]!r}; there are {', '.join(names)}." for name in unknown]


def _filled(column: Column, cell: NewCell, label: str) -> FilledCell | None:
    """A cell with its value as the column has it; None for an empty one. Raises ToolError for one that is neither."""
    if cell.value is None or not str(cell.value).strip():
        if not cell.reason.strip():
            raise ToolError(
                "It is empty without a reason. Say in a few words why, or give its value with its facts."
            )
        if len(cell.reason) > REASON_CHARS_MAX:
            raise ToolError(
                f"The reason has {len(cell.reason):,} characters; {REASON_CHARS_MAX} are allowed."
            )
        return None
    if cell.reason.strip():
        raise ToolError("It has a value and a reason why it is empty. Leave one of them out.")
    fact_ids = dict.fromkeys(fact_id.strip().lower() for fact_id in cell.fact_ids)
    return FilledCell(column, value_of(cell.value, column.type), tuple(fact_ids), label)


def _entry(place: int, filled: FilledCell | None, cell: NewCell) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "place": place,
        "value": None,
        "fact_ids": [],
        "reason": "",
        "verdict_reason": "",
        "verdict_by": "",
    }
    if filled is None:
        return entry | {"reason": storable(collapse_whitespace(cell.reason))}
    return entry | {"value": written(filled.value), "fact_ids": list(filled.fact_ids)}


def _numbered(rows: Sequence[_CheckedRow], earlier: Mapping[int, list[str | None]]) -> list[int]:
    """The number of each row: of the one it replaces, of the one with its values, or the next. Raises ToolError."""
    values = dict(earlier)
    numbers = []
    for n, row in enumerate(rows, start=1):
        if row.replaces is not None and row.replaces not in values:
            raise ToolError(
                f"Row {n}: there is no row {row.replaces} to replace. Leave `replaces` out for a new row."
            )
        same = next((number for number, known in values.items() if known == row.values), None)
        number = row.replaces or same or max(values, default=0) + 1
        values[number] = row.values
        numbers.append(number)
    return numbers
