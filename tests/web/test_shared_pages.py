"""The runs of a batch fetch a page once, however many ask for it at the same moment and on however many workers."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import pytest
from aiohttp import web
from support.run_harness import Stage
from support.scripted_sites import Site

from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.errors import ToolError
from chiron_workers.runs.leases import Run
from chiron_workers.runs.session import Caller, Session
from chiron_workers.store import Store
from chiron_workers.tools.web import FetchedPage, web_fetch
from chiron_workers.web.hosts import Hosts


@dataclass
class Reader:
    """A run that is being played, on a worker with a pool of its own."""

    stage: Stage
    run: Run
    pool: Pool

    async def read(self, url: str, call_id: str = "call-1", offset: int = 0) -> FetchedPage:
        caller = Caller("local", self.run.id, self.run.batch_id, call_id, self.run.subject_id)
        async with Store(Session(self.pool, caller), self.stage.embedder) as store:
            return await web_fetch(store, url=url, offset=offset)


async def readers(stage: Stage, count: int, pool: Pool | None = None) -> list[Reader]:
    """The runs of a new batch."""
    run_ids = await stage.submit(*(f"topic {n}" for n in range(count)))
    return [Reader(stage, await stage.claim(run_id), pool or stage.pool) for run_id in run_ids]


async def started(site: Site, path: str) -> None:
    async with asyncio.timeout(60):
        while not site.asked(path):
            await asyncio.sleep(0.01)


async def test_a_page_is_fetched_once_by_many_runs_on_several_workers(
    stage: Stage, site: Site, database_url: str
) -> None:
    async def slow(request: web.Request) -> web.Response:
        await asyncio.sleep(0.3)
        return web.Response(text="The words of the page.")

    site.answers["/page"] = slow
    every = await readers(stage, 30)
    async with open_pool(database_url, size=4) as second, open_pool(database_url, size=4) as third:
        for n, reader in enumerate(every):
            reader.pool = (stage.pool, second, third)[n % 3]
        pages = await asyncio.gather(*(reader.read(site.url + "/page") for reader in every))
        again = await every[7].read(site.url + "/page#part", "call-2")
    assert {page["text"] for page in pages} == {"The words of the page."}
    assert len({page["fetched_at"] for page in [*pages, again]}) == 1
    assert site.asked("/page") == 1
    assert len(await stage.rows("select 1 from fetches")) == 1


async def test_a_page_is_there_for_others_before_the_call_that_fetched_it_has_ended(
    stage: Stage, site: Site
) -> None:
    first, second = await readers(stage, 2)
    caller = Caller("local", first.run.id, first.run.batch_id, "call-1")
    page = site.text("/page", "Words.")
    async with Session(stage.pool, caller) as session:
        await web_fetch(Store(session, stage.embedder), url=page)
        assert (await second.read(page))["text"] == "Words."
        await session.rollback()  # its run is lost; what it fetched is not
    assert (await second.read(page, "call-2"))["text"] == "Words."
    assert site.asked("/page") == 1


async def test_a_page_that_is_there_is_read_without_a_write(stage: Stage, site: Site) -> None:
    first, second = await readers(stage, 2)
    page = site.text("/page", "Words.")
    await first.read(page)
    rows = await stage.rows("select url, xmin::text, xmax::text from shared_pages")
    assert (await second.read(page))["text"] == "Words."
    # None is locked, either.
    assert await stage.rows("select url, xmin::text, xmax::text from shared_pages") == rows


async def test_a_failure_is_remembered_for_a_minute(stage: Stage, site: Site) -> None:
    every = await readers(stage, 5)
    page = site.text("/page", "", status=500)
    answers = await asyncio.gather(*(reader.read(page) for reader in every), return_exceptions=True)
    assert {str(answer) for answer in answers} == {f"{page} answered 500 Internal Server Error."}
    assert site.asked("/page") == 1
    site.text("/page", "Mended.")
    await stage.rows("update shared_pages set good_until = good_until - interval '59 s' returning 1")
    with pytest.raises(ToolError, match="answered 500"):
        await every[0].read(page)
    await stage.rows("update shared_pages set good_until = good_until - interval '2 s' returning 1")
    assert (await every[0].read(page))["text"] == "Mended."


async def test_another_batch_and_a_page_that_grew_old_are_fetched_anew(stage: Stage, site: Site) -> None:
    [reader] = await readers(stage, 1)
    [other] = await readers(stage, 1)
    page = site.text("/page", "Old.")
    await reader.read(page)
    site.text("/page", "New.")
    assert (await other.read(page))["text"] == "New."
    assert (await reader.read(page))["text"] == "Old."
    await stage.rows("update shared_pages set good_until = now() - interval '1 s' returning 1")
    assert (await reader.read(page))["text"] == "New."
    assert site.asked("/page") == 3


async def test_pages_that_are_of_no_use_any_more_are_forgotten(stage: Stage, site: Site) -> None:
    [reader] = await readers(stage, 1)
    await reader.read(site.text("/old", "Old."))
    await stage.rows("update shared_pages set good_until = now() - interval '8 days' returning 1")
    await reader.read(site.text("/new", "New."), "call-2")
    await Hosts(stage.pool).save_robots("http://another.test", None)
    assert [row["url"] for row in await stage.rows("select url from shared_pages")] == [site.url + "/new"]


async def test_sharing_can_be_turned_off(
    stage: Stage, site: Site, setting: Callable[[str, str], None]
) -> None:
    setting("FETCH_CACHE_S", "0")
    [reader] = await readers(stage, 1)
    for n in range(2):
        assert (await reader.read(site.text("/page", f"Words {n}.")))["text"] == f"Words {n}."


async def test_a_page_that_moved_is_shared_under_both_addresses(stage: Stage, site: Site) -> None:
    first, second = await readers(stage, 2)
    page = site.text("/page", "Words.")
    moved = site.text("/moved", "", status=301, Location="/page")
    assert (await first.read(moved))["url"] == page
    assert (await second.read(page))["text"] == (await second.read(moved, "call-2"))["text"] == "Words."
    assert site.asked("/page") == site.asked("/moved") == 1


@pytest.mark.parametrize(
    "how", ["its lease ended", "it was handed back", "its time is over", "it was deleted"]
)
async def test_the_fetch_of_a_run_that_is_lost_is_taken_over(stage: Stage, site: Site, how: str) -> None:
    never = site.silent("/page")
    lost, other = await readers(stage, 2)
    fetching = asyncio.create_task(lost.read(site.url + "/page"))
    await started(site, "/page")
    site.text("/page", "Words.")
    waiting = asyncio.create_task(other.read(site.url + "/page"))
    await asyncio.sleep(0.2)
    assert not waiting.done()  # somebody fetches it
    await stage.rows(
        {
            "its lease ended": "update runs set leased_until = now() - interval '1 s' where id = %s returning 1",
            "it was handed back": "update runs set state = 'queued', leased_until = null where id = %s returning 1",
            "its time is over": "update shared_pages set claimed_until = now() where claimed_by = %s returning 1",
            "it was deleted": "delete from runs where id = %s returning 1",
        }[how],
        lost.run.id,
    )
    assert (await asyncio.wait_for(waiting, 60))["text"] == "Words."
    never.set()
    with suppress(Exception):  # a zombie may fail; it takes nothing back
        await fetching
    assert (await other.read(site.url + "/page", "call-2"))["text"] == "Words."


async def test_the_same_call_after_a_crash_need_not_wait_for_itself(stage: Stage, site: Site) -> None:
    [reader] = await readers(stage, 1)
    await stage.rows(
        "insert into shared_pages (batch_id, url, claimed_by, call_id, claimed_until)"
        " values (%s, %s, %s, 'call-1', now() + interval '1 hour') returning 1",
        reader.run.batch_id,
        site.url + "/page",
        reader.run.id,
    )
    site.text("/page", "Words.")
    assert (await asyncio.wait_for(reader.read(site.url + "/page"), 60))["text"] == "Words."


async def test_a_fetch_that_is_cut_lets_the_next_one_begin_at_once(stage: Stage, site: Site) -> None:
    never = site.silent("/page")
    cut, other = await readers(stage, 2)
    fetching = asyncio.create_task(cut.read(site.url + "/page"))
    await started(site, "/page")
    site.text("/page", "Words.")
    fetching.cancel()
    with suppress(asyncio.CancelledError):
        await fetching
    assert (await asyncio.wait_for(other.read(site.url + "/page"), 60))["text"] == "Words."
    never.set()


async def test_a_host_that_is_busy_is_no_failure_of_the_page(stage: Stage, site: Site) -> None:
    [reader] = await readers(stage, 1)
    page = site.text("/page", "Words.")
    await reader.read(site.text("/other", "Words."))
    await stage.rows("update hosts set next_at = now() + interval '5 minutes' returning 1")
    with pytest.raises(ToolError, match="must not be asked again"):
        await reader.read(page)
    await stage.rows("update hosts set next_at = now() returning 1")
    assert (await reader.read(page))["text"] == "Words."


async def test_reading_on_means_the_text_that_was_begun(stage: Stage, site: Site) -> None:
    [reader] = await readers(stage, 1)
    [other] = await readers(stage, 1)
    long = "\n\n".join(f"Paragraph {n} of a long text." for n in range(3_000))
    page = site.text("/page", long)
    begun = await reader.read(page)
    site.text("/page", "x" * 30_000)
    await other.read(page)
    offset = begun["next_offset"]
    assert offset
    assert (await reader.read(page, "call-2", offset))["text"] == long[offset : offset + 20_000].rpartition(
        "\n\n"
    )[0] + "\n\n"


async def test_reading_on_needs_no_page_that_still_answers(stage: Stage, site: Site) -> None:
    first, second = await readers(stage, 2)
    page = site.text("/page", "\n\n".join(f"Paragraph {n} of a long text." for n in range(3_000)))
    begun = await first.read(page)
    await stage.rows("update shared_pages set good_until = now() - interval '1 s' returning 1")
    await stage.rows("update hosts set next_at = now() returning 1")
    del site.answers["/page"]
    with pytest.raises(ToolError):
        await second.read(page)
    offset = begun["next_offset"]
    assert offset
    assert (await first.read(page, "call-2", offset))["text"].startswith("Paragraph ")
