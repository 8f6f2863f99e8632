"""Rechecks that are ordered are performed by a worker, once, whoever orders them."""

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


async def test_an_order_that_is_not_there_is_not_found(pool: Pool) -> None:
    with pytest.raises(NotFound, match="There is no recheck"):
        await get_recheck(Session(pool), new_id())
