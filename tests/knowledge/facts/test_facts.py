import asyncio
from dataclasses import replace
from typing import Any

import pytest
from psycopg.sql import SQL
from support.verified_quotes import page_read, quoted, said

from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder, Space
from chiron_workers.errors import NotFound, ToolValidationError
from chiron_workers.ids import new_id
from chiron_workers.knowledge.facts.additions import StoredFact
from chiron_workers.knowledge.facts.claims import Claim, Place, path
from chiron_workers.knowledge.facts.withdrawals import reinstate, withdraw
from chiron_workers.knowledge.search.filters import Filters
from chiron_workers.knowledge.search.search import Search
from chiron_workers.runs.session import Session
from chiron_workers.states import EventKind, FactStatus, Relation, SearchMode
from chiron_workers.store import Store


async def add(pool: Pool, embedder: Embedder, asked: Claim) -> StoredFact:
    async with Store(Session(pool), embedder) as store:
        return await store.facts.add(asked)


async def found(pool: Pool, embedder: Embedder, query: str, **fields: Any) -> list[str]:
    limit = fields.pop("limit", 5)
    filters = Filters(**({"subject_id": "moon"} | fields))
    search = Search(Session(pool), embedder)
    return [fact["content"] for fact in await search.find(query, filters=filters, limit=limit)]


async def rows(pool: Pool, query: str) -> list[dict[str, Any]]:
    return await Session(pool).rows(SQL(query))


async def test_a_fact_is_found_by_its_meaning_best_first(pool: Pool, embedder: Embedder) -> None:
    tides = "The Moon's gravity raises the tides of the sea."
    for content in ("The Moon has no atmosphere to speak of.", tides, "Apollo 11 landed in 1969."):
        await add(pool, embedder, await quoted(pool, content))
    facts = await Search(Session(pool), embedder).find(
        "why does the ocean rise and fall", filters=Filters("Moon"), limit=2
    )
    assert len(facts) == 2
    assert facts[0]["content"] == facts[0]["quote"] == tides
    assert facts[0]["score"] > facts[1]["score"] > -1
    assert {
        key: facts[0][key] for key in ("source_url", "source_score", "topic_path", "confidence", "status")
    } == {
        "source_url": "https://example.org/moon",
        "source_score": 0.9,
        "topic_path": "orbit",
        "confidence": 0.9,
        "status": "accepted",
    }


async def test_the_same_fact_stored_by_many_at_once_is_stored_once(pool: Pool, embedder: Embedder) -> None:
    claims = [
        await quoted(pool, "The Moon is round.", source_url=f"https://site{n}.org/", page=f"On page {n}.")
        for n in range(4)
    ]
    results = await asyncio.gather(*(add(pool, embedder, claims[n % 4]) for n in range(8)))
    assert sum(result.is_new for result in results) == 1
    assert sum(result.is_joined for result in results) == 3
    assert len({result.fact_id for result in results}) == 1
    assert len(await rows(pool, "select * from vectors_1")) == 1
    assert len(await rows(pool, "select * from assertions")) == 4


async def test_the_same_words_in_another_subject_are_another_fact(pool: Pool, embedder: Embedder) -> None:
    first = await add(pool, embedder, await quoted(pool, "The Moon is round."))
    second = await add(pool, embedder, await quoted(pool, "The Moon is round.", subject_id="sky"))
    assert first.fact_id != second.fact_id


async def test_a_second_origin_joins_the_fact_and_lifts_it(pool: Pool, embedder: Embedder) -> None:
    words = "The Moon moves away by 3.8 cm a year."
    first = await add(pool, embedder, await quoted(pool, words, source_score=0.6))
    assert (first.status, first.confidence) == (FactStatus.CANDIDATE, 0.6)
    assert await found(pool, embedder, words) == []
    assert await found(pool, embedder, words, candidates=True) == [words]
    other = await quoted(
        pool,
        "The Moon moves away by 3.8 centimetres a year.",
        source_url="https://other.net/",
        topic_path="else",
        confidence=0.4,
    )
    lifted = await add(pool, embedder, other)
    assert (lifted.fact_id, lifted.is_joined, lifted.is_lifted) == (first.fact_id, True, True)
    assert (lifted.status, lifted.confidence) == (FactStatus.ACCEPTED, 0.75)
    assert await found(pool, embedder, words, min_confidence=0.75) == [words]
    assert await found(pool, embedder, words, min_confidence=0.76) == []
    [row] = await rows(
        pool, "select content, quote, topic_path, confidence, claimed_confidence, status from facts"
    )
    assert row == {
        "content": words,
        "quote": words,
        "topic_path": "orbit",
        "confidence": 0.75,
        "claimed_confidence": 0.9,
        "status": "accepted",
    }
    assert await rows(pool, "select confidence, status, reason from fact_changes") == [
        {"confidence": 0.6, "status": "candidate", "reason": "also in https://other.net/"}
    ]
    [second] = await rows(pool, "select content, source_url, claimed_confidence from corroborations")
    assert second == {
        "content": other.content,
        "source_url": "https://other.net/",
        "claimed_confidence": 0.4,
    }


