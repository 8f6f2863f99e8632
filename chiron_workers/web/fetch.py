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
from chiron_workers.knowledge.facts.grounds import check_grounds
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.sources.changes import SourceChanges
from chiron_workers.sources.sources import NO_VALIDATORS, Page, Snapshot, Sources, Validators, canonical
from chiron_workers.states import Ground
from chiron_workers.store import Store
from chiron_workers.web.download import NotFetched, NotModified, no_validators
from chiron_workers.web.hosts import HostBusy, Hosts
from chiron_workers.web.page import PARSE_LIMITS, read_page
from chiron_workers.web.politeness import Politeness, download_limits
from chiron_workers.web.shared_pages import SharedPages

FAILURE_TTL = timedelta(seconds=60)
# The server states that the page does not exist or may not be shown. Any other failure may be temporary.
GONE_STATUSES = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE, HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS)
POLL_S_MIN, POLL_S_MAX = 0.05, 1.0


async def fetch_page(store: Store, url: str, *, revalidate: bool = False) -> Snapshot:
    """Fetch a web page and save it as a source. The runs of a batch fetch an address once and share it.

    Args:
        revalidate: Outside of a batch, ask whether the page is what it was, where its server gave something to ask by; a page
            that is counts as read again, with the text of then.

    Raises:
        ToolError: It cannot be fetched or read, or a run of the batch failed to a minute ago.
    """
    config = settings()
    if store.caller.batch_id is None or config.fetch_cache_s == 0:
        pages = await _download_pages(store, url, revalidate=revalidate)
        return await save_page(store, *pages)
    shared_pages, poll_s = SharedPages(store.session), POLL_S_MIN
    claim_for = timedelta(seconds=config.tool_timeout_s)
    while True:  # Ends: claims expire, and the call has a time limit.
        snapshot, is_claimed = await shared_pages.read_or_claim(url, claim_for=claim_for)
        if snapshot is not None:
            return snapshot
        if is_claimed:
            return await _fetch_and_share(store, shared_pages, url)
        await asyncio.sleep(poll_s * random.uniform(0.5, 1))  # noqa: S311  # Jitter is no secret.
        poll_s = min(poll_s * 2, POLL_S_MAX)


async def stored_page(store: Store, url: str) -> Snapshot | None:
    """The snapshot that the batch shares of an address, else the latest of any run; None if never read."""
    if store.caller.batch_id:
        with suppress(ToolError):  # A failure now does not hide the text read before.
            if snapshot := await SharedPages(store.session).read(url):
                return snapshot
    return await store.sources.latest(url)


async def _fetch_and_share(store: Store, shared_pages: SharedPages, url: str) -> Snapshot:
    try:
        pages = await _download_pages(store, url)
        snapshot = await shared_pages.fill(url, pages, good_for=timedelta(seconds=settings().fetch_cache_s))
    except HostBusy:
        await shared_pages.release(url)
        raise
    except ToolError as error:
        await shared_pages.fail(url, str(error), good_for=FAILURE_TTL)
        raise
    except BaseException:  # Cancelled: release the claim, so that no other run waits for it.
        with suppress(psycopg.Error, PoolTimeout):
            await shared_pages.release(url)
        raise
    await _check(store, [page.url for page in pages])
    return snapshot


async def _download_pages(store: Store, url: str, *, revalidate: bool = False) -> list[Page]:
    """Download a page under the address where redirects ended, and under `url` too, since facts may cite both."""

    async def find_validators(address: str) -> Validators:
        stored = await store.sources.validators(address)
        return stored[0] if stored else NO_VALIDATORS

    config = settings()
    politeness = Politeness(Hosts(store.session.pool), config)
    parse_limits = replace(PARSE_LIMITS, memory_bytes=config.file_memory_mb * 1_000_000)
    try:
        web_page = await read_page(
            url,
            download_limits=download_limits(config),
            admit=politeness.admit,
            parse_limits=parse_limits,
            find_validators=find_validators if revalidate else no_validators,
        )
    except NotModified as answer:
        page = await _unchanged_page(store, answer.url)
    except NotFetched as error:
        await politeness.apply_retry_after(url, error)
        if error.status in GONE_STATUSES:
            note = await record_gone(store, {url, canonical(error.url)}, str(error))
            raise ToolError(f"{error} {note}".strip()) from None
        raise
    else:
        page = Page.of(canonical(web_page.url), web_page.content_type, web_page.document)
        page = replace(page, raw_hash=web_page.raw_hash, validators=web_page.validators)
    return [page] if page.url == url else [page, replace(page, url=url, validators=NO_VALIDATORS)]


async def _unchanged_page(store: Store, url: str) -> Page:
    """What an address gave last, read again now."""
    snapshot, stored = await store.sources.latest(url), await store.sources.validators(url)
    if snapshot is None or stored is None:  # another process has read it in full meanwhile
        raise NotFetched(f"{url} was read by somebody else just now.", url=url)
    validators, raw_hash = stored
    page = Page.of(snapshot.url, snapshot.content_type, snapshot)
    return replace(page, raw_hash=raw_hash, validators=validators)


async def save_page(store: Store, *pages: Page) -> Snapshot:
    """Save pages and return the snapshot of the first. Committed at once, even if the call fails later.

    If a text differs from the one before, its effect on the facts that cite it is recorded before this returns.
    """
    async with _own_transaction(store) as session:
        snapshot = await Sources(session).save_and_read(pages)
    await _check(store, [page.url for page in pages])
    return snapshot


async def record_gone(store: Store, urls: Collection[str], reason: str) -> str:
    """Record that addresses no longer exist; a note for the model, empty if none was ever read."""
    async with _own_transaction(store) as session:
        gone_urls = [url for url in sorted(urls) if await Sources(session).record_gone(url, reason)]
    if gone_urls:
        await _check(store, gone_urls)
    changes = await SourceChanges(store.session).of(urls)
    return next((change.note() for change in changes.values()), "")


async def _check(store: Store, urls: Collection[str]) -> None:
    # A session that writes may have locked the subject, and what it wrote is not to be seen yet: the next look at the sources
    # makes up for it.
    if store.session.is_writing:
        return
    changes = await check_grounds(store.session.pool, sorted(urls))
    fact_ids = [
        change.fact_id
        for change in changes
        if change.ground is Ground.CONTEXT_CHANGED and change.subject_id == store.caller.subject_id
    ]
    if fact_ids and store.side_model is not None:  # the run pays for what its subject needs, and for no other
        await store.checks.check_contexts(fact_ids)


def _own_transaction(store: Store) -> AbstractAsyncContextManager[Session]:
    # If this session has uncommitted writes, a second transaction could wait for them for ever.
    return (
        nullcontext(store.session) if store.session.is_writing else Session(store.session.pool, store.caller)
    )
