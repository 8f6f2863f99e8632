"""Journal and events lie in one partition for each month of the run ids' time."""

import asyncio
import re
from datetime import UTC, datetime, timedelta

import pytest
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL
from support.backdated_runs import forget_the_oldest, journal_rows

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.errors import ChironError
from chiron_workers.ids import first_id, new_id, time_of
from chiron_workers.runs import events, journal
from chiron_workers.runs import tool_results as results
from chiron_workers.runs.partitions import PARENTS, Partition, ensure, list_all, make


async def submit_some(pool: Pool, count: int = 1) -> list:
    runs = [NewRun(f"t{n}", "research", "Tests", "offline", 9) for n in range(count)]
    return (await submit(pool, NewBatch(runs, "Tests"))).run_ids


async def names(pool: Pool) -> list[str]:
    return [partition.name for partition, _ in await list_all(pool)]


async def drop(pool: Pool, *dropped: str) -> None:
    async with pool.connection() as connection:
        for name in dropped:
            for table in Partition.named(name).tables:
                await connection.execute(f"drop table {table}")


def month(at: datetime) -> str:
    return f"{at:%Y_%m}"


def test_ids_sort_by_the_time_they_were_made_and_tell_it():
    before = datetime.now(UTC)
    made = [new_id() for _ in range(10_000)]
    after = datetime.now(UTC)
    assert made == sorted(made)
    assert before - timedelta(milliseconds=1) <= time_of(made[0]) <= time_of(made[-1]) <= after
    assert first_id(time_of(made[-1])) <= made[-1] < first_id(after + timedelta(milliseconds=2))
    assert {found.version for found in made} == {7}


def test_months_follow_each_other_without_a_gap():
    found = Partition.named("1999_11")
    for _ in range(1_000):
        following = Partition.of_month(found.ends)
        assert (following.low, following.ends.day) == (found.high, 1)
        assert found.low < found.high
        found = following
    oldest = Partition.named("before_2026_12")
    assert (oldest.low.int, oldest.high) == (0, Partition.named("2026_12").low)


async def test_what_was_there_before_and_two_months_ahead_have_partitions(pool):
    oldest, *ahead = await names(pool)
    following = Partition.named(oldest).ends
    assert ahead == [month(following), month(following + timedelta(days=32))]


async def test_a_submit_finds_its_partition_and_makes_the_next_one(pool):
    await forget_the_oldest(pool)
    this_month, *ahead = await names(pool)
    await drop(pool, *ahead)
    [run_id] = await submit_some(pool)
    assert await names(pool) == [this_month, month(Partition.named(this_month).ends)]
    assert await journal_rows(pool, run_id) == {"entries": 0, "tool_results": 0, "events": 1}


async def test_of_many_submits_at_once_one_makes_the_partitions(pool):
    await forget_the_oldest(pool)
    there = await names(pool)
    await drop(pool, *there)
    async with asyncio.timeout(60):
        submitted = await asyncio.gather(*(submit_some(pool) for _ in range(12)))
    assert await names(pool) == there[:2]
    assert [(await journal_rows(pool, run_id))["events"] for [run_id] in submitted] == [1] * 12


async def test_a_partition_is_made_while_others_write_and_read_the_journal(pool):
    [run_id] = await submit_some(pool)
    later = Partition.of_month(datetime.now(UTC) + timedelta(days=200))
    async with pool.connection() as writer, writer.transaction():
        await writer.execute(
            "insert into events (run_id, seq, batch_id, kind, data) select id, 2, batch_id, 'tool.called', '{}' from runs"
        )
        await writer.execute("select count(*) from entries")
        async with asyncio.timeout(60):
            await make(pool, [later])
    assert later.name in await names(pool)
    assert (await journal_rows(pool, run_id))["events"] == 2


async def test_ids_of_a_clock_that_is_two_weeks_off_get_a_partition(pool):
    await forget_the_oldest(pool)
    for days in (-14, 14):
        at = datetime.now(UTC) + timedelta(days=days)
        await ensure(pool, [first_id(at)])
        assert month(at) in await names(pool)