async def test_a_copy_of_the_text_is_no_second_origin(pool: Pool, embedder: Embedder) -> None:
    words = "The Moon moves away by 3.8 cm a year."
    page = " ".join(f"Word {n} of the agency's article." for n in range(200))
    await add(pool, embedder, await quoted(pool, words, page=page, source_score=0.6))
    copied = await quoted(
        pool, words, page=page + " More.", source_url="https://paper.net/", source_score=0.5
    )
    again = await add(pool, embedder, copied)
    assert (again.is_joined, again.status, again.confidence) == (True, FactStatus.CANDIDATE, 0.6)


async def test_a_fact_without_a_quote_is_held_down_until_one_is_verified(
    pool: Pool, embedder: Embedder
) -> None:
    words = "The Moon is round."
    first = await add(pool, embedder, said(words, confidence=1.0))
    assert (first.status, first.confidence) == (FactStatus.CANDIDATE, 0.5)
    again = await add(pool, embedder, said(words, confidence=0.2))
    assert (again.is_new, again.is_joined, again.fact_id) == (False, False, first.fact_id)
    assert await rows(pool, "select * from fact_changes") == []
    verified = await add(pool, embedder, await quoted(pool, words))
    assert (verified.is_joined, verified.status, verified.confidence) == (True, FactStatus.ACCEPTED, 0.9)


async def test_both_sides_of_a_contradiction_stay_linked_and_count(pool: Pool, embedder: Embedder) -> None:
    first = await add(pool, embedder, await quoted(pool, "The Moon's crust is 50 km thick on average."))
    said_otherwise = await quoted(
        pool, "The Moon's crust is 34 km thick on average.", source_url="https://other.net/", source_score=0.8
    )
    second = await add(pool, embedder, said_otherwise)
    assert second.is_new
    assert [(one.fact_id, one.relation) for one in second.matches] == [(first.fact_id, Relation.CONTRADICTS)]
    assert await rows(pool, "select confidence, status from facts order by id") == [
        {"confidence": 0.45, "status": "disputed"},
        {"confidence": 0.4, "status": "disputed"},
    ]
    assert await rows(pool, "select status, confidence from vectors_1 order by fact_id") == [
        {"confidence": 0.45, "status": "disputed"},
        {"confidence": 0.4, "status": "disputed"},
    ]
    [change] = await rows(pool, "select fact_id::text, confidence, status, reason from fact_changes")
    assert change == {
        "fact_id": first.fact_id,
        "confidence": 0.9,
        "status": "accepted",
        "reason": f"held against the new fact {second.fact_id}",
    }


async def test_a_withdrawn_fact_counts_for_nothing_and_stays_withdrawn(
    pool: Pool, embedder: Embedder
) -> None:
    await add(pool, embedder, await quoted(pool, "The Moon's crust is 50 km thick on average."))
    wrong = await quoted(pool, "The Moon's crust is 34 km thick on average.", source_url="https://other.net/")
    second = await add(pool, embedder, wrong)
    async with Store(Session(pool), embedder) as store:
        assert await withdraw(store.facts, second.fact_id, reason="misread") is FactStatus.DISPUTED
        assert await withdraw(store.facts, second.fact_id, reason="twice") is FactStatus.WITHDRAWN
    assert await rows(pool, "select confidence, status from facts order by id") == [
        {"confidence": 0.9, "status": "accepted"},
        {"confidence": 0.45, "status": "withdrawn"},
    ]
    third = await quoted(pool, wrong.content, source_url="https://third.net/")
    again = await add(pool, embedder, third)
    assert (again.fact_id, again.status) == (second.fact_id, FactStatus.WITHDRAWN)
    assert await found(pool, embedder, "crust", candidates=True) == [
        "The Moon's crust is 50 km thick on average."
    ]
    async with Store(Session(pool), embedder) as store:
        await reinstate(store.facts, second.fact_id, reason="it was right")
    assert await rows(
        pool, "select round(confidence::numeric, 2)::float8 as c, status from facts order by id"
    ) == [
        {"c": 0.3, "status": "disputed"},
        {"c": 0.6, "status": "accepted"},
    ]
    assert [row["reason"] for row in await rows(pool, "select reason from fact_changes order by id")] == [
        f"held against the new fact {second.fact_id}",
        "withdrawn: misread",
        f"fact {second.fact_id} was withdrawn",
        "brought back: it was right",
        f"fact {second.fact_id} was brought back",
    ]
    with pytest.raises(NotFound, match="There is no fact"):
        async with Store(Session(pool), embedder) as store:
            await withdraw(store.facts, str(new_id()), reason="")


