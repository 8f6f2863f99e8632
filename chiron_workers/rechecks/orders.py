"""Rechecks that somebody ordered and a worker performs."""

import asyncio
import contextlib
import json
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Json
from psycopg_pool import PoolTimeout

from chiron_workers import ids
from chiron_workers.db.connect import Pool
from chiron_workers.db.queries import load
from chiron_workers.embeddings import Embedder
from chiron_workers.errors import ChironError, NotFound
from chiron_workers.rechecks.recheck import recheck_subject
from chiron_workers.runs.session import Session
from chiron_workers.settings import Settings

SQL = load(__file__)
TIME_MAX = timedelta(minutes=50)  # what was read by then stays, and the next recheck begins with the rest
CLAIM_FOR = timedelta(hours=1)
TRIES_MAX = 3


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
    """Perform the oldest order that no other worker has; None where there is none."""
    async with pool.connection() as connection:
        order = await (await connection.execute(SQL["claim"], {"claim_for": CLAIM_FOR})).fetchone()
    if order is None:
        return None
    outcome, error = None, f"It was begun {TRIES_MAX} times and never came to an end."
    try:
        if order["tries"] <= TRIES_MAX:
            async with asyncio.timeout(TIME_MAX.total_seconds()):
                recheck = await recheck_subject(pool, embedder, settings, order["subject_id"])
            outcome, error = Json(asdict(recheck), dumps=json.dumps), ""
    except TimeoutError:
        error = f"It took more than {TIME_MAX.total_seconds() / 60:.0f} minutes. What was read stays; the next one goes on."
    except ChironError as problem:
        error = str(problem)
    except BaseException:  # the worker ends, or Postgres is away: another one begins again
        with contextlib.suppress(psycopg.Error, PoolTimeout):
            async with pool.connection() as connection:
                await connection.execute(SQL["release"], {"id": order["id"], "tries": order["tries"]})
        raise
    args = {"id": order["id"], "tries": order["tries"], "outcome": outcome, "error": error}
    async with pool.connection() as connection:
        await connection.execute(SQL["finish"], args)
    order_id: UUID = order["id"]
    return order_id
