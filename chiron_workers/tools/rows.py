from typing import Annotated, TypedDict

from pydantic import BaseModel, ConfigDict, Field

from chiron_workers.knowledge.drafts.sentence_rules import FACTS_MAX
from chiron_workers.knowledge.rows.forms import NewCell, NewRow
from chiron_workers.knowledge.rows.rows import CALL_ROWS_MAX
from chiron_workers.knowledge.rows.values import Value
from chiron_workers.runs.columns import COLUMNS_MAX
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

PAGE_ROWS = 50
TIMEOUT_S = 180.0  # the model may be asked about the cells


class RowCell(BaseModel):
    """A value with the ids of the facts that bear it out, or null with the reason why the cell is empty."""

    model_config = ConfigDict(extra="forbid")

    value: str | int | float | bool | None = None
    facts: Annotated[list[str], Field(max_length=FACTS_MAX)] = []
    reason: str = ""


class Row(BaseModel):
    """A row: a cell for each column, by its name; `replaces` is the number of the row that it stands in place of."""

    model_config = ConfigDict(extra="forbid")

    cells: Annotated[dict[str, RowCell], Field(max_length=COLUMNS_MAX)]
    replaces: int | None = None


class HandedInRows(TypedDict):
    """The numbers of the rows that were handed in, in their order, and what the run has now."""

    rows: list[int]
    rows_in_all: int
    empty_cells: int


class ListedRow(TypedDict):
    """A row that was handed in, by the names of its columns; null where a cell is empty."""

    row: int
    values: dict[str, Value | None]


@tool(needs_run=True, needs_columns=True, timeout_s=TIMEOUT_S)
async def hand_in_rows(
    store: Store, *, rows: Annotated[list[Row], Field(min_length=1, max_length=CALL_ROWS_MAX)]
) -> HandedInRows:
    """Hand in rows of the table that this run is asked for, some at a time, as soon as their facts are stored.

    Each cell is held to its facts: they have to say that it is the value of this column for the thing of this row. Another value
    is refused with the reason, and so is a fact that says nothing of its cell; then nothing of the call is kept. Mend that cell,
    or leave it empty with the reason, and hand the rows in again.

    Args:
        rows: Each with its cells by the names of the columns, all of them: a value with the ids of the facts that bear it out,
            or null with a reason (not found, sources disagree). Numbers, days and names as the facts have them. To mend a row
            that was handed in, hand it in whole with its number as replaces. A row with the values of one that is there is
            the same row.

    Returns:
        rows: the numbers of these rows; rows_in_all and empty_cells: what the run has handed in so far.
    """
    new_rows = [
        NewRow(
            {name: NewCell(cell.value, tuple(cell.facts), cell.reason) for name, cell in row.cells.items()},
            row.replaces,
        )
        for row in rows
    ]
    receipt = await store.rows.hand_in(new_rows)
    return HandedInRows(rows=receipt.numbers, rows_in_all=receipt.rows, empty_cells=receipt.empty_cells)


@tool(needs_run=True, needs_columns=True)
async def list_rows(store: Store, *, after: Annotated[int, Field(ge=0, le=1_000_000)] = 0) -> list[ListedRow]:
    """List the rows that this run has handed in, 50 at a time: look here before you hand in more after a pause.

    Args:
        after: The number of the last row of the page before.

    Returns:
        Each row with its number and its values by the names of the columns, null where a cell is empty.
    """
    rows = await store.rows.page(after=after, limit=PAGE_ROWS)
    return [ListedRow(row=row.number, values=row.values) for row in rows]