async def test_what_one_text_says_side_by_side_is_no_contradiction_by_rule(
    pool: Pool, embedder: Embedder
) -> None:
    octal, decimal = "Outputs the number in base 8.", "Outputs the number in base 10."
    text = f"o: Octal format. {octal} d: Decimal integer. {decimal}"
    snapshot = await page_read(pool, "https://example.org/format", text)

    def in_text(words: str) -> Claim:
        start = text.index(words)
        asked = said(words, source_url="https://example.org/format", quote=words)
        return replace(asked, place=Place(snapshot, start, start + len(words)))

    for words in (octal, decimal):
        await add(pool, embedder, in_text(words))
    assert await rows(pool, "select * from fact_links") == []
    other = await add(pool, embedder, await quoted(pool, "Outputs the number in base 16."))
    assert Relation.CONTRADICTS in {match.relation for match in other.matches}


async def test_what_joins_a_fact_still_says_what_it_contradicts(pool: Pool, embedder: Embedder) -> None:
    first = await add(pool, embedder, await quoted(pool, "The Moon formed from a giant impact."))
    other = await quoted(pool, "The Moon was captured whole.", source_url="https://other.net/")
    second = await add(pool, embedder, other)
    again = await quoted(
        pool,
        "The Moon formed from a giant impact.",
        source_url="https://third.org/",
        contradictions=[second.fact_id, "Some say it split off."],
    )
    joined = await add(pool, embedder, again)
    assert (joined.fact_id, joined.is_joined) == (first.fact_id, True)
    assert await rows(pool, "select fact_id::text, other_id::text, relation, decided_by from fact_links") == [
        {
            "fact_id": first.fact_id,
            "other_id": second.fact_id,
            "relation": "contradicts",
            "decided_by": "agent",
        }
    ]
    [noted] = await rows(pool, "select contradictions from facts where run_id is null order by id limit 1")
    assert noted["contradictions"] == [second.fact_id, "Some say it split off."]
    assert joined.confidence == pytest.approx(0.6)


async def test_of_the_statements_against_a_fact_the_first_80_are_noted_each_once(
    pool: Pool, embedder: Embedder
) -> None:
    statements = [f"Some say {n}." for n in range(100)]
    for start in range(0, 100, 15):
        news = statements[start : start + 15]
        against = [*news, news[0], *statements[:4]]
        await add(pool, embedder, said("The Moon is round.", contradictions=against))
    [noted] = await rows(pool, "select contradictions from facts")
    assert noted["contradictions"] == statements[:80]


async def test_a_fact_of_another_subject_cannot_be_disputed(pool: Pool, embedder: Embedder) -> None:
    sky = await add(pool, embedder, await quoted(pool, "The sky is blue.", subject_id="sky"))
    with pytest.raises(ToolValidationError, match="is of the subject 'sky' and not of 'moon'"):
        await add(pool, embedder, said("The Moon is blue.", contradictions=[sky.fact_id]))


async def test_a_fact_with_very_many_sources_is_still_stored(pool: Pool, embedder: Embedder) -> None:
    first = await add(pool, embedder, await quoted(pool, "The Moon is round."))
    await rows(
        pool,
        "insert into corroborations (id, fact_id, content, quote_state, source_url, source_score, claimed_confidence)"
        " select gen_random_uuid(), id, content, 'unverified', 'https://s' || n || '.org/', 0.5, 0.5"
        " from facts, generate_series(1, 2000) n returning id",
    )
    again = await add(pool, embedder, await quoted(pool, "The Moon is round.", source_url="https://b.org/"))
    assert (again.fact_id, again.confidence) == (first.fact_id, 0.9)


async def test_computing_anew_changes_nothing_that_is_right(pool: Pool, embedder: Embedder) -> None:
    first = await add(pool, embedder, await quoted(pool, "The Moon's crust is 50 km thick on average."))
    other = await quoted(pool, "The Moon's crust is 34 km thick on average.", source_url="https://other.net/")
    second = await add(pool, embedder, other)
    before = await rows(pool, "select id, confidence, status from facts order by id")
    await rows(pool, "update facts set confidence = 1, status = 'accepted' returning id")
    async with Store(Session(pool), embedder) as store:
        await store.facts.recompute([first.fact_id, second.fact_id], reason="computed anew")
    assert await rows(pool, "select id, confidence, status from facts order by id") == before


