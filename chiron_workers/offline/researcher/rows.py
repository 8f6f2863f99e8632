"""The rows that the offline researcher hands in: one for each fact that it stored, as far as the fact's words fill a column."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chiron_workers.evidence.figures.figures import Figures, read_figures
from chiron_workers.offline.researcher.conversation import Call, Leg
from chiron_workers.offline.researcher.research import STORE, PlannedCall
from chiron_workers.offline.researcher.words import COMMON_WORDS, words

HAND_IN = "hand_in_rows"
ROWS_MAX = 20
TRIES_MAX = 3
NOTHING_STORED = "No source that was read answers the topic."
NOT_READ = "The offline researcher reads it from no fact."
REFUSED = "No stored fact bears a value out."
SOURCE_WORDS = {"source", "sources", "url", "link", "page", "address", "reference"}
STATEMENT_WORDS = {"answer", "description", "fact", "finding", "statement", "summary"}
NAME_WORDS = {"name", "title", "term", "subject"}
_COLUMNS = re.compile(r"<(columns-[0-9a-f]+)>\n(.*?)\n</\1>", re.DOTALL)
_NAME = re.compile(r"(?:The |An? )?((?:[A-Z][\w.+#'-]*)(?: (?:of )?[A-Z0-9][\w.+#'-]*){0,3})(?=[ ,(])")
_REFUSAL = re.compile(r"^Row (\d+), (.+?): ", re.MULTILINE)

Column = dict[str, str]
Cells = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class RowAnswer:
    """How far the rows are, read from the calls that were made for them."""

    leg: Leg
    columns: Sequence[Column]

    @cached_property
    def rows(self) -> list[Cells]:
        """A row for each stored fact that fills more than its source; else one that is as full as can be."""
        calls = [
            call for call in self.leg.calls_of(STORE) if isinstance(call.result, dict) and not call.is_failed
        ]
        rows = [self._row(call) for call in calls if call.result.get("fact_id")]
        telling_rows = [row for row in rows if any(self._tells(column, row) for column in self.columns)]
        return telling_rows[:ROWS_MAX] or rows[:1] or [self._empty_row(NOTHING_STORED)]

    def next_call(self) -> PlannedCall | None:
        """The call that is still to be made; None once one of them was taken."""
        attempts = self.leg.calls_of(HAND_IN)
        if not self.columns or any(not call.is_failed for call in attempts) or len(attempts) > TRIES_MAX:
            return None
        rows = self.rows
        if len(attempts) == TRIES_MAX:
            rows = [self._empty_row(REFUSED)]
        elif attempts:
            rows = _without_refused(attempts[-1])
        return HAND_IN, {"rows": [{"cells": row} for row in rows]}

    def _row(self, store: Call) -> Cells:
        figures = read_figures(str(store.arguments.get("content", "")))
        return {column["name"]: _cell(column, store, figures) for column in self.columns}

    def _empty_row(self, reason: str) -> Cells:
        return {column["name"]: _empty(reason) for column in self.columns}

    def _tells(self, column: Column, row: Cells) -> bool:
        return row[column["name"]]["value"] is not None and not _is_source(column)


def read_columns(system: str) -> list[Column]:
    """The columns that a system prompt asks for; none where it asks for no rows."""
    match = _COLUMNS.search(system)
    return [json.loads(line) for line in match[2].splitlines()] if match else []


def _cell(column: Column, store: Call, figures: Figures) -> dict[str, Any]:
    value = _value(column, store, figures)
    return _empty(NOT_READ) if value is None else {"value": value, "facts": [store.result["fact_id"]]}


def _value(column: Column, store: Call, figures: Figures) -> str | int | float | None:
    """What the words of a fact give for a column; None where they give nothing, or more than one thing."""
    statement, names = figures.text, set(words(column["name"].replace("_", " ")))
    if _is_source(column):
        url = str(store.arguments.get("source_url", ""))
        return url if column["type"] != "url" or url.startswith(("http://", "https://")) else None
    match column["type"]:
        case "int" | "float":
            years = {date.first[0] for date in figures.dates if date.has_year}
            numbers = {q.low for q in figures.quantities if q.low == q.high and q.dimension != "rank"}
            candidates = years if names & {"year", "years"} else numbers
            # Of another number nobody knows what it counts, unless the fact names the column.
            if len(candidates) == 1 and (candidates is years or names & set(words(statement))):
                number = float(candidates.pop())
                return int(number) if number.is_integer() else number if column["type"] == "float" else None
        case "date":
            days = {date.first for date in figures.dates if date.has_year and date.first == date.last}
            if len(days) == 1:
                return "{:04}-{:02}-{:02}".format(*days.pop())
        case "text" if names & STATEMENT_WORDS:
            return str(store.arguments.get("content", ""))
        case "text" if names & NAME_WORDS:
            return _name(statement)
    return None


def _name(statement: str) -> str | None:
    """The capitalised words that a fact begins with; a word that any sentence may begin with is none."""
    match = _NAME.match(statement)
    return match[1] if match and match[1].split()[0].lower() not in COMMON_WORDS else None


def _is_source(column: Column) -> bool:
    return column["type"] == "url" or bool(SOURCE_WORDS & set(words(column["name"].replace("_", " "))))


def _empty(reason: str) -> dict[str, Any]:
    return {"value": None, "reason": reason}


def _without_refused(attempt: Call) -> list[Cells]:
    """The rows of a call that was refused, with those cells empty that cannot stand."""
    refusals = {(int(number), name) for number, name in _REFUSAL.findall(attempt.text)}
    return [
        {
            name: _empty(REFUSED) if not refusals or (n, name) in refusals else cell
            for name, cell in row["cells"].items()
        }
        for n, row in enumerate(attempt.arguments.get("rows", []), start=1)
    ]
