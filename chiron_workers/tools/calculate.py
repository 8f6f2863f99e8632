import asyncio
from collections.abc import Mapping
from typing import Annotated, TypedDict

from pydantic import BaseModel, ConfigDict, Field

from chiron_workers.calculation.calculation import INPUTS_MAX, Input, Outcome
from chiron_workers.calculation.calculation import calculate as calculate_exactly
from chiron_workers.calculation.expressions import CHARS_MAX, read_number
from chiron_workers.calculation.quantities import DECIMALS_MAX
from chiron_workers.calculation.units import UNIT_CHARS_MAX
from chiron_workers.errors import ToolError
from chiron_workers.knowledge.drafts.citable_facts import CitableFact, CitableFacts, Scope
from chiron_workers.knowledge.rows.cell_rules import refuse_fact, shows_number
from chiron_workers.store import Store
from chiron_workers.toolkit import tool


class NumberInput(BaseModel):
    """A number with its unit, and the id of the fact that says it."""

    model_config = ConfigDict(extra="forbid")

    value: str | int | float
    unit: Annotated[str, Field(max_length=UNIT_CHARS_MAX)] = ""
    fact: Annotated[str, Field(max_length=60)] = ""


class Calculated(TypedDict):
    """The result of a calculation, its formula with the inputs, and the facts of these."""

    value: str
    unit: str
    exact: str
    is_rounded: bool
    formula: str
    facts: list[str]
    own_numbers: list[str]


@tool
async def calculate(
    store: Store,
    *,
    expression: Annotated[str, Field(min_length=1, max_length=CHARS_MAX)],
    inputs: Annotated[dict[str, NumberInput] | None, Field(max_length=INPUTS_MAX)] = None,
    unit: Annotated[str, Field(max_length=UNIT_CHARS_MAX)] = "",
    decimals: Annotated[int | None, Field(ge=0, le=DECIMALS_MAX)] = None,
) -> Calculated:
    """Calculate exactly, with units: differences, shares, rates, growth, means, conversions. Do not do sums in your head.

    Name each number as an input, with its unit and the id of the fact that says it; numbers must stand in their facts as given.
    A cell of hand_in_rows may have the result's value: name in it the facts of the result. Units convert by themselves and must
    fit together; a currency does not convert into another.

    Args:
        expression: Numbers and names of inputs with + - * / ** ( ) and abs, ceil, exp, floor, ln, log10, max, mean, min, round,
            sqrt, sum. Such as (last / first) ** (1 / 5) - 1. Units belong to the inputs.
        inputs: The numbers by their names: value ("1741.5", digits without commas), unit (m, km/h, USD/person, percent; empty for
            a count), fact (its id; left out for a number that is from no fact).
        unit: Of the result, such as percent or km^2. Left out, the one that comes out.
        decimals: Round to so many. Left out, the value has up to 15 digits.

    Returns:
        value (a decimal), unit, exact (the fraction, where there is a short one), is_rounded, formula, facts (those that the
        inputs are from), own_numbers (numbers in it that are from no fact).
    """
    named_inputs = {
        name: Input(str(entry.value), entry.unit, entry.fact.strip().lower())
        for name, entry in (inputs or {}).items()
    }
    fact_ids = {entry.fact_id for entry in named_inputs.values() if entry.fact_id}
    subject_id = store.caller.subject_id
    facts = await CitableFacts(store.session, Scope(subject_id=subject_id)).by_id(fact_ids)
    # Facts have long quotes, and pint takes half a second of CPU to start.
    outcome = await asyncio.to_thread(
        _calculate, expression, named_inputs, facts, unit, decimals, is_in_run=subject_id is not None
    )
    return Calculated(
        value=outcome.value,
        unit=outcome.unit,
        exact=outcome.exact,
        is_rounded=outcome.is_rounded,
        formula=outcome.formula,
        facts=list(outcome.fact_ids),
        own_numbers=list(outcome.own_numbers),
    )


def _calculate(
    expression: str,
    inputs: Mapping[str, Input],
    facts: Mapping[str, CitableFact],
    unit: str,
    decimals: int | None,
    *,
    is_in_run: bool,
) -> Outcome:
    outcome = calculate_exactly(expression, inputs, unit=unit, decimals=decimals)
    for name, entry in inputs.items():
        if not entry.fact_id:
            continue
        if refusal := refuse_fact(entry.fact_id, facts.get(entry.fact_id), has_scope=is_in_run):
            raise ToolError(f"inputs: {name}: {refusal}")
        if not shows_number([facts[entry.fact_id]], read_number(entry.value)):
            raise ToolError(
                f"inputs: {name}: Fact {entry.fact_id} does not say {entry.value[:40]}. Give the number as written there; "
                "units convert by themselves."
            )
    return outcome
