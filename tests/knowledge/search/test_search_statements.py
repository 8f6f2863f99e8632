"""What a search asks of Postgres, as the client library records what it sends."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from psycopg.pq import Trace
from support.facts_with_vectors import keep

from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.embeddings import Embedder
from chiron_workers.knowledge.search.filters import Filters
from chiron_workers.knowledge.search.search import Search
from chiron_workers.runs.session import Session
from chiron_workers.states import SearchMode

QUERY = "Why do the tides rise?"


@pytest.fixture
async def one(pool: Pool, database_url: str, embedder: Embedder) -> AsyncIterator[Pool]:
    """A single connection to three facts about the Moon and one about Mars."""
    for content in ("The Moon raises the tides.", "Dust covers the Moon.", "The Moon has no air."):
        await keep(pool, embedder, content)
    await keep(pool, embedder, "Mars has tides too.", subject_id="mars")
    async with open_pool(database_url, size=1) as found:
        yield found


@asynccontextmanager
async def sent(pool: Pool, file: Path) -> AsyncIterator[list[str]]:
    """The kinds of messages that the pool's one connection sends meanwhile; there at the end."""
    kinds: list[str] = []
    with file.open("w") as written:
        async with pool.connection() as connection:
            connection.pgconn.trace(written.fileno())
            connection.pgconn.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
        yield kinds
        async with pool.connection() as connection:
            connection.pgconn.untrace()
    messages = [line.split("\t") for line in file.read_text().splitlines()]
    kinds += [message[2] for message in messages if message[0] == "F"]


async def searched(
    pool: Pool, embedder: Embedder, mode: SearchMode, *, min_confidence: float = 0.0
) -> list[tuple[str, float]]:
    filters = Filters("moon", min_confidence=min_confidence)
    found = await Search(Session(pool), embedder).find(QUERY, filters=filters, limit=5, mode=mode)
    return [(fact["content"], fact["score"]) for fact in found]


@pytest.mark.parametrize("mode", list(SearchMode))
async def test_a_search_of_a_small_subject_is_one_statement_that_was_prepared_before(
    one: Pool, embedder: Embedder, tmp_path: Path, mode: SearchMode
) -> None:
    assert await searched(one, embedder, mode)
    async with sent(one, tmp_path / "trace") as kinds:
        assert await searched(one, embedder, mode)
    assert kinds.count("Execute") == 1
    assert not {"Parse", "Query"} & set(kinds)


async def test_neighbours_are_nominated_by_one_statement_too(
    one: Pool, embedder: Embedder, tmp_path: Path
) -> None:
    [vector] = await embedder.embed([QUERY])
    search = Search(Session(one), embedder)
    nominated = await search.nearest(vector, "moon", limit=2)
    async with sent(one, tmp_path / "trace") as kinds:
        assert await search.nearest(vector, "moon", limit=2) == nominated
    assert len(nominated) == 2
    assert kinds.count("Execute") == 1


@pytest.mark.parametrize("mode", list(SearchMode))
async def test_what_is_planned_once_for_all_finds_the_same_as_what_is_planned_for_these_very_filters(
    one: Pool, embedder: Embedder, mode: SearchMode
) -> None:
    expected = await searched(one, embedder, mode, min_confidence=0.001)
    assert len(expected) == (1 if mode is SearchMode.TEXT else 3)
    async with one.connection() as connection:
        await connection.execute("set plan_cache_mode = force_generic_plan")
    assert await searched(one, embedder, mode) == expected
