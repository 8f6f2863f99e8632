from psycopg.sql import SQL
from support.verified_quotes import page_read, quoted, said

from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.knowledge.facts.quote_rechecks import FIRST, RecheckCounts, StatusChange, recheck
from chiron_workers.runs.session import Session
from chiron_workers.states import FactStatus
from chiron_workers.store import Store


async def rechecked(pool: Pool, embedder: Embedder, subject_id: str = "moon") -> RecheckCounts:
    done, after = RecheckCounts(), FIRST
    while after is not None:
        async with Store(Session(pool), embedder) as store:
            page, after = await recheck(store.facts, subject_id=subject_id, after=after)
        done += page
    return done


async def test_quotes_of_a_version_that_did_not_verify_them_are_looked_for(
    pool: Pool, embedder: Embedder
) -> None:
    await page_read(pool, "https://example.org/moon", "It is old. The Moon has 3 seas, we think. Yes.")
    async with Store(Session(pool), embedder) as store:
        first = await store.facts.add(said("The Moon has 3 seas.", quote="The Moon has 3 seas"))
        await store.facts.add(said("The Moon has no air.", quote="no air at all"))
        await store.facts.add(said("The Moon is grey."))
        await store.facts.add(
            await quoted(pool, "The Sun is a star.", subject_id="sun", source_url="https://sun.org/")
        )
    status_change = StatusChange(
        first.fact_id, "moon", "The Moon has 3 seas.", FactStatus.CANDIDATE, FactStatus.ACCEPTED
    )
    assert await rechecked(pool, embedder) == RecheckCounts(
        facts=3, verified=1, changed=1, statuses=1, status_changes=(status_change,)
    )
    row = await Session(pool).row(
        SQL("select quote, context, quote_state, confidence, status from facts where id = %(id)s"),
        {"id": first.fact_id},
    )
    assert row == {
        "quote": "The Moon has 3 seas, we think.",
        "context": "It is old.",
        "quote_state": "verified",
        "confidence": 0.9,
        "status": "accepted",
    }
    assert await rechecked(pool, embedder) == RecheckCounts(facts=3, verified=0, changed=0)
