from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.problems import Remedy, as_json
from chiron_workers.runs.events import Event
from chiron_workers.runs.fence import json_text
from chiron_workers.runs.notices import announce
from chiron_workers.states import EventKind

SQL = load(__file__)
REASON_CHARS = 600
PAUSED_MAX = 10_000  # at once; those that are left are paused by the next refusal
PROBE_FOR = timedelta(seconds=120)  # for the run that finds out whether a key is still refused
REFUSAL_MAX = timedelta(minutes=5)  # a refusal that lasts longer needs a person


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


async def hold_refused(pool: Pool, model: str, run_id: UUID, *, hold_for: timedelta, reason: str) -> bool:
    """Hold a model whose server refuses the key; this run tries it next, alone. Whether it has been refused for minutes.

    The others wait for that run, and for two minutes more where nothing is heard of it.
    """
    args = {
        "model": model,
        "run_id": run_id,
        "hold_for": hold_for,
        "probe_for": PROBE_FOR,
        "lasting": REFUSAL_MAX,
        "reason": reason[:REASON_CHARS],
    }
    rows = await fetch_all(pool, SQL["hold_refused"], args)
    return bool(rows and rows[0]["is_lasting"])


async def end_refusal(pool: Pool, model: str) -> None:
    """Let all runs of a model go: its server takes the key again."""
    async with pool.connection() as connection:
        await connection.execute(SQL["end_refusal"], {"model": model})


async def pause_refused(pool: Pool, model: str, reason: str, remedies: Sequence[Remedy]) -> list[Event]:
    """Pause the runs of a model that wait for a key; the events to publish."""
    data = {"reason": reason, **as_json(remedies)}
    args = {
        "model": model,
        "kind": EventKind.RUN_PAUSED,
        "data": json_text(data),
        "error": json_text({"kind": "credentials", "message": reason, **as_json(remedies)}),
        "runs_max": PAUSED_MAX,
    }
    async with pool.connection() as connection, connection.transaction():
        rows = await (await connection.execute(SQL["pause_refused"], args)).fetchall()
        events = [
            Event(row["batch_id"], row["id"], row["seq"], EventKind.RUN_PAUSED, row["at"], data)
            for row in rows
        ]
        for batch_id, of_batch in groupby(events, key=lambda event: event.batch_id):
            await announce(connection, batch_id, list(of_batch))
    return events


async def active_holds(pool: Pool) -> list[Hold]:
    """The holds in force now, in the order of the models."""
    async with pool.connection() as connection:
        return [Hold(**row) for row in await (await connection.execute(SQL["active"])).fetchall()]


async def lift(connection: AsyncConnection[DictRow], target: UUID) -> tuple[str, ...]:
    """End the holds of the models of a run, or of a batch's runs, within a transaction of the caller; the models."""
    rows = await (await connection.execute(SQL["lift"], {"id": target})).fetchall()
    return tuple(row["model"] for row in rows)
