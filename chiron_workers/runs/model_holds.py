from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool
from chiron_workers.db.queries import load

SQL = load(__file__)
REASON_CHARS = 600


@dataclass(frozen=True, slots=True)
class Hold:
    """A model whose runs are neither dispatched nor acquired until then."""

    model: str
    until: datetime
    reason: str


async def hold(pool: Pool, model: str, *, hold_for: timedelta, reason: str) -> None:
    """Let no run of a model start for `hold_for` from now; a hold that ends later stays."""
    args = {"model": model, "hold_for": hold_for, "reason": reason[:REASON_CHARS]}
    async with pool.connection() as connection:
        await connection.execute(SQL["hold"], args)


async def active_holds(pool: Pool) -> list[Hold]:
    """The holds in force now, in the order of the models."""
    async with pool.connection() as connection:
        return [Hold(**row) for row in await (await connection.execute(SQL["active"])).fetchall()]


async def lift(connection: AsyncConnection[DictRow], target: UUID) -> tuple[str, ...]:
    """End the holds of the models of a run, or of a batch's runs, within a transaction of the caller; the models."""
    rows = await (await connection.execute(SQL["lift"], {"id": target})).fetchall()
    return tuple(row["model"] for row in rows)
