"""`chiron reembed` as a process of its own, killed while the embedding server keeps it waiting."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from aiohttp import web
from support import forked_python
from support.facts_with_vectors import keep

from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Space
from chiron_workers.embeddings.hosted import PROVIDERS, Hosted
from chiron_workers.knowledge.search.filters import Filters
from chiron_workers.knowledge.search.reembedding import BATCH
from chiron_workers.knowledge.search.search import Search
from chiron_workers.runs.session import Session
from chiron_workers.settings import Settings
from chiron_workers.states import SearchMode

FACTS = [f"Crater {n} is {n} km wide." for n in range(BATCH + 20)]


class Old:
    """The embedder before: all its vectors lie on one axis that the new ones leave empty."""

    space = Space("old", "1", 3)

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        return [[0.0, 0.0, 1.0] for _ in texts]

    async def close(self) -> None:
        pass


class Server:
    """Embeds one batch of texts, and lets whoever asks for more wait until it serves all."""

    def __init__(self) -> None:
        self.embedded: list[str] = []
        self.asked_for_more = asyncio.Event()
        self.serves_all = asyncio.Event()
        self.url = ""

    async def answer(self, request: web.Request) -> web.Response:
        texts = (await request.json())["input"]
        if len(self.embedded) + len(texts) > BATCH and not self.serves_all.is_set():
            self.asked_for_more.set()
            await self.serves_all.wait()
            return web.Response(status=503)  # whoever asked is gone by now
        self.embedded += texts
        vectors = [{"index": n, "embedding": [float(len(text)), 4.0, 0.0]} for n, text in enumerate(texts)]
        return web.json_response({"data": vectors})


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made = Server()
    app = web.Application()
    app.router.add_post("/embeddings", made.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield made
    made.serves_all.set()
    await runner.cleanup()


@pytest.fixture
def environment(settings: Settings, server: Server) -> dict[str, str]:
    return os.environ | {
        "CHIRON_DATABASE_URL": settings.database_url,
        "CHIRON_HOME": str(settings.home),
        "CHIRON_EMBEDDING_PROVIDER": "openai",
        "CHIRON_EMBEDDING_MODEL": "new",
        "CHIRON_EMBEDDING_URL": server.url,
        "CHIRON_EMBEDDING_DIMENSIONS": "3",
    }


def reembed(environment: dict[str, str], *options: str) -> forked_python.Popen:
    command = [sys.executable, "-m", "chiron_api", "reembed", *options]
    pipe = subprocess.PIPE
    return forked_python.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True)


async def found(pool: Pool, embedder: Any) -> list[tuple[str, float | None]]:
    """Contents and similarities of what a search by vectors finds in an embedder's space."""
    search = Search(Session(pool), embedder)
    facts = await search.find("Crater 1", filters=Filters(), limit=100, mode=SearchMode.VECTOR)
    return [(fact["content"], fact["similarity"]) for fact in facts]


async def test_killed_midway_it_goes_on_where_it_stopped_and_no_search_mixes_old_vectors_with_new(
    pool: Pool, server: Server, environment: dict[str, str]
) -> None:
    for content in FACTS:
        await keep(pool, Old(), content)
    first = reembed(environment)
    async with asyncio.timeout(30):
        await server.asked_for_more.wait()
    first.kill()
    first.communicate()
    assert server.embedded == FACTS[:BATCH]

    server.serves_all.set()
    new = Hosted(PROVIDERS["openai"], url=server.url, model="new", key="", dimensions=3)
    halfway = await found(pool, new)
    assert {content for content, _ in halfway} == set(FACTS[:BATCH])
    assert all(similarity > 0.9 for _, similarity in halfway)  # an old vector would be at 0
    assert sorted(await found(pool, Old())) == sorted((content, 1.0) for content in FACTS)

    server.embedded.clear()
    told, complaints = await asyncio.to_thread(reembed(environment, "--drop-old").communicate)
    assert told == "20 facts embedded with new, 0 left.\nDropped the vectors of old.\n", complaints
    assert server.embedded == FACTS[BATCH:]
    assert {content for content, _ in await found(pool, new)} == set(FACTS)
    await new.close()
