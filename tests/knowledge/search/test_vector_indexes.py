import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from chiron_workers import duty_failures
from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Space
from chiron_workers.ids import new_id
from chiron_workers.knowledge.search.filters import Filters
from chiron_workers.knowledge.search.search import Search
from chiron_workers.knowledge.search.vector_indexes import (
    VectorIndex,
    _IndexBuilder,
    find_index,
    maintain_indexes,
)
from chiron_workers.knowledge.search.vectors import Vectors, halfvec_text
from chiron_workers.runs.session import Session
from chiron_workers.states import SearchMode

DIMENSIONS = 32
LARGE, SMALL = 3_000, 500
SEED = 11


class Given:
    """An embedder of a space of its own, whose queries are vectors written out."""

    space = Space("given", "1", DIMENSIONS)

    async def embed(self, texts: Any, *, query: bool = False) -> list[list[float]]:
        return [[float(value) for value in text.split()] for text in texts]

    async def close(self) -> None:
        pass


def made(count: int, seed: int) -> Any:
    """Unit vectors in 50 clusters."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(SEED).normal(size=(50, DIMENSIONS))
    found = centres[random.integers(0, 50, size=count)] + random.normal(size=(count, DIMENSIONS)) * 0.4
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float16)


def fill(database_url: str, subject: str, vectors: Any) -> list[UUID]:
    ids = [new_id() for _ in vectors]
    with psycopg.connect(database_url, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(
            "insert into subjects (id, title) values (%(s)s, %(s)s) on conflict do nothing", {"s": subject}
        )
        columns = "id, subject_id, status, confidence, content, source_url, source_score, topic_path"
        with cursor.copy(f"copy facts ({columns}) from stdin") as copy:
            for fact_id in ids:
                copy.write_row(
                    (fact_id, subject, "accepted", 1, f"Fact {fact_id}", "https://a.example", 1, "all")
                )
        with cursor.copy(
            "copy vectors_1 (fact_id, subject_id, status, confidence, embedding) from stdin"
        ) as copy:
            for fact_id, vector in zip(ids, vectors, strict=True):
                copy.write_row((fact_id, subject, "accepted", 1, halfvec_text(vector.tolist())))
        cursor.execute("vacuum analyze vectors_1")
    return ids


@pytest.fixture
async def filled(pool: Pool, database_url: str) -> AsyncIterator[dict[str, Any]]:
    """A large subject and a small one: their vectors, and the ids of their facts."""
    await Vectors(Session(pool), Given.space).ensure()
    large, small = made(LARGE, SEED), made(SMALL, SEED + 1)
    ids = await asyncio.to_thread(fill, database_url, "large", large)
    ids += await asyncio.to_thread(fill, database_url, "small", small)
    yield {"vectors": np.concatenate([large, small]), "ids": [str(one) for one in ids]}


async def build(database_url: str) -> list[VectorIndex]:
    return await maintain_indexes(database_url, Given.space, facts_min=1_000, recall_min=0.97)


async def found(
    pool: Pool, vector: Any, mode: SearchMode = SearchMode.VECTOR, **filters: Any
) -> list[dict[str, Any]]:
    query = " ".join(str(value) for value in vector)
    return await Search(Session(pool), Given()).find(query, filters=Filters(**filters), limit=10, mode=mode)


async def test_large_subjects_and_all_of_them_get_an_index_whose_recall_was_measured(
    pool: Pool, database_url: str, filled: dict[str, Any]
) -> None:
    assert [fact["recall"] for fact in await found(pool, filled["vectors"][0])] == [1] * 10
    built = await build(database_url)
    assert [(one.subject_id, one.facts, one.lists) for one in built] == [
        ("large", LARGE, 162),
        (None, LARGE + SMALL, 177),
    ]
    assert all(0.97 <= one.recall <= 1 and 1 <= one.probes < one.lists for one in built)
    assert await find_index(Session(pool), Given.space, "large") == built[0]
    assert await find_index(Session(pool), Given.space, "small") is None
    assert await build(database_url) == []
    for scope, index in (({"subject_id": "large"}, built[0]), ({}, built[1])):
        facts = await found(pool, filled["vectors"][0], **scope)
        assert [fact["recall"] for fact in facts] == pytest.approx([index.recall] * 10)
        both = await found(pool, filled["vectors"][0], SearchMode.HYBRID, **scope)
        assert both[0]["recall"] == pytest.approx(index.recall)
    assert {fact["recall"] for fact in await found(pool, filled["vectors"][0], subject_id="small")} == {1}


async def test_queries_that_nothing_was_measured_with_find_nearly_all_of_the_nearest_too(
    pool: Pool, database_url: str, filled: dict[str, Any]
) -> None:
    await build(database_url)
    for scope, count in (({"subject_id": "large"}, LARGE), ({}, LARGE + SMALL)):
        hits = 0
        for query in made(40, SEED + 2):
            wanted = filled["vectors"][:count].astype(np.float64) @ query.astype(np.float64)
            nearest = {filled["ids"][place] for place in np.argsort(-wanted)[:10]}
            answer = await found(pool, query, **scope)
            assert [fact["score"] for fact in answer] == sorted(
                (fact["score"] for fact in answer), reverse=True
            )
            hits += len(nearest & {fact["id"] for fact in answer})
        assert hits / 400 >= 0.95, f"seed {SEED}"


async def test_a_search_goes_through_the_index_unless_it_is_filtered_by_more(
    pool: Pool, database_url: str, filled: dict[str, Any]
) -> None:
    await build(database_url)
    await found(pool, filled["vectors"][0], subject_id="large")
    await found(pool, filled["vectors"][0])
    await asyncio.to_thread(settle, database_url)
    scans = SQL(
        "select idx_scan from pg_stat_user_indexes where indexrelname like 'vectors_1_near_%' order by 1"
    )
    assert [row["idx_scan"] > 0 for row in await Session(pool).rows(scans)] == [True, True]
    for filters in ({"topic_path": "all"}, {"min_confidence": 0.5}):
        facts = await found(pool, filled["vectors"][0], subject_id="large", **filters)
        assert {fact["recall"] for fact in facts} == {1}


def settle(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("select pg_stat_force_next_flush()")


async def test_an_index_is_built_anew_when_its_subject_has_doubled_and_the_old_one_goes(
    pool: Pool, database_url: str, filled: dict[str, Any]
) -> None:
    await build(database_url)
    await asyncio.to_thread(fill, database_url, "large", made(LARGE, SEED + 3))
    again = await build(database_url)
    assert [(one.subject_id, one.facts) for one in again] == [("large", 2 * LARGE)]
    assert await find_index(Session(pool), Given.space, "large") == again[0]
    assert len(await names(pool)) == 2


async def test_an_index_that_is_no_quicker_is_dropped_and_not_tried_again_until_there_are_twice_as_many(
    pool: Pool, database_url: str
) -> None:
    await Vectors(Session(pool), Given.space).ensure()
    vectors = np.random.default_rng(SEED).normal(size=(300, DIMENSIONS)).astype(np.float16)
    await asyncio.to_thread(fill, database_url, "all-different", vectors)
    built = await maintain_indexes(database_url, Given.space, facts_min=100, recall_min=1)
    assert [one.is_worth_it for one in built] == [False, False]
    assert await names(pool) == []
    assert await maintain_indexes(database_url, Given.space, facts_min=100, recall_min=1) == []
    assert {fact["recall"] for fact in await found(pool, vectors[0])} == {1}


@pytest.mark.parametrize(
    "error", [psycopg.errors.ProgramLimitExceeded, psycopg.errors.OutOfMemory, psycopg.errors.IoError]
)
async def test_an_index_that_cannot_be_built_rests_and_keeps_no_other_waiting(
    pool: Pool, database_url: str, monkeypatch: pytest.MonkeyPatch, error: type[psycopg.Error]
) -> None:
    await Vectors(Session(pool), Given.space).ensure()
    vectors = np.random.default_rng(SEED).normal(size=(300, DIMENSIONS)).astype(np.float16)
    await asyncio.to_thread(fill, database_url, "bad", vectors)
    build_one = _IndexBuilder.build

    async def refuse(self: _IndexBuilder, table: str, subject_id: str | None, recall_min: float) -> Any:
        if subject_id == "bad":
            raise error("too large")
        return await build_one(self, table, subject_id, recall_min)

    async def maintain() -> list[str | None]:
        built = await maintain_indexes(database_url, Given.space, facts_min=100, recall_min=1)
        return [index.subject_id for index in built]

    monkeypatch.setattr(_IndexBuilder, "build", refuse)
    monkeypatch.setattr(duty_failures, "PAUSE_MIN", timedelta(minutes=30))
    assert await maintain() == [None]
    monkeypatch.setattr(_IndexBuilder, "build", build_one)
    assert await maintain() == [], "it rests"
    async with Session(pool) as session:
        [row] = await session.write(
            SQL("update duty_failures set retry_at = now() - interval '1 s' returning item, reason")
        )
    assert row == {"item": "vectors_1 bad", "reason": f"{error.__name__}: too large"}
    assert await maintain() == ["bad"]
    assert await Session(pool).rows(SQL("select 1 from duty_failures")) == []


async def test_where_too_few_facts_are_shown_to_measure_with_there_is_no_index(
    pool: Pool, database_url: str
) -> None:
    await Vectors(Session(pool), Given.space).ensure()
    await asyncio.to_thread(fill, database_url, "hidden", made(300, SEED))
    async with Session(pool) as session:
        await session.write(SQL("update vectors_1 set status = 'candidate'"))
        await session.write(
            SQL(
                "update vectors_1 set status = 'accepted' where fact_id = (select min(fact_id::text)::uuid from vectors_1)"
            )
        )
    built = await maintain_indexes(database_url, Given.space, facts_min=100, recall_min=0.9)
    assert [one.is_worth_it for one in built] == [False, False]
    assert await names(pool) == []


async def test_a_row_without_its_index_as_a_backup_brings_it_and_an_index_without_a_row_count_for_nothing(
    pool: Pool, database_url: str, filled: dict[str, Any]
) -> None:
    await build(database_url)
    [lost] = await Session(pool).rows(SQL("select name from vector_indexes where subject_id is null"))
    async with Session(pool) as session:
        await session.write(SQL("create index vectors_1_near_0 on vectors_1 (confidence)"))
        await session.write(SQL("delete from vector_indexes where subject_id = 'large'"))
        await session.write(SQL("drop index {}").format(Identifier(lost["name"])))
    for subject_id in ("large", None):
        facts = await found(pool, filled["vectors"][0], subject_id=subject_id)
        assert [fact["recall"] for fact in facts] == [1] * 10
    assert {one.subject_id for one in await build(database_url)} == {"large", None}
    assert len(await names(pool)) == 2


async def test_of_two_that_look_at_once_one_builds(
    pool: Pool, database_url: str, filled: dict[str, Any]
) -> None:
    built = await asyncio.gather(*(build(database_url) for _ in range(3)))
    assert sorted(map(len, built)) == [0, 0, 2]


async def names(pool: Pool) -> list[str]:
    rows = await Session(pool).rows(
        SQL("select indexname from pg_indexes where indexname like 'vectors_1_near_%'")
    )
    return [row["indexname"] for row in rows]
