"""Runs that may be why their workers end.

A run may be the cause of its worker's end if it has committed no step since it was acquired. It is a suspect once that has
happened twice, or once while it was alone on its worker. Suspects are dispatched one at a time (`batches/dispatch.py`), and
the end of a worker is put down to the only suspect on it, unless workers without a suspect end as well. A step that is
committed clears a run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from chiron_workers.db.queries import load

SUSPECTS_SQL = Path(__file__).with_suffix(".sql")
SQL = load(__file__)
SOLE_ENDS_MAX = 2  # one may be chance: a person stopped the worker, or its machine failed
ENDS_MAX = 10  # however many other workers end: a lack of memory may end them, too


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Ends of workers while a run was at one step: shared with other possible causes, or alone."""

    shared_ends: int
    sole_ends: int
    is_sole: bool  # the last one
    is_suspect: bool

    @property
    def is_cause(self) -> bool:
        """Whether the run is taken for the cause."""
        return self.sole_ends >= SOLE_ENDS_MAX or (self.is_sole and self.ends >= ENDS_MAX)

    @property
    def ends(self) -> int:
        """All of these."""
        return self.shared_ends + self.sole_ends


async def suspect(
    connection: AsyncConnection[DictRow], run_ids: Sequence[UUID], *, notice: timedelta
) -> dict[UUID, Suspicion]:
    """Count the ends of the workers of lost runs, within the transaction that rescues them; those that may be a cause.

    Args:
        notice: A worker with a lease that lasts longer than this lives: it has left these runs and not ended.
    """
    await connection.execute(SQL["forget"])
    args = {"run_ids": run_ids, "notice": notice}
    ended_rows = await (await connection.execute(SQL["count_ends"], args)).fetchall()
    args["workers"] = [row["worker"] for row in ended_rows]
    rows = await (await connection.execute(SQL["suspect"], args)).fetchall()
    return {row.pop("id"): Suspicion(**row) for row in rows}
