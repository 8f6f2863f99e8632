"""Tools that wait for a lock whose holder stands still."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from psycopg import AsyncConnection
from psycopg.errors import IdleInTransactionSessionTimeout
from psycopg.rows import DictRow
from support.run_harness import Stage
from support.scripted_model import Says, call, calls, says, turn

from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.embeddings import Embedder
from chiron_workers.knowledge.coverage import nodes
from chiron_workers.knowledge.coverage.nodes import draft
from chiron_workers.knowledge.facts import locks
from chiron_workers.runs.session import Caller, Session
from chiron_workers.states import Outcome
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

WAITING = "select count(*) as n from pg_locks where locktype = 'advisory' and not granted"
LOCKS = {
    "nodes": (nodes.SQL["lock"], {"subject_ids": ["physics"]}),
    "facts": (locks.SQL["lock_subject"], {"subject_id": "physics"}),
}


@pytest.fixture
async def tools_pool(database_url: str) -> AsyncIterator[Pool]:
    """As a worker opens it for its tools, and small."""
    async with open_pool(database_url, size=2, idle_s=1) as pool:
        yield pool


@pytest.fixture
async def frozen(database_url: str) -> AsyncIterator[AsyncConnection[DictRow]]:
    """A transaction of another process, which Postgres lets be as long as the test goes on."""
    async with open_pool(database_url, size=1, idle_s=600) as pool, pool.connection() as connection:
        await connection.execute("begin")
        yield connection
        if not connection.closed:
            await connection.execute("rollback")


async def save_node(pool: Pool, embedder: Embedder, subject_id: str, title: str) -> str:
    async with Store(Session(pool, Caller()), embedder) as store:
        node = await store.nodes.save(draft(subject_id=subject_id, title=title, description="What moves it."))
    return node["node_id"]


async def lock_facts(pool: Pool, embedder: Embedder, subject_id: str, _: str) -> str:
    async with Store(Session(pool, Caller()), embedder) as store:
        await store.facts.lock_subject(subject_id)
    return subject_id


async def waiting(pool: Pool) -> int:
    async with pool.connection() as connection:
        row = await (await connection.execute(WAITING)).fetchone()
    assert row is not None
    return int(row["n"])


@pytest.mark.parametrize("kind", LOCKS)
async def test_those_who_wait_for_a_subject_hold_one_connection_together(
    kind: str, pool: Pool, tools_pool: Pool, frozen: AsyncConnection[DictRow], embedder: Embedder
) -> None:
    work = {"nodes": save_node, "facts": lock_facts}[kind]
    async with asyncio.timeout(90):
        await frozen.execute(*LOCKS[kind])
        waiters = [asyncio.create_task(work(tools_pool, embedder, "physics", f"wave {n}")) for n in range(6)]
        while await waiting(pool) == 0:
            await asyncio.sleep(0.01)
        for n in range(3):
            await work(tools_pool, embedder, "chemistry", f"acid {n}")
        assert await waiting(pool) == 1
        assert not any(waiter.done() for waiter in waiters)
        await frozen.execute("rollback")
        assert len(await asyncio.gather(*waiters)) == 6


async def test_a_cancelled_waiter_lets_the_next_one_pass(
    pool: Pool, tools_pool: Pool, frozen: AsyncConnection[DictRow], embedder: Embedder
) -> None:
    async with asyncio.timeout(90):
        await frozen.execute(*LOCKS["facts"])
        waiters = [asyncio.create_task(lock_facts(tools_pool, embedder, "physics", "")) for _ in range(3)]
        while await waiting(pool) == 0:
            await asyncio.sleep(0.01)
        for waiter in waiters[:2]:  # the one in Postgres, and the next one in the queue
            waiter.cancel()
        await asyncio.gather(*waiters[:2], return_exceptions=True)
        await frozen.execute("rollback")
        assert await waiters[2] == "physics"


async def test_a_waiter_that_is_cancelled_in_its_second_queue_leaves_the_first_at_once(
    tools_pool: Pool,
) -> None:
    holder, waiter, later = (Session(tools_pool) for _ in range(3))
    async with asyncio.timeout(60):
        await holder.lock(*LOCKS["facts"], keys=["waves"])
        waiting_twice = asyncio.create_task(waiter.lock(*LOCKS["facts"], keys=["tides", "waves"]))
        while not waiter._turns:
            await asyncio.sleep(0)
        waiting_twice.cancel()
        await asyncio.wait([waiting_twice])
        await later.lock(*LOCKS["nodes"], keys=["tides"])
    for session in (holder, later):
        with contextlib.suppress(IdleInTransactionSessionTimeout):
            await session.rollback()


async def test_a_holder_that_stands_still_is_ended_by_postgres(tools_pool: Pool, embedder: Embedder) -> None:
    async with asyncio.timeout(90):
        standing_still = Session(tools_pool)
        await standing_still.lock(*LOCKS["nodes"], keys=["of another process"])
        assert await save_node(tools_pool, embedder, "physics", "waves")
        with pytest.raises(IdleInTransactionSessionTimeout):
            await standing_still.commit()


async def test_a_tool_whose_transaction_was_ended_runs_again(stage: Stage) -> None:
    idle: list[bool] = []

    @tool
    async def ponder(store: Store, *, words: str) -> str:
        """Write, stand still, and write again.

        Args:
            words: What to write.
        """
        idle.append(not idle)
        await store.subjects.ensure(f"{words} {len(idle)}", words)
        if idle[-1]:
            connection = await store.session.begin()
            await connection.execute("set local idle_in_transaction_session_timeout = 1")
            while not await is_ended(connection):
                await asyncio.sleep(0.01)
        await store.subjects.ensure(f"{words} {len(idle)} again", words)
        return words

    async def is_ended(connection: AsyncConnection[DictRow]) -> bool:
        rows = await stage.rows(
            "select pid from pg_stat_activity where pid = %s", connection.info.backend_pid
        )
        return not rows

    async def script(request: dict[str, Any]) -> Says:
        return says("done") if turn(request) else calls(call("ponder", words="tides"))

    stage.registry.register(ponder)
    await stage.model(script)
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert idle == [True, False]
    stored = await stage.rows("select id from subjects where id ^@ 'tides' order by id")
    assert [row["id"] for row in stored] == ["tides-2", "tides-2-again"]


async def test_the_core_goes_on_while_tools_have_no_connection(stage: Stage, database_url: str) -> None:
    async def script(request: dict[str, Any]) -> Says:
        return says("done") if turn(request) == 2 else calls(call("echo", words="waves"))

    await stage.model(script)
    (run_id,) = await stage.submit("tides")
    async with asyncio.timeout(90), open_pool(database_url, size=1) as tools_pool, tools_pool.connection():
        stage.tools_pool = tools_pool
        assert await stage.play(run_id) is Outcome.PLAYED
