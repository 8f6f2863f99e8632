"""Nothing that a stranger wrote stalls a worker's event loop above 200 ms or takes 300 MB.

A new member is a file in one of the folders that KINDS names. SETTINGS are those that it changes, PARSE_S ends the parsing
of a page sooner than usual. One that takes long has sizes, see `support/hostile_members.py`.
"""

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from mcp_client.remote import ADD, call, liar, supervised
from support.event_loop_delay import Pulse, beating
from support.hostile_members import Member, parameters, words_of
from support.scripted_sites import serving
from support.verified_quotes import page_read

from chiron_workers.db.connect import Pool
from chiron_workers.documents.sandbox.sandbox import Limits
from chiron_workers.embeddings import Embedder
from chiron_workers.errors import ChironError
from chiron_workers.evidence.quotes.quotes import locate, refusal_reason
from chiron_workers.runs.session import Caller, Session
from chiron_workers.settings import settings
from chiron_workers.store import Store
from chiron_workers.tools import registry
from chiron_workers.web import fetch

HERE = Path(__file__).parent
STALL_S_MAX = 0.2
MEMORY_BYTES_MAX = 300_000_000
TRIES_MAX = 3  # on a busy machine a thread of ours may get the processor for longer than the loop's
Read = Callable[[], Awaitable[Any]]


@asynccontextmanager
async def page(member: Member, execute: Any, folder: Path, pool: Pool) -> AsyncIterator[Read]:
    """A page that is fetched, and a quote of it that is looked for."""
    async with serving() as site:
        url = site.text("/page", member["BODY"], Content_Type=member["TYPE"], **member.get("HEADERS", {}))

        async def read() -> None:
            await execute("web_fetch", url=url)
            await execute("store_knowledge", **fact(url, "The tide rises and falls twice a day."))

        yield read


@asynccontextmanager
async def search_reply(member: Member, execute: Any, folder: Path, pool: Pool) -> AsyncIterator[Read]:
    """What a search service answers."""
    async with serving() as site:
        headers = {"Content_Type": "application/json"} | member.get("HEADERS", {})
        site.text("/search", member["BODY"], member.get("STATUS", 200), **headers)
        urls = json.dumps({"searxng": site.url})
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CHIRON_SEARCH", "searxng")
            patch.setenv("CHIRON_SEARCH_URLS", urls)
            settings.cache_clear()
            await execute(
                "save_learning_goal", subject_id="moon", purpose_statement="Tides.", target_depth="overview"
            )
            yield lambda: execute("web_search", query="tides", subject_id="moon")
        assert site.asked("/search")


@asynccontextmanager
async def robots(member: Member, execute: Any, folder: Path, pool: Pool) -> AsyncIterator[Read]:
    """A robots.txt, and a page that it is asked about."""
    async with serving() as site:
        site.text("/robots.txt", member["BODY"])
        url = site.text(member["PATH"], "The tide rises.")
        yield lambda: execute("web_fetch", url=url)
        assert site.asked("/robots.txt")


@asynccontextmanager
async def file(member: Member, execute: Any, folder: Path, pool: Pool) -> AsyncIterator[Read]:
    """A file that is read."""
    path = folder / member["NAME"]
    path.write_bytes(member["CONTENT"])
    yield lambda: execute("file_reader", path=str(path))


@asynccontextmanager
async def mcp_reply(member: Member, execute: Any, folder: Path, pool: Pool) -> AsyncIterator[Read]:
    """What a server of tools answers."""
    add = ADD | ({"outputSchema": member["SCHEMA"]} if "SCHEMA" in member else {})
    async with supervised(liar(folder, add, results={"add": member["RESULT"]})) as server:
        yield lambda: call(server, "add", a=1)


@asynccontextmanager
async def arguments(member: Member, execute: Any, folder: Path, pool: Pool) -> AsyncIterator[Read]:
    """What a model sends to a tool."""
    yield lambda: execute(member["TOOL"], **member["ARGUMENTS"])


@asynccontextmanager
async def quote(member: Member, execute: Any, folder: Path, pool: Pool) -> AsyncIterator[Read]:
    """A quote, and the text of its source."""
    await page_read(pool, "https://example.org/a", member["TEXT"])
    yield lambda: execute("store_knowledge", **fact("https://example.org/a", member["QUOTE"]))


KINDS: dict[str, Any] = {
    "pages": page, "robots": robots, "search_replies": search_reply, "files": file, "mcp_replies": mcp_reply,
    "arguments": arguments, "quotes": quote,
}  # fmt: skip


def fact(url: str, words: str) -> dict[str, Any]:
    """The arguments of a fact that rests on a quote."""
    return {
        "content": "The tide rises.", "subject_id": "moon", "source_url": url, "source_score": 0.9,
        "topic_path": "tides", "confidence": 0.9, "quote": words,
    }  # fmt: skip


@pytest.fixture(scope="module")
def small_heap() -> None:
    """A heap as small as a worker's: what thousands of tests leave takes the collector longer than the loop may."""
    gc.collect()
    gc.freeze()


@pytest.mark.usefixtures("small_heap")
@pytest.mark.parametrize(
    ("member", "is_full"),
    [parameter for kind in KINDS for parameter in parameters(HERE / kind, prefix=f"{kind}-")],
)
async def test_what_a_stranger_wrote_neither_stalls_a_worker_nor_fills_its_memory(
    member: Path,
    is_full: bool,
    pool: Pool,
    embedder: Embedder,
    setting: Callable[[str, str], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
):
    words = words_of(member, is_full=is_full)
    if "PARSE_S" in words:
        monkeypatch.setattr(fetch, "PARSE_LIMITS", Limits(timeout_s=words["PARSE_S"]))
    values = {
        "FETCH_PRIVATE": "true", "FETCH_PAUSE_S": "0", "FETCH_CACHE_S": "0", "FILES": str(tmp_path),
    }  # fmt: skip
    for name, value in (values | words.get("SETTINGS", {})).items():
        setting(name, value)

    async def execute(tool: str, **values: Any) -> Any:
        async with Store(Session(pool, Caller()), embedder) as store:
            return await registry().execute(tool, store, values, timeout_s=200)

    async with KINDS[member.parent.name](words, execute, tmp_path, pool) as read:
        await warm(execute)
        pulse, taken_bytes = await measured(read)
        for _ in range(TRIES_MAX - 1):
            if pulse.worked_s > STALL_S_MAX:
                pulse = (await measured(read))[0]
    assert taken_bytes < MEMORY_BYTES_MAX
    assert pulse.worked_s < STALL_S_MAX


async def warm(execute: Any) -> None:
    """Have everything imported, and its tables made."""
    await execute("list_subjects")
    locate("The tide rises … twice a day.", "The tide ﬁe … a\u0301 rises. " * 9)
    refusal_reason("The tide rises twice a day.", "The tide falls twice a day.")
    gc.collect()


async def measured(read: Read) -> tuple[Pulse, int]:
    """How the loop beat while something was read, and how much more memory the process had."""
    process = psutil.Process()
    before = most = process.memory_info().rss
    async with beating() as pulse:
        task = asyncio.ensure_future(read())
        while not task.done():
            await asyncio.wait([task], timeout=0.02)
            most = max(most, process.memory_info().rss)
    with suppress(ChironError):  # a refusal is as good as a reading
        result = task.result()
        json.dumps(result)
    return pulse, most - before
