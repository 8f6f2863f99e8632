"""Real workers of an earlier commit beside those of this one, on the schema of today: what always holds, holds for both."""

import asyncio
import random
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from support.released_worker import (
    NUMBERED_LEASES,
    ONE_ROW_A_BATCH,
    origins,
    running_released,
    unpack_commit,
)
from support.scripted_model import Says, call, scripted_model, text, turn
from support.worker_processes import chiron, rows, running, wait_until

from benchmarks.crashes.consistency import among_rows, snapshot
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import open_pool
from chiron_workers.settings import Settings

COMMITS = {"numbered leases": NUMBERED_LEASES, "one row a batch": ONE_ROW_A_BATCH}
MODEL = "claude-opus-5-5"
RUNS, TURNS, SLOTS = 16, 8, "5"
BUDGET = Decimal(8)
MOST_OF_A_CALL = Decimal("0.60")
ENVIRONMENT = {"ANTHROPIC_API_KEY": "test", "CHIRON_MAX_TOKENS": "12000", "CHIRON_RESCUE_S": "0.5"}
PLAYED = "select 1 from runs where state not in ('completed', 'paused')"
OPEN = (
    "select 1 from runs where state <> 'completed' union all select 1 from batches where finished_at is null"
)
pytestmark = [pytest.mark.timeout(600)]


def topic(request: dict[str, Any]) -> str:
    return str(request["messages"][0]["content"][0]["text"])


async def until(query: str, settings: Settings, what: str) -> None:
    await asyncio.to_thread(wait_until, lambda: not rows(settings, query), 240, what)


def require_agreement(settings: Settings) -> None:
    """Events and entries without gaps, sums that are right, and no run open in a batch that is closed."""
    with snapshot(settings.database_url) as connection:
        assert list(among_rows(connection)) == []


@pytest.mark.parametrize("commit", COMMITS.values(), ids=COMMITS)
async def test_workers_of_two_versions_never_pass_the_budget_of_a_batch_and_go_on_with_more(
    settings: Settings, chance: random.Random, tmp_path: Path, commit: str
) -> None:
    code = await asyncio.to_thread(unpack_commit, commit, tmp_path / "code")
    files = await asyncio.to_thread(origins, code, settings)
    assert len(files) > 100
    assert all(file.is_relative_to(code) for file in files.values())

    async def script(request: dict[str, Any]) -> Says:
        await asyncio.sleep(chance.uniform(0.05, 0.3))
        usage = {
            "input_tokens": 1_000,
            "output_tokens": chance.randrange(6_000, request["max_tokens"] + 1),
        }
        if turn(request) + 1 >= TURNS:
            return Says((text("done"),), usage=usage)
        note = call("notes", title=topic(request), text=f"Turn {turn(request)}.")
        return Says((note,), "tool_use", usage)

    async with scripted_model(script) as model:
        env = {**ENVIRONMENT, "ANTHROPIC_BASE_URL": model.url}
        with (
            running_released(code, settings, "-c", SLOTS, name="old", **env) as old,
            running(settings, "-c", SLOTS, name="new", **env) as new,
        ):
            await asyncio.to_thread(
                wait_until, lambda: old.has_said("ready.") and new.has_said("ready."), 60, "both workers"
            )
            async with open_pool(settings.database_url, size=2) as pool:
                runs = [NewRun(f"t{n}", "research", "Physics", MODEL, 50) for n in range(RUNS)]
                batch_id = (await submit(pool, NewBatch(runs, "Physics", budget=Budget(BUDGET)))).batch_id
            await until(PLAYED, settings, "the end of the budget")
            (costs,) = rows(settings, "select spent_usd, unconfirmed_usd from batch_costs")
            # Nothing is left that a call would fit into, and nothing was cut.
            assert BUDGET - MOST_OF_A_CALL < costs["spent_usd"] <= BUDGET
            assert costs["unconfirmed_usd"] == 0
            paused = rows(settings, "select error ->> 'kind' as kind from runs where state = 'paused'")
            assert {row["kind"] for row in paused} == {"budget"}
            require_agreement(settings)
            answer = await asyncio.to_thread(
                chiron, settings, "resume", str(batch_id), "--budget-usd", "1000"
            )
            assert answer.returncode == 0, answer.stderr
            await until(OPEN, settings, "the end of the batch")
            require_agreement(settings)
            writers = rows(
                settings, "select count(*) from entries where kind = 'reply' group by token is null"
            )
            assert len(writers) == 2, "one of the versions has played nothing"
    answers = Counter((topic(request), turn(request)) for request in model.answered)
    assert len(answers) == RUNS * TURNS
    assert set(answers.values()) == {1}
