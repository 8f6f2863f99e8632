import asyncio
import random
from collections.abc import Collection
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus

import psycopg
from psycopg_pool import PoolTimeout

from chiron_workers.errors import ToolError
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.sources.changes import SourceChanges, check_changes
from chiron_workers.sources.sources import Page, Snapshot, Sources, canonical
from chiron_workers.store import Store
from chiron_workers.web.download import NotFetched
from chiron_workers.web.hosts import HostBusy, Hosts
from chiron_workers.web.page import PARSE_LIMITS, read_page
from chiron_workers.web.politeness import Politeness, download_limits
from chiron_workers.web.shared_pages import SharedPages

FAILURE_GOOD_FOR = timedelta(seconds=60)
# The server itself says that there is nothing (any more), or nothing that it may show. Whatever else goes wrong may heal.
GONE = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE, HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS)
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 1.0


async def fetch_page(store: Store, url: str) -> Snapshot:
    """The text of a web address, kept as a source. The runs of a batch fetch an address once, and share it.

    Raises:
        ToolError: It cannot be fetched or read, or could not be a moment ago.
    """
    known = settings()
    if store.caller.batch_id is None or known.fetch_cache_s == 0:
        pages = await _pages(store, url)
        return await save_page(store, *pages)
    shared, pause_s = SharedPages(store.session), FIRST_PAUSE_S
    claim_for = timedelta(seconds=known.tool_timeout_s)
    while True:  # ends: a claim has an end, and the call a time limit
        if found := await shared.read(url):
            return found
        if await shared.claim(url, claim_for=claim_for):
            return await _fetch(store, shared, url)
        await asyncio.sleep(pause_s * random.uniform(0.5, 1))  # noqa: S311  # no secret
        pause_s = min(pause_s * 2, LONGEST_PAUSE_S)


async def stored_page(store: Store, url: str) -> Snapshot | None:
    """The text that the runs of the batch read under an address, else the last one anybody read."""
    if store.caller.batch_id:
        with suppress(ToolError):  # that it cannot be fetched now takes away nothing that was begun
            if found := await SharedPages(store.session).read(url):
                return found
    return await store.sources.latest(url)


async def _fetch(store: Store, shared: SharedPages, url: str) -> Snapshot:
    try:
        pages = await _pages(store, url)
        found = await shared.fill(url, pages, good_for=timedelta(seconds=settings().fetch_cache_s))
    except HostBusy:
        await shared.release(url)
        raise
    except ToolError as error:
        await shared.fail(url, str(error), good_for=FAILURE_GOOD_FOR)
        raise
    except BaseException:  # cut in the middle: nobody should wait for this call
        with suppress(psycopg.Error, PoolTimeout):
            await shared.release(url)
        raise
    await check_changes(store.session.pool, [page.url for page in pages])
    return found


async def _pages(store: Store, url: str) -> list[Page]:
    """What an address says, under its last address first: facts may cite both."""
    known = settings()
    politeness = Politeness(Hosts(store.session.pool), known)
    parse_limits = replace(PARSE_LIMITS, memory_bytes=known.file_memory_mb * 1_000_000)
    try:
        read = await read_page(
            url, download_limits=download_limits(known), admit=politeness.admit, parse_limits=parse_limits
        )
    except NotFetched as error:
        await politeness.apply_retry_after(url, error)
        if error.status in GONE:
            note = await record_gone(store, {url, canonical(error.url)}, str(error))
            raise ToolError(f"{error} {note}".strip()) from None
        raise
    document = read.document
    page = Page(
        read.url,
        document.text,
        read.content_type,
        title=document.title,
        author=document.author,
        published_at=document.published_at,
        licence=document.licence,
    )
    page = replace(page, url=canonical(read.url))
    return [page] if page.url == url else [page, replace(page, url=url)]


async def save_page(store: Store, *pages: Page) -> Snapshot:
    """Keep what was read under its last address first, at once, whatever becomes of the call; as it is kept.

    What another text than before means for the facts that rest on its addresses is found out before it returns.
    """
    async with _own(store) as session:
        sources = Sources(session)
        await sources.save_all(pages)
        kept = await sources.latest(pages[0].url)
    assert kept is not None  # it was written just now
    await check_changes(store.session.pool, [page.url for page in pages])
    return kept


async def record_gone(store: Store, urls: Collection[str], reason: str) -> str:
    """Record of addresses that they give nothing any more; what is to be said of that, empty if none was ever read."""
    async with _own(store) as session:
        lost = [url for url in sorted(urls) if await Sources(session).record_gone(url, reason)]
    if lost:
        await check_changes(store.session.pool, lost)
    known = await SourceChanges(store.session).of(urls)
    return next((change.note() for change in known.values()), "")


def _own(store: Store) -> AbstractAsyncContextManager[Session]:
    # What a transaction that is open has written might be what another one waits for.
    return (
        nullcontext(store.session) if store.session.is_writing else Session(store.session.pool, store.caller)
    )
