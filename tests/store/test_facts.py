import asyncio
from typing import Any

import pytest
from psycopg.sql import SQL

from chiron_workers.embed import Embedder, Space
from chiron_workers.errors import ToolValidationError
from chiron_workers.ids import new_id
from chiron_workers.states import EventKind, FactStatus
from chiron_workers.store import Session, Store
from chiron_workers.store.connect import Pool
from chiron_workers.store.facts import Claim, Facts, Stored, claim, path
from chiron_workers.store.search import Filters, Search


def said(content: str, **fields: Any) -> Claim:
    given = {
        "subject_id": "moon",
        "source_url": "https://example.org/moon",
        "source_score": 0.9,
        "topic_path": "orbit",
        "confidence": 0.9,
    }
    return claim(content=content, **(given | fields))


async def add(pool: Pool, embedder: Embedder, asked: Claim) -> Stored:
    async with Store(Session(pool), embedder) as store:
        return await store.facts.add(asked)


async def found(pool: Pool, embedder: Embedder, query: str, **fields: Any) -> list[str]:
    limit = fields.pop("limit", 5)
    filters = Filters(**({"subject_id": "moon"} | fields))
    search = Search(Session(pool), embedder)
    return [fact["content"] for fact in await search.find(query, filters=filters, limit=limit)]


async def test_a_fact_is_found_by_its_meaning_best_first(pool: Pool, embedder: Embedder) -> None:
    tides = "The Moon's gravity raises the tides of the sea."
    for content in ("The Moon has no atmosphere to speak of.", tides, "Apollo 11 landed in 1969."):
        await add(pool, embedder, said(content, quote="as it stands"))
    facts = await Search(Session(pool), embedder).find(
        "why does the ocean rise and fall", filters=Filters("Moon"), limit=2
    )
    assert len(facts) == 2
    assert facts[0]["content"] == tides
    assert facts[0]["score"] > facts[1]["score"] > -1
    assert {
        key: facts[0][key]
        for key in ("quote", "source_url", "source_score", "topic_path", "confidence", "status")
    } == {
        "quote": "as it stands",
        "source_url": "https://example.org/moon",
        "source_score": 0.9,
        "topic_path": "orbit",
        "confidence": 0.9,
        "status": "accepted",
    }


async def test_the_same_fact_stored_by_two_at_once_is_stored_once(pool: Pool, embedder: Embedder) -> None:
    results = await asyncio.gather(*(add(pool, embedder, said("The Moon is round.")) for _ in range(4)))
    assert sorted(result.is_new for result in results) == [False, False, False, True]
    assert len({result.fact_id for result in results}) == 1
    assert len(await Session(pool).rows(SQL("select * from vectors_1"))) == 1


async def test_the_same_words_from_another_source_or_subject_are_another_fact(
    pool: Pool, embedder: Embedder
) -> None:
    first = await add(pool, embedder, said("The Moon is round."))
    second = await add(pool, embedder, said("The Moon is round.", source_url="https://other.example"))
    third = await add(pool, embedder, said("The Moon is round.", subject_id="sky"))
    assert len({first.fact_id, second.fact_id, third.fact_id}) == 3


async def test_a_candidate_stays_out_of_sight_until_a_higher_confidence_lifts_it(
    pool: Pool, embedder: Embedder
) -> None:
    words = "The Moon moves away by 3.8 cm a year."
    first = await add(pool, embedder, said(words, confidence=0.7, quote="3.8 cm"))
    assert first.status is FactStatus.CANDIDATE  # not above the threshold of 0.7
    assert await found(pool, embedder, words) == []
    assert await found(pool, embedder, words, candidates=True) == [words]
    lifted = await add(pool, embedder, said(words, confidence=0.85, quote="other words", topic_path="else"))
    assert (lifted.fact_id, lifted.status, lifted.was_lifted) == (first.fact_id, FactStatus.ACCEPTED, True)
    assert await found(pool, embedder, words, min_confidence=0.85) == [words]
    assert await found(pool, embedder, words, min_confidence=0.86) == []
    row = await Session(pool).row(SQL("select quote, topic_path, confidence, status from facts"))
    assert row == {"quote": "3.8 cm", "topic_path": "orbit", "confidence": 0.85, "status": "accepted"}
    changes = await Session(pool).rows(SQL("select fact_id::text, confidence, status from fact_changes"))
    assert changes == [{"fact_id": first.fact_id, "confidence": 0.7, "status": "candidate"}]


async def test_a_lower_confidence_given_again_changes_nothing(pool: Pool, embedder: Embedder) -> None:
    await add(pool, embedder, said("The Moon is round.", confidence=0.9))
    again = await add(pool, embedder, said("The Moon is round.", confidence=0.2))
    assert (again.status, again.is_new, again.was_lifted) == (FactStatus.ACCEPTED, False, False)
    assert await Session(pool).rows(SQL("select * from fact_changes")) == []


async def test_a_withdrawn_fact_stays_withdrawn(pool: Pool, embedder: Embedder) -> None:
    stored = await add(pool, embedder, said("The Moon is cheese.", confidence=0.8))
    async with Session(pool) as session:
        await session.write(SQL("update facts set status = 'withdrawn'"))
        await Facts(session, embedder).vectors.follow(stored.fact_id)
    again = await add(pool, embedder, said("The Moon is cheese.", confidence=1.0))
    assert again.status is FactStatus.WITHDRAWN
    assert await found(pool, embedder, "cheese", candidates=True) == []


async def test_a_new_fact_is_told_to_watchers_and_a_known_one_is_not(pool: Pool, embedder: Embedder) -> None:
    session = Session(pool)
    store = Store(session, embedder)
    stored = await store.facts.add(said("The Moon is round.", confidence=0.5))
    await store.facts.add(said("The Moon is round.", confidence=0.5))
    event = {
        "fact_id": stored.fact_id,
        "content": "The Moon is round.",
        "source_url": "https://example.org/moon",
        "confidence": 0.5,
        "topic_path": "orbit",
        "status": "candidate",
    }
    assert session.pending == [(EventKind.FACT_STORED, event)]
    await session.rollback()
    assert await Session(pool).rows(SQL("select * from facts")) == []


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
    await add(pool, embedder, said("The Moon is round."))
    others = Search(Session(pool), OtherModel())
    assert await others.find("Moon", filters=Filters("moon"), limit=5) == []
    assert [await others.unembedded("moon"), await others.unembedded("mars"), await others.unembedded()] == [
        1,
        0,
        1,
    ]
    await add(pool, OtherModel(), said("The Moon is grey."))
    assert await found(pool, OtherModel(), "Moon") == ["The Moon is grey."]
    assert await found(pool, embedder, "Moon", subject_id=None) == ["The Moon is round."]
    assert await Search(Session(pool), embedder).unembedded("moon") == 1


async def test_a_change_reaches_the_vectors_of_every_model(pool: Pool, embedder: Embedder) -> None:
    words = "The Moon is round."
    await add(pool, embedder, said(words, confidence=0.3))
    await add(pool, OtherModel(), said(words, confidence=0.9))
    assert await found(pool, embedder, words) == [words]
    assert await found(pool, OtherModel(), words) == [words]


async def test_contradictions_are_ids_of_facts_or_statements(pool: Pool, embedder: Embedder) -> None:
    first = await add(pool, embedder, said("The Moon is round."))
    others = [first.fact_id, "Some say it is flat."]
    second = await add(pool, embedder, said("The Moon is a disc.", contradictions=others))
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
