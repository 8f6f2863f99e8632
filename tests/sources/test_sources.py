import hashlib
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from psycopg.sql import SQL

from chiron_workers.db.connect import Pool
from chiron_workers.runs.session import Session
from chiron_workers.sources.sources import Page, Sources, canonical

MARS = Page("https://example.org/mars", "Mars has two moons.", "text/html", title="Mars")


@pytest.fixture
async def sources(pool: Pool) -> AsyncIterator[Sources]:
    async with Session(pool) as session:
        yield Sources(session)


async def count(sources: Sources, query: str) -> int:
    row = await sources.session.row(SQL(query))
    assert row
    return row["count"]


async def test_an_address_never_read_gives_nothing(sources: Sources) -> None:
    assert await sources.latest("https://example.org/mars") is None


async def test_what_is_kept_comes_back_with_the_sha256_of_its_text(sources: Sources) -> None:
    published = datetime(2024, 3, 1, tzinfo=UTC)
    page = Page(MARS.url, MARS.text, "text/html", title="Mars", author="A. Hall", published_at=published)
    kept = await sources.save(page)
    found = await sources.latest(MARS.url)
    assert kept == hashlib.sha256(MARS.text.encode()).hexdigest()
    assert found is not None
    assert (found.url, found.hash, found.title, found.text) == (MARS.url, kept, "Mars", MARS.text)
    assert (found.content_type, found.author, found.published_at) == ("text/html", "A. Hall", published)
    assert found.fetched_at.tzinfo is not None


async def test_the_latest_text_of_an_address_wins_and_the_old_one_is_still_there(sources: Sources) -> None:
    await sources.save(MARS)
    await sources.save(Page(MARS.url, "Mars has two small moons.", "text/html"))
    found = await sources.latest(MARS.url)
    assert found is not None
    assert found.text == "Mars has two small moons."
    assert await count(sources, "select count(*) from snapshots") == 2


async def test_the_same_text_at_two_addresses_is_stored_once_and_fetched_twice(sources: Sources) -> None:
    other = Page("https://mirror.example/mars", MARS.text, "text/html")
    hashes = await sources.save_all([MARS, other])
    assert hashes[0] == hashes[1] == await sources.save(MARS)
    assert await count(sources, "select count(*) from snapshots") == 1
    assert await count(sources, "select count(*) from fetches") == 3


async def test_a_fragment_names_a_place_within_the_same_page(sources: Sources) -> None:
    await sources.save(Page(MARS.url + "#moons", MARS.text, "text/html"))
    assert await sources.latest(MARS.url + "#poles") is not None


def test_a_long_fragment_is_not_kept() -> None:
    url = "https://Example.org#" + "a" * 100_000
    references = sys.getrefcount(url)
    assert canonical(url) == "https://example.org/"
    assert sys.getrefcount(url) == references


async def test_texts_of_any_script_and_size_survive_compression(sources: Sources) -> None:
    text = "Olympus Mons – オリンポス山 🜂 " * 20_000
    await sources.save(Page("https://example.org/big", text, "text/plain"))
    found = await sources.latest("https://example.org/big")
    assert found is not None
    assert found.text == text
    stored = await count(sources, "select sum(length(body)) as count from snapshots")
    assert stored < len(text) / 10


async def test_a_session_that_fails_keeps_nothing(pool: Pool) -> None:
    with pytest.raises(RuntimeError):
        async with Session(pool) as session:
            await Sources(session).save(MARS)
            raise RuntimeError
    async with Session(pool) as session:
        assert await Sources(session).latest(MARS.url) is None


async def test_a_text_is_visible_to_its_own_session_before_the_commit_and_to_others_after(pool: Pool) -> None:
    async with Session(pool) as writer:
        await Sources(writer).save(MARS)
        assert await Sources(writer).latest(MARS.url) is not None
        assert await Sources(Session(pool)).latest(MARS.url) is None
    assert await Sources(Session(pool)).latest(MARS.url) is not None


async def test_of_two_that_cross_the_text_that_was_written_last_is_the_latest(pool: Pool) -> None:
    texts = [f"Mars has {count} moons." for count in ("two", "three", "four", "five")]
    first, second, third, fourth = (Page(MARS.url, text, "text/html") for text in texts)
    async with Session(pool) as session:
        await Sources(session).save(first)
    async with Session(pool) as early:
        await early.write(SQL("select pg_current_xact_id()"), {})  # its transaction begins here
        async with Session(pool) as late:
            await Sources(late).save(second)
        await Sources(early).save(third)
    async with Session(pool) as session:
        found = await Sources(session).latest(MARS.url)
        assert found is not None
        assert found.text == third.text
        await Sources(session).save(fourth)
        changes = await session.rows(SQL("select hash from source_changes order by at"))
    assert [row["hash"] for row in changes] == [
        hashlib.sha256(text.encode()).hexdigest() for text in texts[1:]
    ]
