"""From the schema of version 0013_search to this one, with runs in flight: they go on, and nothing is paid for twice."""

from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from support.run_harness import LEASE, Stage
from support.scripted_model import Says, says, text, thinks, thought

from chiron_workers.batches.dispatch import dispatch_next
from chiron_workers.batches.steering import resume, retry
from chiron_workers.db.connect import connect
from chiron_workers.db.migrate import migrate, migrations, pending
from chiron_workers.knowledge.search.filters import Filters
from chiron_workers.knowledge.search.search import Search
from chiron_workers.runs.fence import LeasedRun
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import renew
from chiron_workers.runs.rescue import rescue
from chiron_workers.runs.session import Session
from chiron_workers.states import Outcome, StopRequest

RELEASED = Path(__file__).parent / "released" / "schema_0013" / "database.sql"
OPEN = ("told", "cancelled", "paused", "queued", "rung", "pending", "asking", "stopping")


@pytest.fixture
def database_url(empty_url: str) -> str:
    """A database of schema 13 brought up to date: `pool`, `settings` and `stage` work on it."""
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute(RELEASED.read_text())
    assert migrate(empty_url) == [migration.name for migration in migrations() if migration.version > 13]
    assert pending(empty_url) == []
    return empty_url


async def run_ids(stage: Stage) -> dict[str, UUID]:
    return {row["topic"]: row["id"] for row in await stage.rows("select id, topic from runs")}


async def expire_leases(stage: Stage) -> None:
    await stage.rows(
        "update runs set leased_until = now() - interval '1 s' where state = 'running' returning 1"
    )


def topic_of(request: dict[str, Any]) -> str:
    text = str(request["messages"][0])
    return next(topic for topic in OPEN if f"topic: {topic}" in text)


async def test_what_was_in_flight_is_executed_to_the_end(stage: Stage) -> None:
    await stage.model(lambda request: says(f"The answer of {topic_of(request)}."))
    runs = await run_ids(stage)
    journal = Journal(stage.pool, stage.published.append, lease_for=LEASE)
    await expire_leases(stage)
    assert await rescue(journal, may_rescue=lambda _: True) == 3
    assert (await stage.row(runs["stopping"]))["state"] == "paused"
    await resume(stage.pool, runs["paused"])
    await resume(stage.pool, runs["stopping"])
    await retry(stage.pool, runs["cancelled"])
    await stage.rows("update runs set ready_at = now() where state = 'queued' returning 1")
    for topic in OPEN:
        assert await stage.play(runs[topic]) is Outcome.PLAYED, topic
        assert (await stage.row(runs[topic]))["answer"] == f"The answer of {topic}."
    assert sorted(stage.runs_of_tools) == ["second-note", "stopping-note"], "the others had their results"
    assert len(stage.server.requests) == len(OPEN), "one more reply each, and nothing answered is asked again"
    states = {row["topic"]: row["state"] for row in await stage.rows("select topic, state from runs")}
    assert states.pop("failed") == "failed"
    assert set(states.values()) == {"completed"}


async def test_thoughts_of_what_was_in_flight_are_events(stage: Stage) -> None:
    await stage.model(
        lambda _: Says((thought("Let me see."), text("High."))), capabilities=thinks("adaptive")
    )
    rung = (await run_ids(stage))["rung"]
    assert await stage.play(rung) is Outcome.PLAYED
    assert "model.thought" in await stage.kinds(rung)


async def test_the_batch_keeps_its_budget_and_its_sums(stage: Stage) -> None:
    await stage.model(lambda request: says(f"The answer of {topic_of(request)}."))
    runs = await run_ids(stage)
    await stage.rows("update runs set ready_at = now() where state = 'queued' returning 1")
    assert await stage.play(runs["queued"]) is Outcome.PLAYED
    [sums] = await stage.rows(
        """select b.budget_usd, c.spent_usd, b.finished_at, (select sum(cost_usd) from entries) as paid,
                  (select sum(spent_usd) from runs) as of_runs
             from batches b, batch_costs c"""
    )
    assert (float(sums["budget_usd"]), sums["finished_at"]) == (5, None)
    assert sums["spent_usd"] == sums["paid"] == sums["of_runs"] > 0


async def test_a_run_that_was_dispatched_keeps_its_place(stage: Stage) -> None:
    rung = (await run_ids(stage))["rung"]
    young = await dispatch_next(
        stage.pool, room=lambda: 1, redispatch_after=timedelta(days=36_500), model_limits={}
    )
    assert (young.runs_to_dispatch, young.outstanding) == ([], 1)
    again = await dispatch_next(stage.pool, room=lambda: 1, redispatch_after=timedelta(), model_limits={})
    assert [run.id for run in again.runs_to_dispatch] == [rung]


async def test_a_stop_that_was_requested_before_the_upgrade_reaches_the_holder(
    stage: Stage, database_url: str
) -> None:
    row = await stage.row((await run_ids(stage))["stopping"])
    with connect(database_url) as connection:
        held = LeasedRun(row["id"], row["batch_id"], row["lease"], row["token"])
        [interrupt] = renew(connection, [held], lease_for=LEASE)
    assert (interrupt.is_lost, interrupt.stop_requested) == (False, StopRequest.PAUSE)


async def test_facts_are_found_as_before(stage: Stage) -> None:
    facts = await Search(Session(stage.pool), stage.embedder).find("tides", filters=Filters("moon"), limit=1)
    assert "tides" in facts[0]["content"]
