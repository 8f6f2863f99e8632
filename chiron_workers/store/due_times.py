"""What is due: each time of a subscription starts one batch, whichever worker looks first."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from chiron_workers.errors import Conflict, ToolError, UsageError
from chiron_workers.recurrence import Recurrence
from chiron_workers.settings import settings
from chiron_workers.states import SubscriptionState
from chiron_workers.store.batches import Earlier, NewBatch, NewRun, Occurrence, submit
from chiron_workers.store.budgets import Budget
from chiron_workers.store.connect import Pool
from chiron_workers.store.queries import load

SQL = load(__file__)
LOOKED_AT = 10  # of one look, so that it stays short; the next one goes on
FOUND_CHARS = 4_000  # of what was found before


@dataclass(frozen=True, slots=True)
class DueTime:
    """What became of a time that came due, and why if nothing was started."""

    subscription_id: UUID
    due_at: datetime
    outcome: Literal["started", "skipped", "paused"]
    reason: str = ""


async def start_due(pool: Pool) -> list[DueTime]:
    """Start what is due and say when each is due next; for all workers but one nothing is, at once.

    A worker that dies between two of these steps leaves a subscription as it was: whoever looks next submits with the
    same key and gets the same batch. Times that were missed while nobody looked come due once, all together.
    """
    async with pool.connection() as connection, connection.transaction():
        lock = await (await connection.execute(SQL["lock"])).fetchone()
        if not lock or not lock["held"]:
            return []
        rows = await (await connection.execute(SQL["due"], {"limit": LOOKED_AT})).fetchall()
        return [await _come_due(pool, connection, row) for row in rows]


async def _come_due(pool: Pool, connection: AsyncConnection[DictRow], row: DictRow) -> DueTime:
    try:
        next_at = Recurrence(row["cron"], row["time_zone"]).next_after(row["now"])
        found = await _start(pool, row)
    except (UsageError, ToolError) as error:
        found, next_at = DueTime(row["id"], row["next_at"], "paused", str(error)), None
    state = SubscriptionState.PAUSED if next_at is None else SubscriptionState.ACTIVE
    if next_at is not None and row["ends_at"] is not None and next_at > row["ends_at"]:
        state, next_at = SubscriptionState.ENDED, None
    args = {"id": row["id"], "state": state, "next_at": next_at, "reason": found.reason}
    await connection.execute(SQL["advance"], args | {"outcome": found.outcome})
    return found


async def _start(pool: Pool, row: DictRow) -> DueTime:
    if row["last_due_at"] != row["next_at"] and row["is_last_open"]:
        reason = (
            f"The time {row['next_at']:%Y-%m-%d %H:%M} UTC was passed over, since batch {row['last_batch_id']} "
            "of the time before is not finished."
        )
        return DueTime(row["id"], row["next_at"], "skipped", reason)
    if not row["has_subject"]:
        raise UsageError(f"The subject {row['subject_id']} is gone.")
    try:
        await submit(pool, await _batch(pool, row))
    except Conflict:
        # This time was started by a worker with other settings, which died before it could say so.
        return DueTime(row["id"], row["next_at"], "started")
    return DueTime(row["id"], row["next_at"], "started")


async def _batch(pool: Pool, row: DictRow) -> NewBatch:
    async with pool.connection() as connection:
        args = {"id": row["id"], "topics": row["topics"], "chars": FOUND_CHARS}
        earlier = await (await connection.execute(SQL["earlier"], args)).fetchall()
    return NewBatch(
        [_run(row, before) for before in earlier],
        row["subject_id"],
        budget=Budget(row["budget_usd"]),
        idempotency_key=f"subscription {row['id']} at {row['next_at'].astimezone(UTC).isoformat()}",
        occurrence=Occurrence(row["id"], row["next_at"]),
    )


def _run(row: DictRow, before: Mapping[str, Any]) -> NewRun:
    return NewRun(
        before["topic"],
        row["role"],
        row["subject_id"],
        row["model"],
        settings().max_turns,
        earlier=Earlier(before["since"], before["found"]),
    )
