"""Rows of a run whose worker is killed as it hands them in: another worker goes on, and each row is there once."""

import asyncio
from typing import Any

import psycopg
import pytest
from support.queued_topics import assert_rows_agree
from support.research_rows import Shelf
from support.row_answers import cell, empty, handing_in, known_fact, row
from support.scripted_model import Says, calls, says, scripted_model, turn
from support.worker_processes import end_leases, rows, running, wait_until

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import open_pool
from chiron_workers.runs.columns import read_columns
from chiron_workers.settings import Settings

MODEL = {
    "CHIRON_LEASE_S": "10",
    "CHIRON_RENEWAL_S": "0.5",
    "CHIRON_RESCUE_S": "0.5",
    "ANTHROPIC_API_KEY": "test",
}
NAMES = ["PostgreSQL", "released", "1996"]
WAITING = (
    "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'insert into answer_rows%%'"
)


async def enqueue(settings: Settings) -> None:
    run = NewRun("When?", "research", "databases", "claude-opus-5-5", 20)
    async with open_pool(settings.database_url, size=2) as pool:
        await submit(pool, NewBatch([run], "databases", columns=read_columns("name, year:int, source")))


@pytest.mark.acceptance
async def test_a_row_that_was_being_written_at_kill_9_is_there_once(settings: Settings, shelf: Shelf) -> None:
    shelf.subject("databases", "databases")
    fact = known_fact(shelf)
    await enqueue(settings)
    locked = asyncio.Event()

    async def script(request: dict[str, Any]) -> Says:
        n = turn(request)
        if n == 1:
            await locked.wait()  # so that the second row is in the midst of being written
        return calls(handing_in(row(cell(NAMES[n], fact), empty(), empty()))) if n < 3 else says("Done.")

    async with scripted_model(script) as model:
        env = {**MODEL, "ANTHROPIC_BASE_URL": model.url}
        with running(settings, name="w1", **env) as first:
            await asyncio.to_thread(
                wait_until, lambda: rows(settings, "select 1 from answer_rows"), what="a row"
            )
            with psycopg.connect(settings.database_url) as lock:
                lock.execute("lock table answer_rows in share mode")
                locked.set()
                await asyncio.to_thread(wait_until, lambda: rows(settings, WAITING), what="the second row")
                first.kill()
        end_leases(settings)
        with running(settings, name="w2", **env | {"CHIRON_LEASE_S": "3"}):
            done = "select 1 from runs where state = 'completed'"
            await asyncio.to_thread(wait_until, lambda: rows(settings, done), what="the run completed")
    stored = rows(settings, "select n, value from answer_cells where place = 0 order by n")
    assert [(each["n"], each["value"]) for each in stored] == [(1, NAMES[0]), (2, NAMES[1]), (3, NAMES[2])]
    results = rows(settings, "select call_id from tool_results where name = 'hand_in_rows' and not is_error")
    assert len({each["call_id"] for each in results}) == len(results) == 3
    assert_rows_agree(settings)
