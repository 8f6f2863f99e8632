"""Columns of runs that have two names for one release: whoever writes one of them writes the other."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from support.run_harness import LEASE, Stage

from chiron_workers.batches.dispatch import dispatch_next
from chiron_workers.db.connect import connect
from chiron_workers.db.migrate import migrate
from chiron_workers.ids import new_id
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import renew
from chiron_workers.states import StopRequest
from chiron_workers.worker.execution import hand_back

PAIRS = {"wanted": "stop_requested", "rung_at": "dispatched_at"}
BOTH_WAYS = [*PAIRS.items(), *((new, old) for old, new in PAIRS.items())]
VALUES: dict[str, tuple[Any, Any]] = {
    "stop_requested": ("pause", "cancel"),
    "dispatched_at": ("2026-03-01 09:30:00+00", "2026-03-01 09:30:10+00"),
}
TRIGGER_CALLS = """
select coalesce(sum(calls), 0) as calls
  from pg_stat_xact_user_functions
 where funcname = 'copy_renamed_run_columns'
"""


async def value_of(stage: Stage, column: str, run_id: UUID) -> Any:
    return (await stage.row(run_id))[column]


async def write(stage: Stage, column: str, value: Any, run_id: UUID) -> None:
    query = f"update runs set {column} = %s where id = %s returning 1"  # noqa: S608
    assert await stage.rows(query, value, run_id)


@pytest.mark.parametrize(("written", "other"), BOTH_WAYS)
async def test_each_value_of_one_column_is_that_of_the_other(stage: Stage, written: str, other: str) -> None:
    (run_id,) = await stage.submit("tides")
    if "stop_requested" in (written, other):
        await stage.claim(run_id)
    first, second = VALUES.get(written) or VALUES[other]
    for value in (first, second, None, first):
        await write(stage, written, value, run_id)
        row = await stage.row(run_id)
        assert row[other] == row[written]
        assert (row[other] is None) == (value is None)
    await write(stage, other, None, run_id)
    assert await value_of(stage, written, run_id) is None


@pytest.mark.parametrize(("written", "other"), BOTH_WAYS)
async def test_a_row_that_is_inserted_with_one_column_has_the_other(
    stage: Stage, written: str, other: str
) -> None:
    (run_id,) = await stage.submit("tides")
    value, _ = VALUES.get(written) or VALUES[other]
    inserted = new_id()
    await stage.rows(
        f"""insert into runs (id, batch_id, role, subject_id, topic, model, max_turns, state, {written})
            select %s, batch_id, role, subject_id, topic, model, max_turns, 'running', %s from runs where id = %s
            returning 1""",  # noqa: S608
        inserted,
        value,
        run_id,
    )
    row = await stage.row(inserted)
    assert row[other] == row[written] is not None


async def test_a_stop_that_an_older_front_end_requests_reaches_the_holder_and_one_of_today_reaches_an_older_worker(
    stage: Stage, database_url: str
) -> None:
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    await write(stage, "wanted", "cancel", run_id)
    with connect(database_url) as connection:
        [interrupt] = renew(connection, [run], lease_for=LEASE)
    assert interrupt.stop_requested is StopRequest.CANCEL
    await write(stage, "stop_requested", "pause", run_id)
    assert await value_of(stage, "wanted", run_id) == "pause"
    journal = Journal(stage.pool, stage.published.append, lease_for=LEASE)
    assert await journal.release(run, hand_back("the worker stops"))
    row = await stage.row(run_id)
    assert (row["state"], row["wanted"], row["stop_requested"]) == ("paused", None, None)


async def test_what_an_older_worker_dispatches_is_outstanding_and_what_it_undoes_is_not(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")

    async def look() -> tuple[int, int]:
        found = await dispatch_next(
            stage.pool, room=lambda: 1, redispatch_after=timedelta(hours=1), model_limits={}
        )
        return len(found.runs_to_dispatch), found.outstanding

    await stage.rows("update runs set rung_at = now() returning 1")
    assert await look() == (0, 1)
    await stage.rows("update runs set rung_at = null returning 1")
    assert await look() == (1, 1)
    assert await value_of(stage, "rung_at", run_id) is not None


async def test_turns_and_renewals_do_not_fire_the_trigger(stage: Stage, database_url: str) -> None:
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    with connect(database_url) as connection, connection.transaction():
        connection.execute("set local track_functions = 'all'")
        renew(connection, [run], lease_for=LEASE)
        connection.execute("update runs set entries = entries + 1, turns = turns + 1, seq = seq + 1")
        assert connection.execute(TRIGGER_CALLS).fetchone() == {"calls": 0}
        connection.execute("update runs set stop_requested = 'pause'")
        assert connection.execute(TRIGGER_CALLS).fetchone() == {"calls": 1}


def test_what_was_requested_and_dispatched_before_the_upgrade_still_is(released_url: str) -> None:
    query = "select id, {}, {} from runs where wanted is not null or rung_at is not null order by id"
    with psycopg.connect(released_url, autocommit=True) as connection:
        connection.execute("update runs set wanted = 'pause' where state = 'running'")
        connection.execute("update runs set rung_at = now() where state = 'queued'")
        before = connection.execute(query.format("wanted", "rung_at")).fetchall()
        migrate(released_url)
        assert connection.execute(query.format("stop_requested", "dispatched_at")).fetchall() == before != []
