"""Runs side by side on one budget: real workers, real prices, a model that bills what it likes up to its limit."""

import asyncio
import random
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from support.scripted_model import Says, call, scripted_model, text, turn
from support.worker_processes import chiron, rows, running, wait_until

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import open_pool
from chiron_workers.settings import Settings

RUNS, TURNS = 200, 3
BUDGET = Decimal(12)
MODEL = {"ANTHROPIC_API_KEY": "test", "CHIRON_MAX_TOKENS": "4000"}


def topic(request: dict[str, Any]) -> str:
    return str(request["messages"][0]["content"][0]["text"])


@pytest.mark.timeout(600)
async def test_200_runs_on_one_budget_never_pass_it_and_go_on_with_more(
    settings: Settings, chance: random.Random
) -> None:

    async def script(request: dict[str, Any]) -> Says:
        await asyncio.sleep(chance.uniform(0, 0.1))
        usage = {"input_tokens": 1_000, "output_tokens": chance.randrange(1, request["max_tokens"] + 1)}
        if turn(request) + 1 >= TURNS:
            return Says((text("done"),), usage=usage)
        goal = f"{topic(request)} {turn(request)}"
        return Says(
            (call("save_learning_goal", subject_id="physics", purpose_statement=goal),), "tool_use", usage
        )

    async with open_pool(settings.database_url, size=2) as pool:
        runs = [NewRun(f"t{n}", "research", "Physics", "claude-opus-5-5", 50) for n in range(RUNS)]
        batch_id = (await submit(pool, NewBatch(runs, "Physics", budget=Budget(BUDGET)))).batch_id
    settled = "select 1 from runs where state not in ('completed', 'paused')"
    batch = "select spent_usd, unconfirmed_usd from batch_costs"
    async with scripted_model(script) as model:
        env = {**MODEL, "ANTHROPIC_BASE_URL": model.url}
        with (
            running(settings, "-c", "100", name="w1", **env),
            running(settings, "-c", "100", name="w2", **env),
        ):
            await asyncio.to_thread(
                wait_until, lambda: not rows(settings, settled), 200, "the budget is spent"
            )
            (spent,) = rows(settings, batch)
            # Nothing is left that a call of full length would fit into; nothing was cut.
            assert BUDGET - Decimal("0.30") < spent["spent_usd"] <= BUDGET
            assert spent["unconfirmed_usd"] == 0
            (left,) = rows(settings, "select count(*) as n from runs where state = 'paused'")
            assert left["n"] > 0
            said = await asyncio.to_thread(chiron, settings, "resume", str(batch_id), "--budget-usd", "100")
            assert said.returncode == 0, said.stderr
            finished = "select 1 from runs where state <> 'completed'"
            await asyncio.to_thread(wait_until, lambda: not rows(settings, finished), 200, "all completed")
    answered = Counter((topic(request), turn(request)) for request in model.answered)
    assert len(answered) == RUNS * TURNS
    assert set(answered.values()) == {1}
    (sums,) = rows(settings, "select sum(cost_usd) as usd from entries")
    (batch_row,) = rows(settings, batch)
    assert batch_row["spent_usd"] == sums["usd"]
    assert rows(settings, "select 1 from runs where reserved_usd <> 0 or reserved_calls <> 0") == []
