"""What the tools of a turn do, for the bare loop and for those that are compared; each keeps the rows in its own way.

The cheapest turn asks for `look_up` alone. A real one is offered every tool, comes in deltas of 16 characters, reads a page of
the scripted site and stores a fact of the page before. The variables of the environment say which: processes inherit them.
"""

import os
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from html import unescape
from inspect import iscoroutinefunction
from typing import Any

import aiohttp
from look_up import KEEP, look_up, offer_alone, passage, row_of, tell

from chiron_workers.db.connect import Query
from chiron_workers.db.queries import load
from chiron_workers.documents.html import read_html
from chiron_workers.embeddings.minilm import MiniLM
from chiron_workers.knowledge.search.vectors import to_halfvec
from chiron_workers.toolkit.function_tool import FunctionTool, tool_of
from chiron_workers.tools import registry

SQL = load(__file__)
TURN = "BENCHMARK_TURN"  # the name of a kind
READ, STORE = "web_fetch", "store_knowledge"
TAGS = re.compile(rb"<(script|style|nav)\b.*?</\1>|<[^>]*>", re.DOTALL)
Use = Mapping[str, Any]  # a tool_use block


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of turn.

    `has_its_work`: a loop that is compared reads a page with the pipeline's own parser and embeds the fact with its model; else
    it strips the tags and keeps the fact alone.
    """

    name: str
    looks_up: bool = False  # `look_up` is among the tools, and the one that is called
    has_all_tools: bool = False
    delta_chars: int | None = None
    is_real: bool = False
    has_its_work: bool = False


CHEAPEST = Kind("cheapest", looks_up=True)
ALL_TOOLS = Kind("all tools", has_all_tools=True)
STREAM = replace(ALL_TOOLS, name="all tools, small deltas", looks_up=True, delta_chars=16)
REAL = replace(STREAM, name="real", looks_up=False, is_real=True)
REAL_WORK = replace(REAL, name="real, same work", has_its_work=True)
KINDS = {kind.name: kind for kind in (CHEAPEST, ALL_TOOLS, STREAM, REAL, REAL_WORK)}


@dataclass(frozen=True, slots=True)
class Done:
    """What a call came to: the result for the model, and the row that is to be kept, if any."""

    result: dict[str, Any]
    row: tuple[Query, dict[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """The tools of a kind of turn."""

    kind: Kind
    tools: list[dict[str, Any]]
    client: aiohttp.ClientSession
    embedder: MiniLM

    async def do(self, topic: str, use: Use) -> Done:
        """Run one call of a conversation."""
        if self.kind.is_real and use["name"] == READ:
            return await self._read(topic, use["input"]["url"])
        if self.kind.is_real and use["name"] == STORE:
            return await self._store(topic, use)
        query = str(use["input"].get("query", topic))
        return Done(passage(query), (KEEP, row_of(topic, use["id"], query)))

    async def _read(self, topic: str, url: str) -> Done:
        tell(f"{topic} {url}")
        async with self.client.get(url) as response:
            body = await response.read()
        if self.kind.has_its_work:
            text = read_html(body.decode(), url=url, name=url).text
        else:
            text = unescape(TAGS.sub(b"", body).decode()).strip()
        return Done({"url": url, "text": text})

    async def _store(self, topic: str, use: Use) -> Done:
        fact = use["input"]
        [vector] = await self.embedder.embed([fact["content"]]) if self.kind.has_its_work else [None]
        row = {"run_id": topic, "call_id": use["id"], "content": fact["content"], "quote": fact["quote"]}
        row |= {"source_url": fact["source_url"], "embedding": to_halfvec(vector) if vector else None}
        return Done({"status": "stored", "subject_id": fact["subject_id"]}, (SQL["keep"], row))


def kind() -> Kind:
    """The kind of turn that this process plays."""
    return KINDS[os.environ.get(TURN, CHEAPEST.name)]


@contextmanager
def turns_of(played: Kind) -> Iterator[None]:
    """Have this process, and those that it starts, play turns of a kind."""
    before = os.environ.get(TURN)
    os.environ[TURN] = played.name
    try:
        yield
    finally:
        os.environ.pop(TURN)
        os.environ |= {TURN: before} if before else {}


@asynccontextmanager
async def open_work() -> AsyncIterator[Work]:
    """The tools of this process's kind of turn."""
    played, embedder = kind(), MiniLM()
    tools = registry().definitions() if played.has_all_tools else []
    tools += [tool_of(look_up).definition()] if played.looks_up else []
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as client:
        yield Work(played, tools, client, embedder)
    if played.has_its_work:
        await embedder.close()


def offer() -> None:
    """Offer the runs of this process the tools of its kind of turn; what marks a turn is told of as each `look_up` is.

    Of a real turn that is the page that it reads, of others with all tools their one call.
    """
    if not kind().has_all_tools:
        offer_alone()
        return
    if kind().looks_up:
        registry().register(look_up)
        return
    for known in registry().all():
        if isinstance(known, FunctionTool) and (known.name == READ or not kind().is_real):
            registry().register(_telling(known), allow_replace=True)


def _telling(known: FunctionTool) -> FunctionTool:
    function = known.function
    if not iscoroutinefunction(function):
        return known

    async def told(store: Any, **arguments: Any) -> Any:
        tell(known.name)
        return await function(store, **arguments)

    return replace(known, function=told)
