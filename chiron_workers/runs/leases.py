from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
from psycopg import Connection
from psycopg.rows import DictRow

from chiron_workers.access.allotments import lock_batch, reopen
from chiron_workers.access.audit import record_within
from chiron_workers.access.principals import LOCAL, LOCAL_OWNER, Principal
from chiron_workers.db.connect import Pool, fetch_one
from chiron_workers.db.outages import is_away
from chiron_workers.db.queries import load
from chiron_workers.errors import Conflict, NotFound, ServerChanged, UsageError
from chiron_workers.ids import new_id
from chiron_workers.problems import SEE_BATCHES
from chiron_workers.runs.columns import Column, columns_of
from chiron_workers.runs.entries import storable
from chiron_workers.runs.events import Event
from chiron_workers.runs.fence import LeasedRun, Progress
from chiron_workers.states import AllotmentAct, Effort, EventKind, RunState, StopRequest, ThinkingMode

SQL = load(__file__)
MORE_TURNS = 50  # that a finished run gets for a further message, if it has used up its own
MESSAGE_CHARS = 100_000


@dataclass(frozen=True, slots=True)
class Run(LeasedRun):
    """A run as its holder sees it, from its acquisition on."""

    role: str
    subject_id: str
    subject: str
    topic: str
    model: str
    max_turns: int
    attempt: int
    entries: int  # in its journal so far
    turns: int
    epoch: int  # that its next entry belongs to
    subscription_id: UUID | None  # that started it
    since: datetime | None  # when the subscription last looked into the topic
    found_before: str | None
    # Of its model, as frozen at its submit; None in rows of versions before.
    price: dict[str, Any] | str | None
    thinking: ThinkingMode
    effort: Effort | None  # None: what its model does by itself
    # Which facts it works on: of a batch or a run, by its id, or of a subject; None: of its own subject.
    scope: str | None
    server_started_at: (
        datetime  # the start of the Postgres server that it was acquired on, which no two servers share
    )
    owner: str = LOCAL_OWNER  # of its batch
    key_id: UUID | None = None  # that its batch was submitted with
    context: str | None = None  # the user's background to the topic
    columns: tuple[Column, ...] = ()  # of the rows that it hands in; none: it answers in words alone
    is_probe: bool = False  # its model's server refused the key when it was last tried


@dataclass(frozen=True, slots=True)
class Interrupt:
    """A run that its holder must let go of: the lease is lost, or a stop was requested."""

    id: UUID
    token: UUID  # of the lease that its holder believes to have
    is_lost: bool
    stop_requested: StopRequest | None


async def acquire(
    pool: Pool, run_id: UUID, *, worker: str, lease_for: timedelta, server_starts: Collection[datetime] = ()
) -> tuple[Run, Event] | None:
    """Acquire a dispatched run for `lease_for`; the run and its event, None if it cannot be acquired.

    Args:
        server_starts: The starts of the servers that have confirmed the leases which the worker has.

    Raises:
        ServerChanged: Another server answers than one of these; nothing was acquired.
    """
    args = {
        "run_id": run_id,
        "worker": worker,
        "lease_for": lease_for,
        "server_starts": list(server_starts),
    }
    async with pool.connection() as connection:
        row = await fetch_one(connection, SQL["acquire"], args)
    if row["id"] is None:
        if not set(server_starts) <= {row["server_started_at"]}:
            raise ServerChanged(row["server_started_at"])
        return None
    conversions: dict[str, Any] = {
        "thinking": ThinkingMode(row["thinking"]),
        "effort": Effort(row["effort"]) if row["effort"] else None,
        "columns": columns_of(row["columns"]),
        "progress": Progress(row["steps"]),
    }
    columns = {field.name: row[field.name] for field in fields(Run) if field.name not in conversions}
    run = Run(**columns | conversions)
    kind = EventKind(row["event_kind"])
    return run, Event(run.batch_id, run.id, row["event_seq"], kind, row["event_at"], row["event_data"])


def renew(
    connection: Connection[DictRow], runs: Sequence[LeasedRun], *, lease_for: timedelta
) -> list[Interrupt]:
    """Renew the leases of runs for `lease_for` from now; the runs that must be let go of.

    A row that Postgres refuses to write costs no other run its lease.
    """
    _renew(connection, runs, lease_for)
    rows = connection.execute(SQL["interrupts"], _leases(runs)).fetchall()
    return [
        Interrupt(
            row["id"],
            row["token"],
            is_lost=row["is_lost"],
            stop_requested=StopRequest(row["stop_requested"]) if row["stop_requested"] else None,
        )
        for row in rows
    ]


def _renew(connection: Connection[DictRow], runs: Sequence[LeasedRun], lease_for: timedelta) -> None:
    try:
        connection.execute(SQL["renew"], _leases(runs) | {"lease_for": lease_for})
    except psycopg.Error as error:
        if is_away(error):
            raise
        if len(runs) == 1:
            import structlog  # which a command that only reads never needs

            log = structlog.get_logger()
            log.warning("lease.not_renewed", run_id=str(runs[0].id), error=str(error).strip())
            return
        middle = len(runs) // 2
        _renew(connection, runs[:middle], lease_for)
        _renew(connection, runs[middle:], lease_for)


def _leases(runs: Sequence[LeasedRun]) -> dict[str, Any]:
    return {
        "run_ids": [run.id for run in runs],
        "leases": [run.lease for run in runs],
        "tokens": [run.token for run in runs],
        "steps": [run.progress.steps for run in runs],
    }


async def say(pool: Pool, run_id: UUID, text: str, *, principal: Principal = LOCAL) -> bool:
    """Send a message to a run: a finished one goes on with it, a running one reads it at its next step.

    Args:
        principal: Who sends it. Where that opens a batch again that has ended, its key pays for what follows.

    Returns:
        Whether the run had ended and goes on; after the commit, notify the workers.

    Raises:
        UsageError: The message is empty or too long.
        NotFound: There is no such run.
        Conflict: The run was cancelled or pruned.
        KeyBudgetSpent: The batch had ended, and the principal's key has less left than the rest of its budget.
    """
    text = storable(text)
    if not 0 < len(text.strip()) <= MESSAGE_CHARS:
        raise UsageError(f"A message has between 1 and {MESSAGE_CHARS:,} characters.")
    args = {"run_id": run_id, "text": text, "message_id": new_id(), "more_turns": MORE_TURNS}
    async with pool.connection() as connection, connection.transaction():
        run = await (await connection.execute(SQL["lock"], args)).fetchone()
        # A running run draws on what it has, so only what may open its batch again locks that.
        is_woken = run is not None and RunState(run["state"]).is_final
        batch = await lock_batch(connection, run["batch_id"]) if run and is_woken else None
        row = await (await connection.execute(SQL["say"], args)).fetchone()
        if row is None:
            state_row = await (await connection.execute(SQL["state"], {"run_id": run_id})).fetchone()
            if state_row is None:
                raise NotFound(
                    f"There is no run {run_id}; a message goes to one run, not to a batch.",
                    remedies=(SEE_BATCHES,),
                )
            why = (
                "was pruned: its journal is gone, and it"
                if state_row["is_pruned"]
                else f"is {state_row['state']} and"
            )
            raise Conflict(f"Run {run_id} {why} takes no messages.")
        if batch is not None:
            await reopen(connection, principal, AllotmentAct.SAY, batch)
        await record_within(connection, runs=run_id)
    return is_woken
