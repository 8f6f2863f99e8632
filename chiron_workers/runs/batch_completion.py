"""The end of a batch: said once, after the commit of whatever ended its last open run.

No end of a run waits for its batch: it commits by itself, and whoever ended it then looks whether others are open.
"""

from uuid import UUID

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import DictRow
from psycopg_pool import PoolTimeout

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.outages import is_transient
from chiron_workers.db.queries import load
from chiron_workers.duty_failures import isolated
from chiron_workers.runs.events import Event
from chiron_workers.runs.notices import announce
from chiron_workers.runs.usage import USAGE_SQL
from chiron_workers.states import Duty, EventKind

SQL = load(__file__, USAGE_SQL)

BATCHES_PER_PASS = 100  # of one look, so that it stays short


async def complete_batch(pool: Pool, batch_id: UUID) -> list[Event]:
    """Complete a batch whose last run has ended; the event to publish, none if a run is open or it is completed.

    Call it after the commit that ended a run. What Postgres refuses is logged, and tried again by the later looks of workers.
    """
    try:
        return await _complete_if_over(pool, batch_id)
    except (psycopg.Error, PoolTimeout) as error:
        import structlog  # which a command that only reads never needs

        log = structlog.get_logger()
        # One batch that is refused for ever keeps no run from its end and no worker from its others.
        say = log.warning if is_transient(error) else log.error
        say("batch.not_completed", batch_id=str(batch_id), error=str(error).strip())
        return []


async def complete_batches(pool: Pool) -> list[Event]:
    """Complete the batches that are over and of which nobody has said so; the events to publish."""
    rows = await fetch_all(pool, SQL["over"], {"limit": BATCHES_PER_PASS})
    events: list[Event] = []
    for row in rows:
        async with isolated(pool.connection, Duty.BATCHES, row["id"], has_failed=row["has_failed"]):
            events += await _complete_if_over(pool, row["id"])
    return events


async def _complete_if_over(pool: Pool, batch_id: UUID) -> list[Event]:
    if not await fetch_all(pool, SQL["is_over"], {"batch_id": batch_id}):
        return []
    async with pool.connection() as connection, connection.transaction():
        event = await _complete(connection, batch_id)
    return [] if event is None else [event]


async def _complete(connection: AsyncConnection[DictRow], batch_id: UUID) -> Event | None:
    args = {"batch_id": batch_id}
    run = await (await connection.execute(SQL["lock_last_run"], args)).fetchone()
    batch = await (await connection.execute(SQL["lock_batch"], args)).fetchone()
    if run is None or batch is None:
        return None
    row = await (await connection.execute(SQL["complete"], args | {"run_id": run["id"]})).fetchone()
    if row is None:
        return None
    event = Event(batch_id, run["id"], row["seq"], EventKind.BATCH_COMPLETED, row["at"], row["data"])
    if batch["has_webhooks"]:
        await announce(connection, batch_id, [event])
    return event
