"""What is due: each time of a subscription starts one batch, whichever worker looks first."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from uuid import UUID

import psycopg
from psycopg.rows import DictRow

from chiron_workers.access.principals import Principal
from chiron_workers.batches.submit import Earlier, NewBatch, NewRun, Occurrence, Submitted, submit
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.outages import is_away
from chiron_workers.db.queries import load
from chiron_workers.duty_failures import isolated, reason_of
from chiron_workers.errors import Conflict, KeyBudgetSpent, NotFound, TimeZoneUnknown, ToolError, UsageError
from chiron_workers.ids import new_id
from chiron_workers.problems import SEE_SUBSCRIPTIONS
from chiron_workers.settings import settings
from chiron_workers.states import AccessScope, Duty, SubscriptionState
from chiron_workers.subscriptions.cron import Recurrence

SQL = load(__file__)
SUBSCRIPTIONS_PER_PASS = 10  # of one look, so that it stays short; the next one goes on
PATIENCE = timedelta(hours=6)  # with workers that lack something, before what is due is paused
FOUND_CHARS = 4_000  # of what was found before


@dataclass(frozen=True, slots=True)
class DueOccurrence:
    """What became of a time that came due, and why if nothing was started; `left` is one left to another worker."""

    subscription_id: UUID
    due_at: datetime
    outcome: Literal["started", "skipped", "paused", "left"]
    reason: str = ""


class _CannotStart(Exception):
    """No worker can start it, whatever it has: the rows say so."""


async def start_due(pool: Pool, due_elsewhere: dict[UUID, datetime] | None = None) -> list[DueOccurrence]:
    """Start what is due and store when each is due next; what another worker has started is left out.

    A worker that dies between two of these steps leaves a subscription as it was: whoever looks next submits with the
    same key and gets the same batch. Times that were missed while nobody looked come due once, all together.

    Args:
        due_elsewhere: Which time of which subscription this worker lacks something for (a role, a price, a time zone); it is
            added to, and what it names is left to other workers. After six hours without one that can it is paused.
    """
    due_elsewhere = {} if due_elsewhere is None else due_elsewhere
    args = {
        "limit": SUBSCRIPTIONS_PER_PASS,
        "patience": PATIENCE,
        "left_ids": list(due_elsewhere.keys()),
        "left_at": list(due_elsewhere.values()),
    }
    rows = await fetch_all(pool, SQL["due"], args)
    outcomes = []
    for row in rows:
        async with isolated(pool.connection, Duty.SUBSCRIPTIONS, row["id"], has_failed=row["has_failed"]):
            if (due := await _handle_or_say(pool, row)) is not None:
                outcomes.append(due)
    due_elsewhere |= {due.subscription_id: due.due_at for due in outcomes if due.outcome == "left"}
    return outcomes


async def start_now(pool: Pool, subscription_id: UUID, *, principal: Principal) -> Submitted:
    """Start a time of a subscription now, on behalf of its owner; the key of `principal` pays.

    Two requests at once start one batch: it is submitted with a key made of the batch before.

    Raises:
        NotFound: There is no such subscription.
        Conflict: It has ended, its subject is gone, or its last batch is not finished.
        UsageError: This process lacks its role, or a price of its model.
        KeyBudgetSpent: The budget of the key has no room for it.
    """
    rows = await fetch_all(pool, SQL["by_hand"], {"id": subscription_id})
    batch = (
        await _batch(pool, rows[0], by_hand_after=f"by hand after {rows[0]['last_batch_id']}")
        if rows
        else None
    )
    if batch is None:
        raise NotFound(f"There is no subscription {subscription_id}.", remedies=(SEE_SUBSCRIPTIONS,))
    [row] = rows
    _require_startable(row)
    submission = await submit(pool, batch, principal=replace(principal, owner=row["made_by"]))
    if submission.is_new:
        args = {"id": subscription_id, "due_at": row["next_at"], "recheck_id": new_id()}
        async with pool.connection() as connection:
            await connection.execute(SQL["count_by_hand"], args)
    return submission


def _require_startable(row: DictRow) -> None:
    if row["state"] == SubscriptionState.ENDED:
        raise Conflict(f"Subscription {row['id']} has ended; make a new one.", remedies=(SEE_SUBSCRIPTIONS,))
    if not row["has_subject"]:
        raise Conflict(f"The subject {row['subject_id']} is gone.")
    if row["is_last_open"]:
        raise Conflict(f"Batch {row['last_batch_id']} of the time before is not finished.")


async def _handle_or_say(pool: Pool, row: DictRow) -> DueOccurrence | None:
    """Handle what is due; where that fails, the subscription says why until it is tried again."""
    try:
        return await _handle_due(pool, row)
    except Exception as error:
        if not is_away(error):
            reason = f"Due, and could not be started; it is tried again. {reason_of(error)}"
            args = {"id": row["id"], "due_at": row["next_at"], "reason": reason}
            with contextlib.suppress(psycopg.Error):  # a row that takes no writes
                async with pool.connection() as connection:
                    await connection.execute(SQL["fail"], args)
        raise


async def _handle_due(pool: Pool, row: DictRow) -> DueOccurrence | None:
    next_at: datetime | None
    try:
        next_at = _next_at(row)
        occurrence = await _start(pool, row)
    except _CannotStart as error:
        occurrence, next_at = DueOccurrence(row["id"], row["next_at"], "paused", str(error)), None
    except (UsageError, ToolError) as error:
        if not row["is_given_up"]:
            return await _refuse(pool, row, str(error))
        occurrence, next_at = DueOccurrence(row["id"], row["next_at"], "paused", str(error)), None
    return await _advance(pool, row, occurrence, next_at) if occurrence else None


def _next_at(row: DictRow) -> datetime:
    try:
        return Recurrence(row["cron"], row["time_zone"]).next_after(row["now"])
    except TimeZoneUnknown:
        raise
    except UsageError as error:
        raise _CannotStart(str(error)) from None


async def _refuse(pool: Pool, row: DictRow, problem: str) -> DueOccurrence:
    args = {
        "id": row["id"],
        "due_at": row["next_at"],
        "reason": f"Due, and no worker has started it yet: {problem}",
    }
    async with pool.connection() as connection:
        await connection.execute(SQL["refuse"], args)
    return DueOccurrence(row["id"], row["next_at"], "left", problem)


async def _advance(
    pool: Pool, row: DictRow, occurrence: DueOccurrence, next_at: datetime | None
) -> DueOccurrence | None:
    state = SubscriptionState.PAUSED if next_at is None else SubscriptionState.ACTIVE
    if next_at is not None and row["ends_at"] is not None and next_at > row["ends_at"]:
        state, next_at = SubscriptionState.ENDED, None
    args = {
        "id": row["id"],
        "due_at": row["next_at"],
        "state": state,
        "next_at": next_at,
        "reason": occurrence.reason,
        "outcome": occurrence.outcome,
        "recheck_id": new_id(),
    }
    async with pool.connection() as connection:
        row_count = (await connection.execute(SQL["advance"], args)).rowcount
    return occurrence if row_count else None


async def _start(pool: Pool, row: DictRow) -> DueOccurrence | None:
    if row["last_due_at"] != row["next_at"] and row["is_last_open"]:
        reason = (
            f"The time {row['next_at']:%Y-%m-%d %H:%M} UTC was passed over, since batch {row['last_batch_id']} "
            "of the time before is not finished."
        )
        return DueOccurrence(row["id"], row["next_at"], "skipped", reason)
    if not row["has_subject"]:
        raise _CannotStart(f"The subject {row['subject_id']} is gone.")
    if row["ended_key"]:
        raise _CannotStart(f"The key {row['ended_key']!r} that made it was revoked or has expired.")
    batch = await _batch(pool, row)
    if batch is None:
        return None
    principal = Principal(row["made_by"], AccessScope.SUBMIT, key_id=row["key_id"])
    try:
        # Conflict: this time was started by a worker with other settings, which died before it could say so.
        with contextlib.suppress(Conflict):
            await submit(pool, batch, principal=principal)
    except KeyBudgetSpent as error:
        reason = f"The time {row['next_at']:%Y-%m-%d %H:%M} UTC was passed over. {error}"
        return DueOccurrence(row["id"], row["next_at"], "skipped", reason)
    return DueOccurrence(row["id"], row["next_at"], "started")


async def _batch(pool: Pool, row: DictRow, *, by_hand_after: str = "") -> NewBatch | None:
    """The batch of a time; `by_hand_after` is the batch after which a person starts this one, once."""
    is_by_hand = bool(by_hand_after)
    args = {"id": row["id"], "due_at": row["next_at"], "chars": FOUND_CHARS, "is_by_hand": is_by_hand}
    earlier = await fetch_all(pool, SQL["earlier"], args)
    if not earlier:
        return None
    moment = by_hand_after or f"at {row['next_at'].astimezone(UTC).isoformat()}"
    return NewBatch(
        [_run(row, before) for before in earlier],
        row["subject_id"],
        budget=Budget(row["budget_usd"]),
        idempotency_key=f"subscription {row['id']} {moment}",
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
        context=row["context"],
    )
