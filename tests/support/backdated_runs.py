"""Runs made older by moving their rows: an id carries the time, and the time decides the partition."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from psycopg.sql import SQL, Identifier

from chiron_workers.db.connect import Pool
from chiron_workers.ids import first_id
from chiron_workers.runs.partitions import PARENTS, Partition, list_all, make

NAMING_A_RUN = (
    "entries",
    "tool_results",
    "events",
    "inbox",
    "side_replies",
    "facts",
    "fetches",
    "fact_changes",
    "run_facts",
)


async def forget_the_oldest(pool: Pool) -> None:
    """As after years: the partition of what was there before there were months is pruned."""
    (oldest, _), *_ = await list_all(pool)
    assert oldest.name.startswith("before_")
    async with pool.connection() as connection:
        for table in oldest.tables:
            await connection.execute(SQL("drop table {}").format(Identifier(table)))
    await make(pool, [Partition.of_month(datetime.now(UTC))])


async def age(pool: Pool, run_id: UUID, *, days: int) -> UUID:
    """Give a run an id of so many days ago, in the partition of that month; the id."""
    at = datetime.now(UTC) - timedelta(days=days)
    older = UUID(int=first_id(at).int | run_id.int & (1 << 80) - 1)
    await make(pool, [Partition.of_month(at)])
    async with pool.connection() as connection, connection.transaction():
        await connection.execute("set local session_replication_role = replica")  # foreign keys look away
        await connection.execute("update runs set id = %s where id = %s", (older, run_id))
        for table in NAMING_A_RUN:
            query = SQL("update {} set run_id = %s where run_id = %s").format(Identifier(table))
            await connection.execute(query, (older, run_id))
    return older


async def journal_rows(pool: Pool, run_id: UUID) -> dict[str, int]:
    """How many rows each table of the journal has of a run."""
    found = {}
    async with pool.connection() as connection:
        for parent in PARENTS:
            query = SQL("select count(*) as rows from {} where run_id = %s").format(Identifier(parent))
            row = await (await connection.execute(query, (run_id,))).fetchone()
            found[parent] = row["rows"] if row else 0
    return found


async def insert_side_reply(pool: Pool, run_id: UUID) -> None:
    """As if a tool call of the run was never finished, after the model had answered it."""
    query = """
        insert into side_replies (run_id, n, call_id, question, repeat, lease, body)
        values (%s, 1, 'toolu_1', 'hash', 1, 1, '{}')
    """
    async with pool.connection() as connection:
        await connection.execute(query, (run_id,))