async def test_a_new_fact_is_told_to_watchers_and_a_known_one_is_not(pool: Pool, embedder: Embedder) -> None:
    session = Session(pool)
    store = Store(session, embedder)
    stored = await store.facts.add(said("The Moon is round."))
    await store.facts.add(said("The Moon is round."))
    event = {
        "fact_id": stored.fact_id,
        "content": "The Moon is round.",
        "source_url": "https://example.org/moon",
        "confidence": 0.5,
        "topic_path": "orbit",
        "status": "candidate",
        "quote_state": "unverified",
        "verdict": "unchecked",
        "contradicts": [],
    }
    assert session.pending == [(EventKind.FACT_STORED, event)]
    await session.rollback()
    assert await rows(pool, "select * from facts") == []


class OtherModel:
    """A real embedder of another space: one number for each of three letters."""

    space = Space("letters", "1", 3)

    async def embed(self, texts: Any, *, query: bool = False) -> list[list[float]]:
        return [[1.0 + text.count(letter) for letter in "aeo"] for text in texts]

    async def close(self) -> None:
        pass


async def test_facts_of_another_embedding_model_are_never_mixed_in_but_counted(
    pool: Pool, embedder: Embedder
) -> None:
    await add(pool, embedder, await quoted(pool, "The Moon is round."))
    others = Search(Session(pool), OtherModel())
    assert await others.find("Moon", filters=Filters("moon"), limit=5, mode=SearchMode.VECTOR) == []
    assert [await others.unembedded("moon"), await others.unembedded("mars"), await others.unembedded()] == [
        1,
        0,
        1,
    ]
    await add(pool, OtherModel(), await quoted(pool, "The Moon is grey."))
    for one, words in ((OtherModel(), "The Moon is grey."), (embedder, "The Moon is round.")):
        [near] = await Search(Session(pool), one).find(
            "Moon", filters=Filters(), limit=5, mode=SearchMode.VECTOR
        )
        assert near["content"] == words
    assert await Search(Session(pool), embedder).unembedded("moon") == 1


async def test_a_change_reaches_the_vectors_of_every_model(pool: Pool, embedder: Embedder) -> None:
    words = "The Moon is round."
    await add(pool, embedder, said(words))
    await add(pool, OtherModel(), await quoted(pool, words))
    assert await found(pool, embedder, words) == [words]
    assert await found(pool, OtherModel(), words) == [words]


async def test_contradictions_are_ids_of_facts_or_statements(pool: Pool, embedder: Embedder) -> None:
    first = await add(pool, embedder, said("The Moon is round."))
    others = [first.fact_id, "Some say it is flat."]
    second = await add(pool, embedder, said("The Moon is a disc.", contradictions=others))
    assert await rows(pool, "select fact_id::text, other_id::text, relation, decided_by from fact_links") == [
        {
            "fact_id": second.fact_id,
            "other_id": first.fact_id,
            "relation": "contradicts",
            "decided_by": "agent",
        }
    ]
    row = await Session(pool).row(
        SQL("select contradictions from facts where id = %(id)s"), {"id": second.fact_id}
    )
    assert row == {"contradictions": others}
    with pytest.raises(ToolValidationError, match="contradictions: no fact has the id"):
        await add(pool, embedder, said("The Moon is a cube.", contradictions=[str(new_id())]))


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"content": "  "}, "content: must not be empty"),
        ({"content": "x" * 4_001}, "content: must have at most 4,000 characters"),
        ({"content": "a\0b"}, "content: must be plain text"),
        ({"content": "a\ud800b"}, "content: must be plain text"),
        ({"content": "x", "confidence": 1.2}, "confidence: must be between 0 and 1"),
        ({"content": "x", "source_score": float("nan")}, "source_score: must be between 0 and 1"),
        ({"content": "x", "topic_path": " / /"}, "topic_path: must be a path"),
        ({"content": "x", "source_url": ""}, "source_url: must not be empty"),
        ({"content": "x", "subject_id": "!"}, "subject_id: must be a name"),
        ({"content": "x", "contradictions": ["y"] * 21}, "contradictions: must have at most 20 entries"),
    ],
)
def test_a_claim_that_cannot_be_stored_is_refused_by_the_name_of_its_field(
    fields: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ToolValidationError, match=problem):
        said(**fields)


def test_a_topic_path_has_one_form() -> None:
    assert path(" Python // data  model/") == "Python/data model"


async def test_a_search_is_bounded(pool: Pool, embedder: Embedder) -> None:
    for wrong in (0, 101):
        with pytest.raises(ToolValidationError, match="top_k: must be between 1 and 100"):
            await found(pool, embedder, "Moon", limit=wrong)
    with pytest.raises(ToolValidationError, match="query: must not be empty"):
        await found(pool, embedder, " ")
