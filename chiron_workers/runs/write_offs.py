"""Late replies of calls that were written off."""

from collections.abc import Mapping
from typing import Any

from chiron_workers.db.connect import Pool
from chiron_workers.db.queries import load
from chiron_workers.runs.fence import LeasedRun, lease_columns, shard_of

SQL = load(__file__)


async def settle(pool: Pool, run: LeasedRun, columns: Mapping[str, Any]) -> bool:
    """Count the real cost of a written-off call whose reply arrived late; return whether it was counted.

    The one write of a run without its lease: it changes the write-off of this call and the sums that have it, once. It changes
    nothing where the run or its batch has ended, or a failover has forgotten the write-off.

    Args:
        columns: What the reply cost and settles, as `reply_columns` gives it, and the `service` that sent it.
    """
    args = lease_columns(run) | {"batch_id": run.batch_id, "shard": shard_of(run.id)} | dict(columns)
    async with pool.connection() as connection, connection.transaction():
        for query in ("lock_run", "lock_batch", "settle"):
            if await (await connection.execute(SQL[query], args)).fetchone() is None:
                return False
    return True
