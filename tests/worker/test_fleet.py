"""The health line: workers alive or silent, Redis, how long runs wait, and money today."""

import asyncio
from contextlib import aclosing
from datetime import timedelta
from decimal import Decimal

import pytest
from support.executed_statements import executed_statements
from support.run_harness import Stage

from chiron_workers.db.connect import Pool
from chiron_workers.worker.fleet import Fleet, SharedFleet, read_fleet

SIGN = "insert into worker_metrics (id, worker, counters, gauges, saved_at) values (gen_random_uuid(), %s, '{}', %s, now() - %s)"
RESERVED = "update runs set state = 'running', reserved_usd = 0.5, leased_until = now() + interval '1 minute'"


async def signs(pool: Pool, **seconds: float) -> None:
    async with pool.connection() as connection:
        for name, age_s in seconds.items():
            await connection.execute(SIGN, (name, "{}", timedelta(seconds=age_s)))


async def test_an_installation_that_is_well_says_so_in_one_line(stage: Stage) -> None:
    first, second = await stage.submit("tides", "moons")
    await signs(stage.pool, one=1, two=2)
    await stage.rows(
        "update runs set ready_at = now() - interval '30 seconds' where id = %s returning 1", first
    )
    await stage.rows(f"{RESERVED} where id = %s returning 1", second)
    await stage.rows("insert into spending values ((now() at time zone 'utc')::date, 0, 1.25) returning 1")
    fleet = await read_fleet(stage.pool, stage.settings)
    assert fleet.problems == ()
    assert (fleet.workers, fleet.running, fleet.waiting, fleet.spent_today_usd, fleet.reserved_usd) == (
        2, 1, 1, Decimal("1.25"), Decimal("0.5"),
    )  # fmt: skip
    assert fleet.line.startswith("2 workers alive; Redis answers; 1 run waits, the first for 3")
    assert fleet.line.endswith(" s; $1.25 today.")


async def test_workers_without_a_sign_come_first(stage: Stage) -> None:
    await signs(stage.pool, fresh=1, frozen=40, forgotten=4_000)
    async with stage.pool.connection() as connection:
        await connection.execute(SIGN, ("ended", None, timedelta(seconds=1)))
    line = (await read_fleet(stage.pool, stage.settings)).line
    assert line.startswith("1 of 2 workers has given no sign for 40 s; Redis answers;")
    await stage.rows("delete from worker_metrics where worker = 'fresh' returning 1")
    fleet = await read_fleet(stage.pool, stage.settings)
    assert fleet.line.startswith("No worker answers: the worker has given no sign for 40 s;")
    assert fleet.problems


async def test_runs_that_wait_without_any_worker_are_a_problem_and_idleness_is_none(stage: Stage) -> None:
    assert (await read_fleet(stage.pool, stage.settings)).line.startswith("No worker is alive; Redis answers")
    await stage.submit("tides")
    fleet = await read_fleet(stage.pool, stage.settings)
    assert fleet.problems == ("no worker is alive, and runs wait for one",)
    later = "update runs set ready_at = now() + interval '1 hour' returning 1"
    await stage.rows(later)
    assert (await read_fleet(stage.pool, stage.settings)).problems == (), "nothing waits for a worker yet"


async def test_services_that_are_away_are_named(stage: Stage) -> None:
    settings = stage.settings.model_copy(update={"redis_url": "redis://127.0.0.1:1/0"})
    assert "Redis does not answer" in (await read_fleet(stage.pool, settings)).problems
    none_set = stage.settings.model_copy(update={"redis_url": ""})
    assert (await read_fleet(stage.pool, none_set)).problems == ("no Redis is set",)
    assert Fleet().line == "Postgres does not answer."
    assert Fleet(redis="Redis does not answer").line == "Postgres does not answer; Redis does not answer."


async def test_a_second_of_views_costs_one_statement(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    async with aclosing(SharedFleet(stage.pool, stage.settings)) as shared:
        statements = executed_statements(monkeypatch)
        fleets = list(await asyncio.gather(*(shared.now() for _ in range(20))))
        fleets += [await shared.now() for _ in range(20)]
    assert len(set(fleets)) == 1
    assert statements.count_of("worker_metrics") == 1
