"""A fact says when its source was read, and since and until when it is so."""

from typing import Any

from chiron_api.cli.display.fact import fact_lines
from chiron_workers.db.connect import Pool
from chiron_workers.db.validation import parse_id
from chiron_workers.embeddings import Embedder
from chiron_workers.knowledge.facts.fact_details import load_details
from chiron_workers.knowledge.search.filters import Filters
from chiron_workers.runs.session import Session
from chiron_workers.sources.sources import Page, Sources
from chiron_workers.store import Store
from chiron_workers.tools.knowledge import store_knowledge

URL = "https://example.org/rate"
LED = "She led the ministry from May 2010 to 2015."
AGREED = "As of March 2024 the rate is 5 %."


async def stored(pool: Pool, embedder: Embedder, content: str, quote: str) -> dict[str, Any]:
    async with Store(Session(pool), embedder) as store:
        return await store_knowledge(
            store, content=content, quote=quote, subject_id="rates", source_url=URL, source_score=0.9,
            topic_path="a/b", confidence=0.9,
        )  # fmt: skip


async def test_a_fact_keeps_when_its_source_was_read_and_when_it_is_so(
    pool: Pool, embedder: Embedder
) -> None:
    async with Session(pool) as session:
        await Sources(session).save(Page(URL, f"{LED} {AGREED}", "text/plain"))
        snapshot = await Sources(session).latest(URL)
    assert snapshot
    receipt = await stored(pool, embedder, LED, LED)
    assert (receipt["valid_from"], receipt["valid_until"]) == ("2010-05", "2015")
    assert "valid_until" not in await stored(pool, embedder, AGREED, AGREED)
    fact = await load_details(Session(pool), parse_id(receipt["fact_id"], field="id"))
    own = fact.assertions[0]
    assert (own.observed_at, own.valid_from, own.valid_until) == (snapshot.fetched_at, "2010-05", "2015")
    assert "  valid from 2010-05 until 2015" in list(fact_lines(fact))
    async with Store(Session(pool), embedder) as store:
        found = await store.search.find("rate", filters=Filters("rates"), limit=5)
    spans = {one["content"]: (one["valid_from"], one["valid_until"]) for one in found}
    assert spans == {LED: ("2010-05", "2015"), AGREED: ("2024-03", None)}
    assert {one["observed_at"] for one in found} == {f"{snapshot.fetched_at:%Y-%m-%dT%H:%M:%S}Z"}


async def test_an_agent_is_not_believed_that_what_is_over_contradicts_what_came_later(
    pool: Pool, embedder: Embedder
) -> None:
    now = "Since 2016 Jones has led the ministry."
    async with Session(pool) as session:
        await Sources(session).save(Page(URL, f"{LED} {now}", "text/plain"))
    first = await stored(pool, embedder, LED, LED)
    async with Store(Session(pool), embedder) as store:
        await store_knowledge(
            store, content=now, quote=now, subject_id="rates", source_url=URL, source_score=0.9,
            topic_path="a/b", confidence=0.9, contradictions=[first["fact_id"]],
        )  # fmt: skip
    fact = await load_details(Session(pool), parse_id(first["fact_id"], field="id"))
    assert (fact.related, fact.status) == ((), "accepted")
