from typing import Any

import pytest
from psycopg.sql import SQL, Identifier
from support.facts_with_vectors import keep

from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder, Space
from chiron_workers.errors import Conflict, ServiceUnavailable
from chiron_workers.knowledge.search.filters import Filters
from chiron_workers.knowledge.search.reembedding import BATCH, count_missing, drop_other_spaces, reembed
from chiron_workers.knowledge.search.search import Search
from chiron_workers.knowledge.search.vectors import copy_to_vectors
from chiron_workers.runs.session import Session
from chiron_workers.states import SearchMode


class Letters:
    """An embedder of another space: one number for each of three letters. It fails after so many calls."""

    space = Space("letters", "1", 3)

    def __init__(self, *, calls: int = 1_000_000) -> None:
        self.calls = calls

    async def embed(self, texts: Any, *, query: bool = False) -> list[list[float]]:
        if self.calls == 0:
            raise ServiceUnavailable(
                "http://embeddings.example gave no embeddings in 4 tries: no answer in 30 s"
            )
        self.calls -= 1
        return [[1.0 + text.count(letter) for letter in "aeo"] for text in texts]

    async def close(self) -> None:
        pass


async def counts(pool: Pool, *tables: str) -> list[int]:
    rows = [
        await Session(pool).row(SQL("select count(*) from {}").format(Identifier(table))) for table in tables
    ]
    return [row["count"] for row in rows if row]


async def test_facts_of_another_model_get_vectors_of_this_one_beside_those_they_have(
    pool: Pool, embedder: Embedder
) -> None:
    moon = await keep(pool, embedder, "The Moon is grey.")
    unsure = await keep(pool, embedder, "The Moon is green.", status="candidate", confidence=0.2)
    await keep(pool, embedder, "The Moon is cheese.", status="withdrawn")
    await keep(pool, embedder, "Mars is red.", subject_id="mars")
    letters = Letters()
    assert await count_missing(Session(pool), letters.space) == 3
    told: list[int] = []
    assert await reembed(pool, letters, subject_id="Moon", on_progress=told.append) == 2
    assert told == [2]
    assert [
        await count_missing(Session(pool), letters.space, subject) for subject in ("moon", "mars", None)
    ] == [
        0,
        1,
        1,
    ]
    assert await counts(pool, "vectors_1", "vectors_2") == [4, 2]
    found = await Search(Session(pool), letters).find(
        "grey", filters=Filters(candidates=True), limit=5, mode=SearchMode.VECTOR
    )
    assert {fact["id"] for fact in found} == {moon, unsure}
    assert await reembed(pool, letters) == 1
    assert await reembed(pool, letters) == 0


async def test_what_fails_midway_keeps_its_batches_and_goes_on_from_there(pool: Pool) -> None:
    for n in range(2 * BATCH + 5):
        await keep(pool, None, f"Crater {n}.")
    with pytest.raises(ServiceUnavailable):
        await reembed(pool, Letters(calls=1))
    assert await count_missing(Session(pool), Letters.space) == BATCH + 5
    told: list[int] = []
    assert await reembed(pool, Letters(), on_progress=told.append) == BATCH + 5
    assert told == [BATCH, BATCH + 5]


async def test_a_change_of_a_fact_reaches_the_vectors_made_later(pool: Pool) -> None:
    fact_id = await keep(pool, None, "The Moon is grey.")
    letters = Letters()
    await reembed(pool, letters)
    async with Session(pool) as session:
        await session.write(SQL("update facts set status = 'withdrawn'"))
        await copy_to_vectors(session, [fact_id])
    found = await Search(Session(pool), letters).find("grey", filters=Filters(), limit=5)
    assert found == []


async def test_old_vectors_go_only_when_every_fact_has_a_new_one(pool: Pool, embedder: Embedder) -> None:
    await keep(pool, embedder, "The Moon is grey.")
    letters = Letters()
    with pytest.raises(Conflict, match="1 fact has no vector of letters yet; run `chiron reembed`"):
        await drop_other_spaces(pool, letters.space)
    await reembed(pool, letters)
    assert await drop_other_spaces(pool, letters.space) == [embedder.space.model]
    assert await counts(pool, "embedding_spaces", "vectors_2") == [1, 1]
    row = await Session(pool).row(SQL("select to_regclass('vectors_1') as old"))
    assert row == {"old": None}
    assert await drop_other_spaces(pool, letters.space) == []
