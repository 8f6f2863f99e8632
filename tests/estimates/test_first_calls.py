"""The warning of a submit and the reservation of a worker name the same cost of a first call."""

from decimal import ROUND_UP, Decimal

import pytest
from support.run_harness import Stage
from support.scripted_model import says

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.billing.budgets import Budget
from chiron_workers.estimates.first_calls import first_call_cost
from chiron_workers.estimates.shortages import budget_warnings
from chiron_workers.roles import PlannedRun
from chiron_workers.runs.columns import Column, read_columns
from chiron_workers.skills import skills
from chiron_workers.tools import registry

CENT = Decimal("0.01")
TENTH = Budget(Decimal("0.10"))
TOPICS = (
    "tides",
    "Gezeiten der Nordsee, \u00e4lter als 1900 \u2014 \u201cspring\u201d und Nipp\U0001f30a",
    "t" * 4_000,
)


@pytest.fixture
def stage(stage: Stage) -> Stage:
    """With the tools and skills that a worker has."""
    stage.registry, stage.skills = registry(), skills()
    return stage


def batch_of(
    stage: Stage, topic: str, budget: Budget, *, role: str = "research", columns: tuple[Column, ...] = ()
) -> NewBatch:
    run = NewRun(topic, role, "Seas", stage.model_name, 50)
    return NewBatch([run], "Seas", budget=budget, columns=columns)


@pytest.mark.parametrize("role", ["research", "curriculum"])
@pytest.mark.parametrize("topic", TOPICS, ids=["short", "not ascii", "long"])
async def test_the_first_call_is_reserved_at_the_cost_that_submit_warns_of(
    stage: Stage, topic: str, role: str
) -> None:
    await stage.model(lambda _: says("done"))
    if role == "curriculum":
        goal = "insert into subjects (id, title, purpose_statement, target_depth) values ('seas', 'Seas', 'To sail', 'practical')"
        await stage.rows(f"{goal} returning 1")
    columns = tuple(read_columns("name, year:int")) if role == "research" else ()
    batch = batch_of(stage, topic, TENTH, role=role, columns=columns)
    planned = PlannedRun(role, "seas", "Seas", topic, columns=columns)
    cost = await first_call_cost(stage.pool, planned, model=stage.model_name)
    [warning] = await budget_warnings(stage.pool, batch)
    [run_id] = (await submit(stage.pool, batch)).run_ids
    await stage.play(run_id)
    error = (await stage.row(run_id))["error"]
    assert Decimal(error["least"]) == cost.usd, "nothing was spent, so that is the cost of the call"
    assert f"may cost {cost.usd:,.4f} USD" in error["message"]
    assert f"which may cost {cost.usd.quantize(CENT, ROUND_UP)} USD" in warning


async def test_a_budget_as_the_warning_advises_pays_the_first_call(stage: Stage) -> None:
    await stage.model(lambda _: says("done"))
    [warning] = await budget_warnings(stage.pool, batch_of(stage, "tides", TENTH))
    assert warning.startswith(f"0.1 USD cannot pay one call of {stage.model_name}, which may cost ")
    least = Decimal(warning.split("Give it ")[1].split(" USD")[0])
    batch = batch_of(stage, "tides", Budget(least))
    assert await budget_warnings(stage.pool, batch) == []
    assert await budget_warnings(stage.pool, batch_of(stage, "tides", Budget(least - Decimal("0.02")))) != []
    [run_id] = (await submit(stage.pool, batch)).run_ids
    await stage.play(run_id)
    assert (await stage.row(run_id))["turns"] >= 1


async def test_a_budget_in_tokens_is_held_to_the_same_call(stage: Stage) -> None:
    await stage.model(lambda _: says("done"))
    batch = batch_of(stage, "tides", Budget(tokens=6_000))
    [warning] = await budget_warnings(stage.pool, batch)
    [run_id] = (await submit(stage.pool, batch)).run_ids
    await stage.play(run_id)
    error = (await stage.row(run_id))["error"]
    assert f"Give it {int(error['least']):,} tokens or more." in warning
