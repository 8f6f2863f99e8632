"""The amount that a paused batch or run names is enough: one raise, and every open run finishes."""

import asyncio
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from support.run_harness import Stage
from support.scripted_model import Says, call, text, turn

from chiron_workers.batches.cost_to_finish import cost_to_finish
from chiron_workers.batches.similar_runs import Basis
from chiron_workers.batches.steering import resume
from chiron_workers.billing.budgets import Budget

TOPICS = [f"tide {n}" for n in range(24)]
POOR = Budget(Decimal("0.60"))


def script(request: dict[str, Any]) -> Says:
    """Two to five turns, by the topic, each dearer than the one before, as prompts grow."""
    question = str(request["messages"][0]["content"])
    turns = 2 + sum(map(ord, question)) % 4
    n = turn(request)
    usage = {"input_tokens": 1_000 + 1_500 * n, "output_tokens": 300}
    if n + 1 < turns:
        return Says((call("echo", words="on " * 100),), "tool_use", usage)
    return Says((text("done"),), "end_turn", usage)


async def played(stage: Stage, run_ids: list[UUID], *, at_once: int = 1) -> list[str]:
    """The states of runs after each of them was played until it waits for nothing that time brings."""
    gate = asyncio.Semaphore(at_once)

    async def play(run_id: UUID) -> None:
        async with gate:
            while (await stage.row(run_id))["state"] == "queued":
                # Its own wait alone: another run may be acquired at this moment.
                await stage.rows("update runs set ready_at = now() where id = %s returning 1", run_id)
                await stage.play(run_id)

    await asyncio.gather(*map(play, run_ids))
    return [(await stage.row(run_id))["state"] for run_id in run_ids]


async def batch_of(stage: Stage, run_id: UUID) -> UUID:
    batch_id: UUID = (await stage.row(run_id))["batch_id"]
    return batch_id


@pytest.mark.parametrize("has_similar", [True, False], ids=["similar runs", "none"])
async def test_one_raise_is_enough_for_24_runs(stage: Stage, has_similar: bool) -> None:
    await stage.model(script)
    if has_similar:
        assert await played(stage, await stage.submit(*TOPICS[:8]), at_once=4) == ["completed"] * 8
    run_ids = await stage.submit(*(f"new {topic}" for topic in TOPICS), budget=POOR)
    states = await played(stage, run_ids)
    assert states.count("paused") > 15
    if not has_similar:  # what the first of them came to would be a basis
        await stage.rows("update runs set role = 'curriculum' where state = 'completed' returning 1")
    batch_id = await batch_of(stage, run_ids[0])
    needed = await cost_to_finish(stage.pool, batch_id)
    assert needed is not None
    assert needed.usd is not None
    assert (needed.budget, needed.open_runs, needed.tokens) == ("batch", states.count("paused"), None)
    assert needed.basis is (Basis.SUBJECT if has_similar else Basis.ASSUMPTION)
    await resume(stage.pool, batch_id, budget=Budget(needed.usd))
    await played(stage, run_ids, at_once=4)
    (sums,) = await stage.rows(
        "select count(*) filter (where state = 'completed') as completed, sum(spent_usd) as usd from runs where batch_id = %s",
        batch_id,
    )
    assert sums["completed"] == 24, "no second raise"
    if has_similar:
        assert sums["usd"] <= needed.usd < 2 * sums["usd"], "and it is no blank cheque"
        assert needed.similar_runs >= 8


async def test_the_budget_of_one_run_is_raised_once(stage: Stage) -> None:
    await stage.model(script)
    await played(stage, await stage.submit(*TOPICS[:5]), at_once=4)
    run_ids = await stage.submit("tide 7", "tide 8", "tide 9", "tide 10", run_budget=Budget(Decimal("0.42")))
    await played(stage, run_ids)
    paused = [run_id for run_id in run_ids if (await stage.row(run_id))["state"] == "paused"]
    assert paused
    for run_id in paused:
        needed = await cost_to_finish(stage.pool, run_id)
        assert needed is not None
        assert (needed.budget, needed.open_runs) == ("run", 1)
        await resume(stage.pool, run_id, budget=Budget(needed.usd))
    assert await played(stage, run_ids) == ["completed"] * 4


async def test_a_budget_in_tokens_is_raised_once(stage: Stage) -> None:
    await stage.model(script)
    await played(stage, await stage.submit(*TOPICS[:5]), at_once=4)
    run_ids = await stage.submit(*TOPICS[5:15], budget=Budget(tokens=30_000))
    assert "paused" in await played(stage, run_ids)
    batch_id = await batch_of(stage, run_ids[0])
    needed = await cost_to_finish(stage.pool, batch_id)
    assert needed is not None
    assert needed.usd is None
    await resume(stage.pool, batch_id, budget=Budget(tokens=needed.tokens))
    assert await played(stage, run_ids, at_once=4) == ["completed"] * 10


async def test_nothing_open_and_nothing_bound_need_no_budget(stage: Stage) -> None:
    await stage.model(script)
    [run_id] = await stage.submit("tides")
    assert await cost_to_finish(stage.pool, await batch_of(stage, run_id)) is None
    await played(stage, [run_id])
    assert await cost_to_finish(stage.pool, run_id) is None
