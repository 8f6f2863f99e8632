"""Calculations of a run: the results of its tool `calculate`, committed with their calls."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from uuid import UUID

from chiron_workers.db.queries import load
from chiron_workers.knowledge.rows.values import Value
from chiron_workers.runs.session import Session
from chiron_workers.states import ColumnType

SQL = load(__file__)
TOOL = "calculate"
NUMBER_TYPES = (ColumnType.INT, ColumnType.FLOAT)
CALCULATIONS_MAX = 1_000  # of a run, the latest


@dataclass(frozen=True, slots=True)
class Calculation:
    """A number, the formula that gave it, the facts whose numbers it was made of, and further numbers in it."""

    value: Fraction
    formula: str
    fact_ids: frozenset[str]
    own_numbers: tuple[str, ...]


async def calculations_of(session: Session, run_ids: Sequence[UUID]) -> dict[UUID, list[Calculation]]:
    """The calculations of runs that rest on facts, the latest first."""
    calculations: dict[UUID, list[Calculation]] = {}
    args = {"run_ids": list(set(run_ids)), "name": TOOL, "limit": CALCULATIONS_MAX}
    for row in await session.rows(SQL["of_runs"], args):
        if calculation := read_result(row["body"]):
            calculations.setdefault(row["run_id"], []).append(calculation)
    return calculations


def read_result(body: str) -> Calculation | None:
    """The calculation that a result tells of; None for one that rests on no fact, and for one of a tool of the same name."""
    try:
        result = json.loads(body)
        calculation = Calculation(
            Fraction(result["value"]),
            str(result["formula"]),
            frozenset(map(str, result["facts"])),
            tuple(map(str, result["own_numbers"])),
        )
    except (ValueError, KeyError, TypeError, ZeroDivisionError):
        return None
    return calculation if calculation.fact_ids else None


def behind(value: Value, fact_ids: Sequence[str], calculations: Sequence[Calculation]) -> Calculation | None:
    """The latest calculation of a number from these facts or some of them; None where the value is not a number."""
    if isinstance(value, (str, bool)):
        return None
    number, ids = Fraction(str(value)), set(fact_ids)
    return next(
        (
            calculation
            for calculation in calculations
            if calculation.value == number and calculation.fact_ids <= ids
        ),
        None,
    )
