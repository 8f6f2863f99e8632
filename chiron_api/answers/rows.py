"""Rows that runs hand in, in the columns that their batch asked for."""

from typing import Literal
from uuid import UUID

from chiron_api.answers.basics import Answer
from chiron_api.answers.facts import FactStatus, Verdict


class Column(Answer):
    """A column; `description` says in words what belongs there."""

    name: str
    type: Literal["text", "int", "float", "bool", "date", "url"]
    description: str


class CellFact(Answer):
    """A fact behind a cell as it is now."""

    id: UUID
    statement: str
    status: FactStatus
    confidence: float
    sources: list[str]


class Cell(Answer):
    """A value with its facts, or null with the reason. A day and an address are text.

    `verdict` is `supported` if the model `found_by` found that the facts support it, `unchecked` if no model was asked, and
    null for an empty cell; `mark` says so in plain words. `changes` say what became of the facts since, and what contradicts
    them. `calculation` is the formula by which the run made the value of numbers of the facts, where it did.
    """

    value: bool | int | float | str | None
    facts: list[CellFact]
    reason: str
    found_by: str
    verdict: Verdict | None
    mark: str
    changes: list[str]
    calculation: str = ""


class Row(Answer):
    """A row with its cells by the names of their columns; `n` counts those of its run from 1."""

    id: UUID
    run_id: UUID
    topic: str
    subject_id: str
    n: int
    cells: dict[str, Cell]


class RowList(Answer):
    """A page of rows in the order of the topics, with their columns; `next` is the `after` of the next page, null on the last."""

    columns: list[Column]
    items: list[Row]
    next: UUID | None