@pytest.mark.parametrize("days", [-365, 365, 365 * 50])
async def test_a_clock_that_is_a_year_off_is_refused_in_one_sentence(pool, days):
    there = await names(pool)
    with pytest.raises(ChironError, match=r"The clock of this machine says \d{4}-.* Set it right"):
        await ensure(pool, [first_id(datetime.now(UTC) + timedelta(days=days))])
    assert await names(pool) == there


async def test_whoever_may_not_change_the_tables_is_told_to_connect_as_their_owner(pool, database_url):
    role = f"visitor_{new_id().hex}"
    async with pool.connection() as connection:
        await connection.execute(f"create role {role} login")
        await connection.execute(f"grant usage, create on schema public to {role}")
        await connection.execute(f"grant select on all tables in schema public to {role}")
    try:
        later = Partition.of_month(datetime.now(UTC) + timedelta(days=200))
        async with open_pool(make_conninfo(database_url, user=role), size=1) as visitors:
            with pytest.raises(ChironError, match="Connect as the role that owns the tables"):
                await make(visitors, [later])
        assert later.name not in await names(pool)
    finally:
        async with pool.connection() as connection:
            await connection.execute(f"drop owned by {role}")
            await connection.execute(f"drop role {role}")


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
async def test_each_look_into_the_journal_touches_one_partition(pool, mode):
    run_id, other = await submit_some(pool, 2)
    looks = [
        (journal.SQL["read"], {"run_id": run_id, "epoch": 2}),
        (journal.SQL["read_results"], {"run_id": run_id, "first": 1}),
        (results.SQL["read"], {"run_id": run_id, "call_id": "toolu_1", "offset": 0, "chars": 9}),
        (journal.SQL["read_result"], {"run_id": run_id, "n": 3, "call_id": "toolu_1"}),
        (journal.SQL["entry_exists"], {"run_id": run_id, "n": 3, "token": run_id}),
        (
            events.SQL["page"],
            {"run_ids": [run_id, other], "seqs": [0, 0], "first": run_id, "last": other, "each": 10},
        ),
    ]
    partitions = {table for partition, _ in await list_all(pool) for table in partition.tables}
    async with pool.connection() as connection:
        await connection.execute("select set_config('plan_cache_mode', %s, false)", (mode,))
        for query, args in looks:
            explained = SQL("explain (analyze, costs off, timing off) {}").format(query)
            rows = await (await connection.execute(explained, args, prepare=True)).fetchall()
            plan = [row["QUERY PLAN"] for row in rows]
            touched = {
                table
                for line in plan
                if "never executed" not in line
                for table in re.findall(r" on (\w+)", line)
                if table in partitions
            }
            assert len(touched) == 1, "\n".join(plan)


async def test_what_a_migration_changes_of_a_table_reaches_its_partitions(pool):
    async with pool.connection() as connection:
        await connection.execute("alter table events drop constraint events_kind_is_known")
        await connection.execute("alter table entries add column extra int not null default 7")
        query = "select count(*) as left from pg_constraint where conname = 'events_kind_is_known'"
        assert await (await connection.execute(query)).fetchone() == {"left": 0}
        later = Partition.of_month(datetime.now(UTC) + timedelta(days=200))
        await make(pool, [later])
        query = "select count(*) as found from pg_attribute where attname = 'extra' and not attisdropped"
        found = await (await connection.execute(query)).fetchone()
    assert found == {"found": 1 + len(await names(pool))}


async def test_partitions_have_what_their_table_has(pool):
    await make(pool, [Partition.of_month(datetime.now(UTC) + timedelta(days=200))])
    shape = """select relname, (select array_agg(attname || ' ' || atttypid::regtype || ' ' || attnotnull order by attnum)
                                  from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped) as columns,
                      (select array_agg(replace(pg_get_constraintdef(oid), ' NOT VALID', '') order by 1) from pg_constraint
                        where conrelid = c.oid and contype in ('c', 'p', 'n')) as constraints
                 from pg_class c where relname = %s or relname = any(%s)"""
    found = [partition for partition, _ in await list_all(pool)]
    async with pool.connection() as connection:
        for n, parent in enumerate(PARENTS):
            tables = [partition.tables[n] for partition in found]
            rows = await (await connection.execute(shape, (parent, tables))).fetchall()
            shapes = {(tuple(row["columns"]), tuple(sorted(row["constraints"]))) for row in rows}
            assert (len(rows), len(shapes)) == (1 + len(tables), 1), parent
