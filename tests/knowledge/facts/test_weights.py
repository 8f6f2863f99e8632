"""Which facts are shown, by what is stored for and against them."""

import hashlib
import tracemalloc
from typing import Any
from uuid import UUID

import pytest
import zstandard
from psycopg.sql import SQL
from support.verified_quotes import quoted

from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.knowledge.facts.additions import StoredFact
from chiron_workers.knowledge.facts.confidences import SKETCH_BATCH, Confidences, ensure_sketches
from chiron_workers.knowledge.facts.fact_details import load_details
from chiron_workers.knowledge.facts.links import Link
from chiron_workers.knowledge.facts.quote_rechecks import recheck
from chiron_workers.knowledge.facts.withdrawals import withdraw
from chiron_workers.runs.session import Session
from chiron_workers.states import Decider, FactStatus, Relation
from chiron_workers.store import Store

CRUST = "The Moon's crust is 50 km thick on average."
OTHER_CRUST = "The Moon's crust is 34 km thick on average."
ACCEPTED, DISPUTED, CANDIDATE = FactStatus.ACCEPTED, FactStatus.DISPUTED, FactStatus.CANDIDATE


async def add(pool: Pool, embedder: Embedder, content: str, *scores: float, site: str) -> StoredFact:
    """Store a statement once for each score, from a site of its own; the last answer."""
    for n, score in enumerate(scores):
        source_url = f"https://{site}{n}.org/"
        claim = await quoted(pool, content, source_url=source_url, source_score=score)
        async with Store(Session(pool), embedder) as store:
            fact = await store.facts.add(claim)
    return fact


async def statuses(pool: Pool) -> dict[str, str]:
    rows = await Session(pool).rows(SQL("select content, status from facts"))
    return {row["content"]: row["status"] for row in rows}


async def change(pool: Pool, statement: str, **args: Any) -> None:
    async with pool.connection() as connection:
        await connection.execute(SQL(statement), args)


async def test_ten_independent_sources_of_little_trust_carry_a_fact(pool: Pool, embedder: Embedder) -> None:
    first = await add(pool, embedder, CRUST, 0.6, site="a")
    assert first.status is CANDIDATE
    second = await add(pool, embedder, CRUST, 0.6, site="b")
    assert (second.status, second.is_lifted) == (ACCEPTED, True)
    tenth = await add(pool, embedder, CRUST, *[0.6] * 8, site="c")
    assert (tenth.fact_id, tenth.status, round(tenth.confidence, 4)) == (first.fact_id, ACCEPTED, 0.6)
    fact = await load_details(Session(pool), UUID(first.fact_id))
    assert (fact.weight_for, fact.weight_against) == (pytest.approx(1 - 0.4**10, abs=1e-6), 0)


async def test_origins_are_counted_as_confidences_have_them(pool: Pool, embedder: Embedder) -> None:
    facts = [
        await add(pool, embedder, CRUST, 0.6, site="alone"),
        await add(pool, embedder, "Io has 400 active volcanoes.", 0.6, 0.7, 0.8, site="several"),
        await add(pool, embedder, "Titan has lakes of methane.", 0.6, 0.7, site="one.example.org/"),
    ]
    confidences = Confidences(Session(pool))
    fact_ids = [fact.fact_id for fact in facts]
    expected = {
        fact_id: len(confidence.support) for fact_id, confidence in (await confidences.of(fact_ids)).items()
    }
    assert await confidences.origin_counts(fact_ids) == expected
    assert list(expected.values()) == [1, 3, 1]


async def test_a_post_does_not_dispute_a_paper_and_two_papers_dispute_each_other(
    pool: Pool, embedder: Embedder
) -> None:
    await add(pool, embedder, CRUST, 0.95, site="paper")
    await add(pool, embedder, OTHER_CRUST, 0.2, site="post")
    assert await statuses(pool) == {CRUST: ACCEPTED, OTHER_CRUST: CANDIDATE}
    await add(pool, embedder, OTHER_CRUST, 0.9, site="otherpaper")
    assert await statuses(pool) == {CRUST: DISPUTED, OTHER_CRUST: DISPUTED}
    await add(pool, embedder, CRUST, 0.9, site="thirdpaper")
    assert await statuses(pool) == {CRUST: ACCEPTED, OTHER_CRUST: DISPUTED}


