"""Rows as people read them: the values with the facts behind them, and what became of these since."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool
from chiron_workers.db.queries import load
from chiron_workers.knowledge.drafts.citable_facts import CitableFact, CitableFacts, Scope
from chiron_workers.knowledge.drafts.reading import verdict_of
from chiron_workers.knowledge.rows.calculations import (
    NUMBER_TYPES,
    Calculation,
    behind,
    calculations_of,
)
from chiron_workers.knowledge.rows.values import UNCHECKED_MARK, Value, read
from chiron_workers.runs.columns import Column
from chiron_workers.runs.session import Session
from chiron_workers.states import FactStatus, RunState, Verdict

SQL = load(__file__)
PAGE_ROWS = 100


@dataclass(frozen=True, slots=True)
class CellFact:
    """A fact behind a cell as it is now."""

    id: str
    statement: str
    status: FactStatus
    confidence: float
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A value with its facts, or None with the reason; `changes` say what became of the facts since, and what contradicts them.

    `found_by` is the model that found that they support it, `rules`, or empty if none was asked. `mark` is what a reader
    must know before relying on the value. An empty cell has no verdict. `calculation` is the formula by which the run made the
    value of numbers of the facts, where it did.
    """

    value: Value | None
    facts: tuple[CellFact, ...]
    reason: str
    found_by: str
    changes: tuple[str, ...]
    verdict: Verdict | None
    mark: str
    calculation: str = ""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A row: `cells` in the order of the columns; `n` counts those of its run from 1."""

    id: UUID
    run_id: UUID
    topic: str
    subject_id: str
    n: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class TopicRows:
    """How many rows the run on a topic has handed in, and where it stands."""

    run_id: UUID
    topic: str
    state: RunState
    error: dict[str, str] | None
    rows: int


async def row_page(
    pool: Pool, target: UUID, columns: Sequence[Column], *, after: UUID | None, limit: int
) -> list[AnswerRow]:
    """The next rows of a run, or of all runs of a batch in the order of its topics.

    Args:
        after: The id of the row that they come after. None: from the first on.
    """
    session = Session(pool)
    rows = await session.rows(SQL["page"], {"id": target, "after": after, "limit": limit})
    args = {"run_ids": [row["run_id"] for row in rows], "numbers": [row["n"] for row in rows]}
    cell_rows = await session.rows(SQL["cells"], args)
    present = await _present(session, cell_rows)
    has_numbers = any(column.type in NUMBER_TYPES for column in columns)
    calculations = await calculations_of(session, args["run_ids"]) if has_numbers else {}
    cells: dict[tuple[UUID, int], list[Cell]] = {}
    for row in cell_rows:
        cells.setdefault((row["run_id"], row["n"]), []).append(
            _cell(row, columns[row["place"]], present, calculations.get(row["run_id"], ()))
        )
    return [AnswerRow(**row, cells=tuple(cells.get((row["run_id"], row["n"]), ()))) for row in rows]


async def all_rows(pool: Pool, target: UUID, columns: Sequence[Column]) -> AsyncGenerator[list[AnswerRow]]:
    """All rows, in pages of at most PAGE_ROWS; no transaction stays open between two of them."""
    after: UUID | None = None
    while page := await row_page(pool, target, columns, after=after, limit=PAGE_ROWS):
        yield page
        after = page[-1].id


async def topics_of(pool: Pool, target: UUID) -> AsyncGenerator[list[TopicRows]]:
    """All runs of a batch with how many rows each has, in pages of at most PAGE_ROWS."""
    after: UUID | None = None
    while rows := await Session(pool).rows(SQL["topics"], {"id": target, "after": after, "limit": PAGE_ROWS}):
        yield [TopicRows(**row | {"state": RunState(row["state"])}) for row in rows]
        after = rows[-1]["run_id"]


@dataclass(frozen=True, slots=True)
class _Present:
    """The facts of cells as they are now, and what took their place."""

    facts: Mapping[str, CitableFact]
    successors: Mapping[str, str]

    def change(self, fact_id: str) -> str:
        """What became of a fact; nothing where it stands and nothing contradicts it."""
        fact = self.facts.get(fact_id)
        if fact is None:
            return f"Fact {fact_id} was deleted since."
        if fact.status is FactStatus.WITHDRAWN:
            return f"Fact {fact_id} was withdrawn since."
        if fact.status is FactStatus.SUPERSEDED:
            successor = self.successors.get(fact_id)
            return f"Fact {fact_id} is superseded since{f' by fact {successor}' if successor else ''}."
        return f"Fact {fact_id} is contradicted by fact {fact.opponents[0]}." if fact.opponents else ""


async def _present(session: Session, cell_rows: Sequence[DictRow]) -> _Present:
    fact_ids = list(dict.fromkeys(fact_id for row in cell_rows for fact_id in row["fact_ids"]))
    facts = await CitableFacts(session, Scope()).by_id(fact_ids)
    rows = await session.rows(SQL["successors"], {"fact_ids": fact_ids})
    return _Present(facts, {row["fact_id"]: row["successor"] for row in rows})


def _cell(row: DictRow, column: Column, present: _Present, calculations: Sequence[Calculation]) -> Cell:
    facts = [present.facts[fact_id] for fact_id in row["fact_ids"] if fact_id in present.facts]
    changes = (present.change(fact_id) for fact_id in row["fact_ids"])
    verdict = None if row["value"] is None else verdict_of(row["verdict_by"])
    value = None if row["value"] is None else read(row["value"], column.type)
    is_number = value is not None and column.type in NUMBER_TYPES
    calculation = behind(value, row["fact_ids"], calculations) if value is not None and is_number else None
    return Cell(
        value,
        tuple(_fact(fact) for fact in facts),
        row["reason"],
        row["verdict_by"],
        tuple(change for change in changes if change),
        verdict,
        UNCHECKED_MARK if verdict is Verdict.UNCHECKED else "",
        calculation.formula if calculation else "",
    )


def _fact(fact: CitableFact) -> CellFact:
    sources = dict.fromkeys(passage.source_url for passage in fact.passages)
    return CellFact(fact.fact_id, fact.content, fact.status, round(fact.confidence, 2), tuple(sources))
