"""The amount that a paused batch or run names is enough: one raise, and every open run finishes."""

import asyncio
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from support.run_harness import Stage
from support.scripted_model import Says, call, text, turn

from chiron_workers.batches.cost_to_finish import cost_to_finish, cost_to_finish_paused
from chiron_workers.batches.similar_runs import Basis
from chiron_workers.batches.steering import resume
from chiron_workers.billing.budgets import Budget
from chiron_workers.errors import Conflict

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


async def test_one_raise_is_enough_where_all_runs_are_as_dear_as_the_dearest_before(stage: Stage) -> None:
    async def growing(request: dict[str, Any]) -> Says:
        is_deep = "deep" in str(request["messages"][0]["content"])
        n = turn(request)
        usage = {"input_tokens": 2_000, "output_tokens": 300}
        if n < (8 if is_deep else 2):
            return Says((call("echo", words="on"),), "tool_use", usage)
        return Says((text("done"),), "end_turn", usage)

    await stage.model(growing)
    known = await stage.submit(*TOPICS[:6], "deep 1", "deep 2")
    assert await played(stage, known, at_once=4) == ["completed"] * 8
    run_ids = await stage.submit(*(f"deep {topic}" for topic in TOPICS[:16]), budget=POOR)
    assert "paused" in await played(stage, run_ids)
    batch_id = await batch_of(stage, run_ids[0])
    cost = await cost_to_finish(stage.pool, batch_id)
    assert cost is not None
    await resume(stage.pool, batch_id, budget=Budget(cost.usd))
    assert await played(stage, run_ids) == ["completed"] * 16


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


async def test_one_raise_of_the_batch_is_enough_for_runs_that_met_their_own_budgets(stage: Stage) -> None:
    await stage.model(script)
    await played(stage, await stage.submit(*TOPICS[:5]), at_once=4)
    run_ids = await stage.submit(*TOPICS[5:13], run_budget=Budget(Decimal("0.42")))
    assert "paused" in await played(stage, run_ids)
    batch_id = await batch_of(stage, run_ids[0])
    needed = await cost_to_finish_paused(stage.pool, batch_id)
    assert needed is not None
    assert (needed.usd, needed.run_usd is not None) == (None, True)
    assert f"A budget of about {needed.run_usd} USD in all for each run lets" in needed.words
    assert needed.remedy.arguments == {"run_budget_usd": str(needed.run_usd)}
    await resume(stage.pool, batch_id, run_budget=Budget(needed.run_usd))
    assert await played(stage, run_ids, at_once=4) == ["completed"] * 8


async def test_one_raise_is_enough_for_the_budgets_of_a_batch_and_of_its_runs(stage: Stage) -> None:
    await stage.model(script)
    await played(stage, await stage.submit(*TOPICS[:5]), at_once=4)
    budgets = {"budget": Budget(Decimal("0.80")), "run_budget": Budget(Decimal("0.42"))}
    run_ids = await stage.submit(*TOPICS[5:15], **budgets)
    assert "paused" in await played(stage, run_ids)
    batch_id = await batch_of(stage, run_ids[0])
    # One that used all its turns continues with its batch, so the amount counts it.
    first_paused = "select id from runs where batch_id = %s and state = 'paused' order by id limit 1"
    [paused] = await stage.rows(first_paused, batch_id)
    used_up = "update runs set state = 'failed', finished_at = now(), error = %s where id = %s returning 1"
    await stage.rows(used_up, '{"kind": "max_turns"}', paused["id"])
    await stage.rows("update batches set open_runs = open_runs - 1 where id = %s returning 1", batch_id)
    needed = await cost_to_finish_paused(stage.pool, batch_id)
    assert needed is not None
    assert needed.usd
    assert needed.run_usd
    states = [(await stage.row(run_id))["state"] for run_id in run_ids]
    assert needed.open_runs == len(run_ids) - states.count("completed")
    await resume(stage.pool, batch_id, budget=Budget(needed.usd), run_budget=Budget(needed.run_usd))
    assert await played(stage, run_ids, at_once=4) == ["completed"] * 10


async def test_a_budget_for_each_run_lowers_none_and_binds_no_run_without_one(stage: Stage) -> None:
    await stage.model(script)
    run_ids = await stage.submit("tide 1", "tide 2", "tide 3", run_budget=Budget(Decimal("0.42")))
    batch_id = await batch_of(stage, run_ids[0])
    await stage.rows("update runs set budget_usd = 3 where id = %s returning 1", run_ids[0])
    await stage.rows("update runs set budget_usd = null where id = %s returning 1", run_ids[1])
    await resume(stage.pool, batch_id, run_budget=Budget(Decimal(1)))
    amounts = [(await stage.row(run_id))["budget_usd"] for run_id in run_ids]
    assert amounts == [Decimal(3), None, Decimal(1)]
    with pytest.raises(Conflict):
        await resume(stage.pool, batch_id, run_budget=Budget(Decimal("0.5")))