async def test_two_facts_that_contradict_each_other_have_the_same_two_sides(
    pool: Pool, embedder: Embedder
) -> None:
    """What supports one of them counts against the other as well, or each would be accepted by its own supporters."""
    first = await add(pool, embedder, CRUST, 0.75, site="a")
    second = await add(pool, embedder, OTHER_CRUST, 0.75, site="b")
    supporters = [
        await add(pool, embedder, words, 0.9, site=site)
        for words, site in (
            ("Seismometers timed moonquakes.", "c"),
            ("Gravity maps of 2012 are precise.", "d"),
        )
    ]
    async with Store(Session(pool), embedder) as store:
        for supporter, fact in zip(supporters, (first, second), strict=True):
            link = Link(supporter.fact_id, fact.fact_id, Relation.SUPPORTS, "It says so.", Decider.MODEL)
            await store.facts.links.add(link)
            await store.facts.recompute_with_partners(supporter.fact_id, "linked")
    details = [await load_details(Session(pool), UUID(fact.fact_id)) for fact in (first, second)]
    assert [fact.status for fact in details] == [DISPUTED, DISPUTED]
    assert {(fact.weight_for, fact.weight_against) for fact in details} == {(0.975, 0.975)}
    async with Store(Session(pool), embedder) as store:
        await withdraw(store.facts, supporters[1].fact_id, reason="misread")
    shown = await statuses(pool)
    assert (shown[CRUST], shown[OTHER_CRUST]) == (ACCEPTED, DISPUTED)


async def test_a_status_of_an_earlier_version_stays_until_it_is_computed_anew(
    pool: Pool, embedder: Embedder
) -> None:
    fact = await add(pool, embedder, CRUST, 0.6, 0.6, site="a")
    await change(pool, "update facts set status = 'candidate'")
    details = await load_details(Session(pool), UUID(fact.fact_id))
    assert details.explanation[-2:] == (
        "so it is accepted: 0.84 is above 0.7",
        "it was candidate when it last changed; recomputing all confidences makes it accepted",
    )
    async with Store(Session(pool), embedder) as store:
        counts, _ = await recheck(store.facts, subject_id="moon")
    assert (counts.facts, counts.changed, counts.statuses) == (1, 1, 1)
    assert await statuses(pool) == {CRUST: ACCEPTED}
    async with Store(Session(pool), embedder) as store:
        counts, _ = await recheck(store.facts, subject_id="moon")
    assert (counts.facts, counts.changed, counts.statuses) == (1, 0, 0)


async def test_the_texts_of_linked_facts_are_compared_too_where_a_version_before_stored_them(
    pool: Pool, embedder: Embedder
) -> None:
    first = await add(pool, embedder, CRUST, 0.9, site="a")
    release = " ".join(f"word{n}" for n in range(60))
    for n in range(2):
        claim = await quoted(
            pool, OTHER_CRUST, page=release, source_url=f"https://copy{n}.org/", source_score=0.6
        )
        async with Store(Session(pool), embedder) as store:
            await store.facts.add(claim)
    await change(pool, "update snapshots set sketch = null, studies = null")
    async with Store(Session(pool), embedder) as store:
        await store.facts.recompute([first.fact_id], reason="computed anew")
    confidence = (await Confidences(Session(pool)).of([first.fact_id]))[first.fact_id]
    [origin] = confidence.opposition
    assert (len(origin.urls), origin.ties) == (2, ("the same text",))


async def keep_texts(pool: Pool, texts: list[str]) -> list[str]:
    """Store texts as an earlier version did, which did not look for copies; their hashes."""
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    await change(
        pool,
        "insert into snapshots (hash, body, chars, content_type)"
        " select *, 1, 'text/plain' from unnest(%(hashes)s::text[], %(bodies)s::bytea[])",
        hashes=hashes,
        bodies=[zstandard.compress(text.encode()) for text in texts],
    )
    return hashes


@pytest.mark.parametrize("count", [SKETCH_BATCH, 2 * SKETCH_BATCH + 1])
async def test_what_tells_copies_apart_is_stored_of_all_texts_batch_by_batch(pool: Pool, count: int) -> None:
    hashes = await keep_texts(pool, [f"The {n} tides of the Moon." for n in range(count)])
    async with Session(pool) as session:
        await ensure_sketches(session, facts=[], snapshots=hashes)
    # What a transaction has stored has its number: each batch is one of its own.
    [row] = await Session(pool).rows(
        "select count(sketch) as sketches, count(distinct xmin::text) as batches from snapshots"
    )
    assert (row["sketches"], row["batches"]) == (count, -(-count // SKETCH_BATCH))


async def test_large_texts_are_looked_at_one_by_one(pool: Pool) -> None:
    chars = 4_000_000
    hashes = await keep_texts(pool, [f"Tide {n}.{' ' * chars}" for n in range(6)])
    tracemalloc.start()
    try:
        async with Session(pool) as session:
            await ensure_sketches(session, facts=[], snapshots=hashes)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak_bytes < 4 * chars
