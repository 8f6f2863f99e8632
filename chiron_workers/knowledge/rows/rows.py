"""The rows that a run hands in, in the columns of its batch: each cell is held to its facts, or says why it is empty."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.types.json import Jsonb

from chiron_workers.db.queries import load
from chiron_workers.errors import ToolError
from chiron_workers.evidence.statements.support import Finding
from chiron_workers.ids import new_id
from chiron_workers.knowledge.drafts.citable_facts import CitableFacts, Scope
from chiron_workers.knowledge.facts.verdicts import Verdicts
from chiron_workers.knowledge.rows.calculations import NUMBER_TYPES, calculations_of
from chiron_workers.knowledge.rows.cell_checks import check_cells
from chiron_workers.knowledge.rows.forms import FormedRow, NewRow, form_rows, refuse
from chiron_workers.knowledge.rows.values import Value, read
from chiron_workers.runs.columns import Column, columns_of
from chiron_workers.runs.session import Session

SQL = load(__file__)
ROWS_MAX = 1_000  # of a run
CALL_ROWS_MAX = 50
BYTES_MAX = 4 * 1024 * 1024  # of all cells of a run
NO_COLUMNS = "This run was asked for no rows; answer in words."


@dataclass(frozen=True, slots=True)
class HandedIn:
    """The numbers of the rows that were handed in, and what the run has now."""

    numbers: list[int]
    rows: int
    empty_cells: int


@dataclass(frozen=True, slots=True)
class RowValues:
    """The number of a row, and its values by the names of the columns, None where a cell is empty."""

    number: int
    values: dict[str, Value | None]


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
        run_id, columns, topic = await self._table()
        if not 1 <= len(rows) <= CALL_ROWS_MAX:
            raise ToolError(
                f"rows: a call hands in between 1 and {CALL_ROWS_MAX} of them (got {len(rows):,})."
            )
        formed_rows = form_rows(columns, rows, topic=topic)
        await self._hold_to_facts(formed_rows)
        await self._session.lock(SQL["lock"], {"run_id": run_id}, keys=[f"rows {run_id}"])
        earlier = await self._session.rows(SQL["values"], {"run_id": run_id})
        numbers = _numbers(formed_rows, {row["n"]: row["values"] for row in earlier})
        # Of two rows with one number the later one is kept.
        rows_by_number = dict(zip(numbers, formed_rows, strict=True))
        args = {
            "run_id": run_id,
            "call_id": self._session.caller.call_id,
            "numbers": list(rows_by_number),
            "rows": Jsonb([{"n": n, "id": str(new_id())} for n in rows_by_number]),
            "cells": Jsonb(
                [{"n": n} | cell.entry for n, row in rows_by_number.items() for cell in row.cells]
            ),
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

    async def page(self, *, after: int, limit: int) -> list[RowValues]:
        """The rows that the run has handed in, by their numbers, those after one. Raises ToolError in a run without columns."""
        run_id, columns, _ = await self._table()
        args = {"run_id": run_id, "after": after, "limit": limit}
        return [
            RowValues(
                row["n"],
                {
                    column.name: None if text is None else read(text, column.type)
                    for column, text in zip(columns, row["values"], strict=True)
                },
            )
            for row in await self._session.rows(SQL["page"], args)
        ]

    async def _table(self) -> tuple[UUID, tuple[Column, ...], str]:
        """The run, the columns of its batch and its topic. Raises ToolError where it is asked for no rows."""
        run_id = self._session.caller.run_id
        row = await self._session.row(SQL["columns"], {"run_id": run_id}) if run_id else None
        columns = columns_of(row["columns"]) if row else ()
        if run_id is None or row is None or not columns:
            raise ToolError(NO_COLUMNS)
        return run_id, columns, row["topic"]

    async def _hold_to_facts(self, rows: Sequence[FormedRow]) -> None:
        """Have each cell judged by its facts. Raises ToolError, which names those that cannot stand."""
        cells = [(cell, cell.content) for row in rows for cell in row.cells if cell.content is not None]
        scope = Scope(subject_id=self._session.caller.subject_id)
        facts = await CitableFacts(self._session, scope).by_id(
            fact_id for _, content in cells for fact_id in content.fact_ids
        )
        contents = [content for _, content in cells]
        run_id = self._session.caller.run_id
        has_numbers = any(content.column.type in NUMBER_TYPES for content in contents)
        calculations = await calculations_of(self._session, [run_id]) if has_numbers and run_id else {}
        outcomes = await check_cells(
            contents,
            facts,
            self._verdicts,
            [calculation for page in calculations.values() for calculation in page],
        )
        refusals = []
        for (cell, _), outcome in zip(cells, outcomes, strict=True):
            if isinstance(outcome, Finding):
                cell.finding = outcome
            else:
                refusals.append(f"{cell.location}: {outcome}")
        refuse(refusals)


def _numbers(rows: Sequence[FormedRow], earlier: Mapping[int, list[str | None]]) -> list[int]:
    """The number of each row: of the one it replaces, of the one with its values, or the next. Raises ToolError."""
    values = dict(earlier)
    numbers = []
    for n, row in enumerate(rows, start=1):
        if row.replaces is not None and row.replaces not in values:
            raise ToolError(
                f"Row {n}: there is no row {row.replaces} to replace. Leave `replaces` out for a new row."
            )
        twin = next((number for number, row_values in values.items() if row_values == row.values), None)
        number = row.replaces or twin or max(values, default=0) + 1
        values[number] = row.values
        numbers.append(number)
    return numbers
