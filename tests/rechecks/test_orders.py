"""Rechecks that are ordered are performed by a worker, once, whoever orders them."""

import asyncio
from typing import Any

import pytest
from psycopg.sql import SQL
from support.scripted_sites import Site

from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.errors import NotFound
from chiron_workers.ids import new_id
from chiron_workers.rechecks.orders import RecheckOrder, get_recheck, order_recheck, perform_next_recheck
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.store import Store
from chiron_workers.tools.knowledge import store_knowledge
from chiron_workers.web.fetch import fetch_page

FIVE = "The rate of the bank is 5 % a year."


@pytest.fixture
async def page(pool: Pool, embedder: Embedder, site: Site) -> str:
    """A page with a fact of the subject `bank`."""
    url = site.text("/rate", FIVE)
    async with Store(Session(pool), embedder) as store:
        await fetch_page(store, url)
        await store_knowledge(
            store, content=FIVE, quote=FIVE, subject_id="bank", source_url=url, source_score=0.9, topic_path="a/b",
            confidence=0.9,
        )  # fmt: skip
    return url


async def ordered(pool: Pool) -> RecheckOrder:
    async with Session(pool) as session:
        return await order_recheck(session, "bank")


async def write(pool: Pool, query: str, **args: Any) -> None:
    async with pool.connection() as connection:
        await connection.execute(SQL(query), args)


async def test_an_order_is_performed_once_and_says_what_it_found(
    pool: Pool, embedder: Embedder, site: Site, page: str
) -> None:
    order = await ordered(pool)
    assert (order.state, (await ordered(pool)).id) == ("queued", order.id), "one is open at a time"
    site.text("/rate", "All new.")
    assert await perform_next_recheck(pool, embedder, settings()) == order.id
    assert await perform_next_recheck(pool, embedder, settings()) is None
    finished = await get_recheck(Session(pool), order.id)
    assert finished.outcome and finished.finished_at
    assert (finished.state, [one["url"] for one in finished.outcome["changed_sources"]]) == (
        "completed",
        [page],
    )
    assert [one["status"] for one in finished.outcome["superseded_facts"]] == ["superseded"]
    assert (await ordered(pool)).id != order.id


async def test_an_order_whose_worker_died_is_taken_up_again_and_given_up_in_the_end(
    pool: Pool, embedder: Embedder, page: str
) -> None:
    order = await ordered(pool)
    claim = "update rechecks set claimed_until = now() + interval '1 hour', tries = tries + 1"
    await write(pool, claim)
    assert (await get_recheck(Session(pool), order.id)).state == "running"
    assert await perform_next_recheck(pool, embedder, settings()) is None
    await write(pool, "update rechecks set claimed_until = now() - interval '1 second', tries = 3")
    assert await perform_next_recheck(pool, embedder, settings()) == order.id
    given_up = await get_recheck(Session(pool), order.id)
    assert (given_up.state, given_up.error) == ("failed", "It was begun 3 times and never came to an end.")


async def test_the_order_of_a_killed_worker_is_free_after_one_lease(
    pool: Pool, embedder: Embedder, site: Site, page: str
) -> None:
    order, gate = await ordered(pool), site.silent("/rate")
    mine = settings().model_copy(update={"lease_s": 30.0, "renewal_s": 0.02})
    performing = asyncio.create_task(perform_next_recheck(pool, embedder, mine))
    # now() is when this look began, and it may see a claim that was written since.
    claim = SQL(
        "select claimed_until, claimed_until <= clock_timestamp() + interval '30 s' as is_of_a_lease"
        " from rechecks"
    )
    async with asyncio.timeout(60):
        while (first := (await Session(pool).rows(claim))[0])["claimed_until"] is None:
            await asyncio.sleep(0.01)
        while (later := (await Session(pool).rows(claim))[0])["claimed_until"] <= first["claimed_until"]:
            await asyncio.sleep(0.01)
    assert first["is_of_a_lease"] and later["is_of_a_lease"], "it is renewed while it goes on"
    gate.set()
    await performing
    assert (await get_recheck(Session(pool), order.id)).state == "completed"


async def test_a_worker_whose_order_another_has_stops_reading_and_writes_nothing(
    pool: Pool, embedder: Embedder, site: Site, page: str
) -> None:
    order, gate = await ordered(pool), site.silent("/rate")
    mine = settings().model_copy(update={"renewal_s": 0.02})
    performing = asyncio.create_task(perform_next_recheck(pool, embedder, mine))
    async with asyncio.timeout(60):
        while (await get_recheck(Session(pool), order.id)).state != "running":
            await asyncio.sleep(0.01)
        await write(pool, "update rechecks set tries = tries + 1")
        assert await performing is None, "nothing is finished"
    assert (await get_recheck(Session(pool), order.id)).state == "running"
    gate.set()


async def test_workers_that_look_at_once_perform_each_order_once(
    pool: Pool, embedder: Embedder, page: str
) -> None:
    orders = [await ordered(pool)]
    await write(pool, "insert into subjects (id, title) values ('sea', 'Sea')")
    async with Session(pool) as session:
        orders.append(await order_recheck(session, "sea"))
    lock = SQL("update rechecks set tries = tries where subject_id = 'bank'")
    waiting = SQL(
        "select count(*) as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    )
    async with pool.connection() as connection, connection.transaction():
        await connection.execute(lock)  # so that both look before one of them has it
        workers = [asyncio.create_task(perform_next_recheck(pool, embedder, settings())) for _ in range(2)]
        async with asyncio.timeout(60):
            while (await Session(pool).rows(waiting))[0]["n"] < 2:
                await asyncio.sleep(0.01)
    assert set(await asyncio.gather(*workers)) == {order.id for order in orders}


async def test_workers_that_are_stopped_use_up_no_try_of_an_order(
    pool: Pool, embedder: Embedder, site: Site, page: str
) -> None:
    order, gate = await ordered(pool), site.silent("/rate")
    for _ in range(5):
        performing = asyncio.create_task(perform_next_recheck(pool, embedder, settings()))
        async with asyncio.timeout(60):
            while (await get_recheck(Session(pool), order.id)).state != "running":
                await asyncio.sleep(0.01)
        performing.cancel()
        await asyncio.gather(performing, return_exceptions=True)
    gate.set()
    async with asyncio.timeout(
        60
    ):  # Postgres may still end the transaction of the worker that was stopped last
        while (order_id := await perform_next_recheck(pool, embedder, settings())) is None:
            await asyncio.sleep(0.05)
    assert order_id == order.id
    assert (await get_recheck(Session(pool), order.id)).state == "completed"


async def test_an_order_that_is_not_there_is_not_found(pool: Pool) -> None:
    with pytest.raises(NotFound, match="There is no recheck"):
        await get_recheck(Session(pool), new_id())
