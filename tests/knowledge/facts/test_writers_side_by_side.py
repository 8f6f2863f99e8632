"""Several writers in one subject: who waits for whom, and that nothing is overlooked for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from psycopg.sql import SQL
from support.verified_quotes import quoted

from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.embeddings import Embedder
from chiron_workers.knowledge.facts import intents
from chiron_workers.knowledge.facts.additions import StoredFact
from chiron_workers.knowledge.facts.claims import Claim
from chiron_workers.knowledge.facts.withdrawals import withdraw
from chiron_workers.knowledge.search.vectors import to_halfvec
from chiron_workers.runs.session import Session
from chiron_workers.store import Store

PATIENCE_S = 60
MOON = "The Moon is round."
WAITING = "select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
ABANDONED = """
insert into fact_intents (key, subject_id, space, content, embedding)
values (gen_random_uuid(), 'moon', %(space)s, %(content)s, %(embedding)s::halfvec)
returning id, key
"""
RETRACTED = (
    "insert into retracted_sources (url, doi, said_by) values (%(url)s, '10.1/x', 'crossref') returning 1"
)
BRIDGE = "The Tarbo bridge is 300 metres long."
SAME = "The Tarbo bridge is 300 m long."
OTHERWISE = "The Tarbo bridge is 420 metres long."
QUARRY = "The Kolmi quarry was opened in 1903."


@pytest.fixture
async def others(database_url: str) -> AsyncIterator[Pool]:
    """The connections of another process."""
    async with open_pool(database_url, size=4, idle_s=600) as pool:
        yield pool


async def add(pool: Pool, embedder: Embedder, claim: Claim) -> StoredFact:
    async with Store(Session(pool), embedder) as store:
        return await store.facts.add(claim)


@asynccontextmanager
async def storing(pool: Pool, embedder: Embedder, claim: Claim) -> AsyncIterator[tuple[Store, StoredFact]]:
    """A writer that has stored its claim and has not committed yet."""
    async with asyncio.timeout(PATIENCE_S), Store(Session(pool), embedder) as store:
        yield store, await store.facts.add(claim)


async def rows(pool: Pool, query: str, **args: Any) -> list[dict[str, Any]]:
    return await Session(pool).rows(SQL(query), args)


async def until_waiting(pool: Pool, task: "asyncio.Task[Any]") -> None:
    """Until somebody waits for a lock; the task is still at it then."""
    while (await rows(pool, WAITING))[0]["n"] == 0:
        assert not task.done(), "it did not wait"
        await asyncio.sleep(0.01)
    assert not task.done()


@pytest.mark.parametrize("first_words", [QUARRY, BRIDGE])
async def test_unrelated_facts_of_a_subject_do_not_wait_for_each_other(
    pool: Pool, others: Pool, embedder: Embedder, first_words: str
) -> None:
    first = await quoted(pool, first_words)
    second = await quoted(pool, BRIDGE if first_words == QUARRY else QUARRY)
    await add(pool, embedder, await quoted(pool, MOON))
    async with storing(others, embedder, first) as (_, open_fact):
        stored = await add(pool, embedder, second)
        assert stored.is_new
        assert len(await rows(pool, "select 1 from facts")) == 2
    assert open_fact.is_new
    assert len(await rows(pool, "select 1 from facts")) == 3
    assert await rows(pool, "select 1 from fact_intents") == []


async def test_who_says_the_same_waits_and_joins(pool: Pool, others: Pool, embedder: Embedder) -> None:
    await add(pool, embedder, await quoted(pool, MOON))
    async with storing(others, embedder, await quoted(pool, BRIDGE)) as (_, first):
        claim = await quoted(pool, SAME, source_url="https://second.example/")
        second = asyncio.create_task(add(pool, embedder, claim))
        await until_waiting(pool, second)
    joined = await second
    assert (joined.is_joined, joined.fact_id) == (True, first.fact_id)


async def test_who_waits_for_a_commit_of_minutes_sees_what_it_brings(
    pool: Pool, others: Pool, embedder: Embedder
) -> None:
    await add(pool, embedder, await quoted(pool, MOON))
    async with storing(others, embedder, await quoted(pool, BRIDGE)) as (store, first):
        [vector] = await embedder.embed([BRIDGE])
        args = {
            "space": store.facts.vectors.space_name,
            "content": BRIDGE,
            "embedding": to_halfvec(vector),
        }
        [intent] = await rows(pool, ABANDONED, **args)
        await rows(
            pool,
            "update fact_intents set at = at - interval '3 minutes' where id = %(id)s returning 1",
            **intent,
        )
        await store.session.write(intents.SQL["forget"], intent)
        await store.session.write(SQL("update facts set created_at = created_at - interval '2 minutes'"))
        claim = await quoted(pool, SAME, source_url="https://second.example/")
        second = asyncio.create_task(add(pool, embedder, claim))
        await until_waiting(pool, second)
    joined = await second
    assert (joined.is_joined, joined.fact_id) == (True, first.fact_id)


async def test_who_says_otherwise_waits_and_is_linked(pool: Pool, others: Pool, embedder: Embedder) -> None:
    await add(pool, embedder, await quoted(pool, MOON))
    async with storing(others, embedder, await quoted(pool, BRIDGE)) as (_, first):
        claim = await quoted(pool, OTHERWISE, source_url="https://second.example/")
        second = asyncio.create_task(add(pool, embedder, claim))
        await until_waiting(pool, second)
    assert [match.fact_id for match in (await second).matches] == [first.fact_id]
    disputed = await rows(pool, "select 1 from facts where status = 'disputed'")
    assert len(disputed) == 2


async def test_who_waits_for_a_writer_that_fails_stores_the_fact(
    pool: Pool, others: Pool, embedder: Embedder
) -> None:
    await add(pool, embedder, await quoted(pool, MOON))
    claim = await quoted(pool, SAME, source_url="https://second.example/")
    second: asyncio.Task[StoredFact] | None = None
    with pytest.raises(ZeroDivisionError):
        async with storing(others, embedder, await quoted(pool, BRIDGE)):
            second = asyncio.create_task(add(pool, embedder, claim))
            await until_waiting(pool, second)
            raise ZeroDivisionError
    assert second is not None
    assert (await second).is_new
    assert await rows(pool, "select 1 from fact_intents") == []


async def test_who_waits_for_a_writer_that_is_killed_stores_the_fact(
    pool: Pool, others: Pool, embedder: Embedder
) -> None:
    await add(pool, embedder, await quoted(pool, MOON))
    claim = await quoted(pool, SAME, source_url="https://second.example/")
    async with AsyncExitStack() as stack:
        store, _ = await stack.enter_async_context(storing(others, embedder, await quoted(pool, BRIDGE)))
        second = asyncio.create_task(add(pool, embedder, claim))
        await until_waiting(pool, second)
        killed = await store.session.begin()
        await rows(pool, "select pg_terminate_backend(%(pid)s)", pid=killed.info.backend_pid)
        assert (await second).is_new
        await killed.close()
        store.session._connection = None
    assert await rows(pool, "select 1 from fact_intents") == []


async def test_an_intent_of_nobody_holds_nobody_up(pool: Pool, embedder: Embedder) -> None:
    async with Store(Session(pool), embedder) as store:
        claim = await quoted(pool, BRIDGE)
        [vector] = await embedder.embed([SAME])
        await rows(
            pool, ABANDONED, space=store.facts.vectors.space_name, content=SAME, embedding=to_halfvec(vector)
        )
        async with asyncio.timeout(PATIENCE_S):
            assert (await store.facts.add(claim)).is_new
    assert await rows(pool, "select 1 from fact_intents") == []


async def test_two_writers_who_wait_for_the_same_one_do_not_wait_for_each_other(
    pool: Pool, others: Pool, embedder: Embedder
) -> None:
    claim = await quoted(pool, BRIDGE)
    [vector] = await embedder.embed([SAME])
    async with asyncio.timeout(PATIENCE_S), Store(Session(others), embedder) as second:
        args = {"space": second.facts.vectors.space_name, "content": SAME, "embedding": to_halfvec(vector)}
        [first_row] = await rows(pool, ABANDONED, **args)
        [second_row] = await rows(pool, ABANDONED, **args)
        # The second has begun, and has not waited for the first yet, when the third waits for both.
        await second.session.write(intents.SQL["forget"], {"key": second_row["key"]})
        third = asyncio.create_task(add(pool, embedder, claim))
        await until_waiting(pool, third)
        await second.session.write(intents.SQL["wait_for_earlier"], {"ids": [first_row["id"]]})
        assert not third.done()
    assert (await third).is_new
    assert await rows(pool, "select 1 from fact_intents") == []


async def test_a_writer_whose_intent_is_taken_for_nobodys_begins_anew(
    pool: Pool, others: Pool, embedder: Embedder
) -> None:
    async with asyncio.timeout(PATIENCE_S), Store(Session(others), embedder) as excluding:
        await excluding.facts.lock_subject("moon")
        writer = asyncio.create_task(add(pool, embedder, await quoted(pool, BRIDGE)))
        await until_waiting(pool, writer)  # its intent is there, and its transaction has not begun
        assert len(await rows(pool, "delete from fact_intents returning 1")) == 1
        await excluding.session.rollback()
        assert (await writer).is_new
        assert len(await rows(pool, "select 1 from facts")) == 1
    assert await rows(pool, "select 1 from fact_intents") == []


async def test_whoever_has_the_subject_alone_waits_for_all_writers_and_they_wait_for_it(
    pool: Pool, others: Pool, embedder: Embedder
) -> None:
    bridge = await add(pool, embedder, await quoted(pool, BRIDGE))

    async def withdraw_bridge() -> None:
        async with Store(Session(others), embedder) as store:
            await withdraw(store.facts, bridge.fact_id, reason="wrong")

    async with storing(pool, embedder, await quoted(pool, QUARRY)):
        withdrawal = asyncio.create_task(withdraw_bridge())
        await until_waiting(pool, withdrawal)
    await withdrawal
    async with asyncio.timeout(PATIENCE_S), Store(Session(others), embedder) as store:
        await store.facts.lock_subject("moon")
        writer = asyncio.create_task(add(pool, embedder, await quoted(pool, "Kolmi has 12 wells.")))
        await until_waiting(pool, writer)
        await store.session.rollback()
    assert (await writer).is_new


async def test_what_somebody_has_written_who_has_the_subject_alone_is_seen_when_he_commits(
    pool: Pool, others: Pool, embedder: Embedder
) -> None:
    await add(pool, embedder, await quoted(pool, MOON))
    claim = await quoted(pool, SAME, source_url="https://second.example/")
    async with asyncio.timeout(PATIENCE_S), Store(Session(others), embedder) as store:
        await store.facts.lock_subject("moon")
        first = await store.facts.add(await quoted(pool, BRIDGE))
        await store.session.write(SQL("update facts set created_at = created_at - interval '30 seconds'"))
        second = asyncio.create_task(add(pool, embedder, claim))
        await until_waiting(pool, second)
    joined = await second
    assert (joined.is_joined, joined.fact_id) == (True, first.fact_id)


async def test_a_comparison_leaves_the_subject_to_those_who_have_it_alone(
    pool: Pool, others: Pool, embedder: Embedder
) -> None:
    await add(pool, embedder, await quoted(pool, MOON))
    claim = await quoted(pool, BRIDGE)
    async with asyncio.timeout(PATIENCE_S), Store(Session(pool), embedder) as store:
        [vector] = await embedder.embed([BRIDGE])
        table = await store.facts.vectors.ensure()
        await store.facts.matching.compare(claim, vector, table)
        async with Store(Session(others), embedder) as other:
            await other.facts.lock_subject("moon")


async def test_facts_that_are_near_and_unrelated_are_stored_whole(
    pool: Pool, others: Pool, embedder: Embedder
) -> None:
    await add(pool, embedder, await quoted(pool, MOON))
    claim = await quoted(pool, "The Kolmi quarry has 12 wells.")
    async with storing(others, embedder, await quoted(pool, QUARRY)):
        stored = await add(pool, embedder, claim)
    [fact] = await rows(
        pool,
        "select f.status, f.confidence, v.status as vector_status, v.confidence as vector_confidence "
        "from facts f join vectors_1 v on v.fact_id = f.id where f.id = %(id)s",
        id=stored.fact_id,
    )
    assert (stored.is_new, stored.matches) == (True, ())
    assert fact["status"] == fact["vector_status"] == stored.status
    assert fact["confidence"] == fact["vector_confidence"] == pytest.approx(stored.confidence)
    assert await rows(pool, "select 1 from fact_changes") == []


async def test_those_who_wait_for_the_subject_hold_one_connection_together(
    pool: Pool, others: Pool, embedder: Embedder, database_url: str
) -> None:
    claims = [await quoted(pool, f"Well {n} of Kolmi is {n}0 metres deep.") for n in range(2, 6)]
    async with (
        asyncio.timeout(PATIENCE_S),
        open_pool(database_url, size=2) as small,
        Store(Session(others), embedder) as excluding,
    ):
        await excluding.facts.lock_subject("moon")
        writers = [asyncio.create_task(add(small, embedder, claim)) for claim in claims]
        await until_waiting(pool, writers[0])
        elsewhere = await quoted(pool, "The Sun is a star.", subject_id="sun")
        assert (await add(small, embedder, elsewhere)).is_new
        assert (await rows(pool, WAITING))[0]["n"] == 1
        await excluding.session.rollback()
        assert all(fact.is_new for fact in await asyncio.gather(*writers))


async def test_a_second_fact_of_one_transaction_is_held_against_the_first(
    pool: Pool, embedder: Embedder
) -> None:
    claims = [await quoted(pool, BRIDGE), await quoted(pool, SAME, source_url="https://second.example/")]
    async with Store(Session(pool), embedder) as store:
        first, second = [await store.facts.add(claim) for claim in claims]
    assert (second.is_joined, second.fact_id) == (True, first.fact_id)


async def test_a_fact_of_a_retracted_source_counts_for_nothing_at_once(
    pool: Pool, embedder: Embedder
) -> None:
    claim = await quoted(pool, BRIDGE)
    await rows(pool, RETRACTED, url=claim.source_url)
    stored = await add(pool, embedder, claim)
    [row] = await rows(pool, "select status, confidence, ground from facts")
    assert (stored.status, row["status"], row["ground"]) == ("superseded", "superseded", "source retracted")
    assert stored.confidence == pytest.approx(row["confidence"])
