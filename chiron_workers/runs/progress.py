"""How far a run has got: what decides whether it is reminded, tried again, or given up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.outages import through_outage
from chiron_workers.db.queries import load
from chiron_workers.errors import LeaseLost
from chiron_workers.runs.fence import lease_columns
from chiron_workers.runs.leases import Run

SQL = load(__file__)


@dataclass(frozen=True, slots=True)
class HandingIn:
    """Whether a run has handed in its result, and how often it was reminded of it."""

    is_done: bool
    reminders: int


async def has_progressed(pool: Pool, run: Run) -> bool:
    """Whether anything was added to the run's journal under this lease. Raises LeaseLost."""
    row = await _fetch_row(pool, "progress", lease_columns(run))
    if row is None:
        raise LeaseLost(run.id)
    return bool(row["has_progressed"])


async def is_requeued(pool: Pool, run: Run) -> bool:
    """Whether somebody asked for the run to go on since its last reply."""
    row = await _fetch_row(pool, "is_requeued", {"run_id": run.id})
    return row is not None and bool(row["is_requeued"])


async def read_handing_in(pool: Pool, run: Run, *, tool: str, reminder: str) -> HandingIn:
    """Whether a call of `tool` has succeeded, and how often the run was sent `reminder`, since it last began anew."""
    row = await _fetch_row(pool, "read_handing_in", {"run_id": run.id, "tool": tool, "reminder": reminder})
    assert row is not None
    return HandingIn(row["is_done"], row["reminders"])


async def waited_for_model_s(pool: Pool, run: Run) -> float:
    """How many seconds ago this run's model first sent it back, if the run has not got further since; else 0."""
    row = await _fetch_row(pool, "waited", {"run_id": run.id})
    assert row is not None
    return float(row["seconds"])


async def _fetch_row(pool: Pool, name: str, args: Mapping[str, Any]) -> DictRow | None:
    rows = await through_outage(lambda: fetch_all(pool, SQL[name], args))
    return rows[0] if rows else None
