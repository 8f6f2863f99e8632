"""Rechecks that somebody ordered and a worker performs."""

import asyncio
import contextlib
import json
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import DictRow
from psycopg.types.json import Json
from psycopg_pool import PoolTimeout

from chiron_workers import ids
from chiron_workers.cancellation import cancel_until_done
from chiron_workers.db.connect import Pool
from chiron_workers.db.outages import is_away, is_transient
from chiron_workers.db.queries import load
from chiron_workers.duty_failures import is_fault_of_process, isolated, reason_of
from chiron_workers.embeddings import Embedder
from chiron_workers.errors import ChironError, NotFound
from chiron_workers.rechecks.recheck import recheck_subject
from chiron_workers.runs.session import Session
from chiron_workers.settings import Settings
from chiron_workers.states import Duty

SQL = load(__file__)
TIME_MAX = timedelta(minutes=50)  # what was read by then stays, and the next recheck begins with the rest
TRIES_MAX = 3


class _ClaimLost(Exception):
    """Another worker has the order by now."""


@dataclass(frozen=True, slots=True)
class RecheckOrder:
    """A recheck of a subject: `queued`, `running`, `completed` with its outcome, or `failed` with the error."""

    id: UUID
    subject_id: str
    subscription_id: UUID | None
    state: str
    created_at: datetime
    finished_at: datetime | None
    outcome: dict[str, Any] | None
    error: str


async def order_recheck(session: Session, subject_id: str) -> RecheckOrder:
    """Have a worker read the sources of a subject again; the order that is open already, if there is one."""
    order_id = ids.new_id()
    await session.write(SQL["order"], {"id": order_id, "subject_id": subject_id})
    rows = await session.write(SQL["open_of"], {"subject_id": subject_id})
    return await get_recheck(session, rows[0]["id"] if rows else order_id)


async def get_recheck(session: Session, order_id: UUID) -> RecheckOrder:
    """One order. Raises NotFound."""
    row = await session.row(SQL["get"], {"id": order_id})
    if row is None:
        raise NotFound(f"There is no recheck {order_id}.")
    return RecheckOrder(**row)


async def perform_next_recheck(pool: Pool, embedder: Embedder, settings: Settings) -> UUID | None:
    """Finish the oldest order that no other worker has; its id, or None where there is none.

    An order that breaks says why, and rests for a pause that grows; after `TRIES_MAX` tries it has failed. The next one has
    its turn at once then, and also where another worker has claimed the order.
    """
    while True:  # ends: an order that is not finished here rests, or another worker has it
        async with pool.connection() as connection:
            row = await (await connection.execute(SQL["next"])).fetchone()
        if row is None:
            return None
        order_id: UUID = row["id"]
        is_finished = False
        # By its id, and not in one statement with the look: if Postgres refuses the claim, this order alone rests.
        async with isolated(pool.connection, Duty.RECHECKS, order_id, has_failed=row["has_failed"]):
            lease_for = timedelta(seconds=settings.lease_s)
            args = {"id": order_id, "claim_for": lease_for, "tries_max": TRIES_MAX}
            async with pool.connection() as connection:
                claim = await (await connection.execute(SQL["claim"], args)).fetchone()
            if claim is not None:
                is_finished = await _perform(pool, embedder, settings, claim)
        if is_finished:
            return order_id


async def _perform(pool: Pool, embedder: Embedder, settings: Settings, claim: DictRow) -> bool:
    """Whether the order is finished, rather than lost to another worker."""
    if claim["has_tries"]:
        try:
            outcome, error = await _recheck(pool, embedder, settings, claim)
        except _ClaimLost:
            return False
        except Exception as problem:
            is_failure = not (is_away(problem) or is_fault_of_process(problem))
            await _release(pool, claim, error=reason_of(problem) if is_failure else "")
            raise
        except BaseException:  # the worker ends
            await _release(pool, claim, error="")
            raise
    elif claim["error"]:
        outcome, error = None, f"It failed {TRIES_MAX} times, the last time like this: {claim['error']}"
    else:
        outcome, error = None, f"It was begun {TRIES_MAX} times and never came to an end."
    args = {"id": claim["id"], "tries": claim["tries"], "outcome": outcome, "error": error}
    async with pool.connection() as connection:
        return (await connection.execute(SQL["finish"], args)).rowcount > 0


async def _recheck(
    pool: Pool, embedder: Embedder, settings: Settings, claim: DictRow
) -> tuple[Json | None, str]:
    """What became of it: the outcome, or why there is none."""
    recheck = asyncio.create_task(recheck_subject(pool, embedder, settings, claim["subject_id"]))
    renewal = asyncio.create_task(_keep_claim(pool, settings, claim))
    try:
        await asyncio.wait(
            (recheck, renewal), timeout=TIME_MAX.total_seconds(), return_when=asyncio.FIRST_COMPLETED
        )
        if recheck.done():
            return Json(asdict(recheck.result()), dumps=json.dumps), ""
        if renewal.done():
            renewal.result()
            raise _ClaimLost
    except ChironError as problem:
        return None, str(problem)
    finally:
        await cancel_until_done([recheck, renewal])
    limit = f"{TIME_MAX.total_seconds() / 60:.0f} minutes"
    return None, f"It took more than {limit}. What was read stays; the next one goes on."


async def _keep_claim(pool: Pool, settings: Settings, claim: DictRow) -> None:
    """Renew a claim as a lease is, until it is lost: the order of a killed worker is free as soon as its runs are."""
    args = {"id": claim["id"], "tries": claim["tries"], "claim_for": timedelta(seconds=settings.lease_s)}
    is_ours = True
    while is_ours:
        await asyncio.sleep(settings.renewal_s)
        try:
            async with pool.connection() as connection:
                is_ours = (await connection.execute(SQL["renew"], args)).rowcount > 0
        except (psycopg.Error, PoolTimeout) as error:
            if not is_transient(error):
                raise


async def _release(pool: Pool, claim: DictRow, *, error: str) -> None:
    """Free an order: with an error it has failed and used up a try, without one another worker begins again at once."""
    args = {"id": claim["id"], "tries": claim["tries"], "error": error, "releases": 0 if error else 1}
    with contextlib.suppress(psycopg.Error, PoolTimeout):
        async with pool.connection() as connection:
            await connection.execute(SQL["release"], args)
