"""A hosted embedding model and a search provider that cost money, over real HTTP."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from chiron_workers.embeddings import Embedder, open_embedder
from chiron_workers.settings import Settings
from support.http_server import served

MODEL = "voyage-3.5"
DIMENSIONS = 4
HITS = {
    "web": {
        "results": [{"url": "https://example.org/tides", "title": "Tides", "description": "Twice a day."}]
    }
}
Answer = Callable[[web.Request], Any]


@dataclass
class HostedServices:
    """What was asked, and what is answered: a handler of its own, or vectors of the texts and one hit."""

    url: str = ""
    embedded: list[list[str]] = field(default_factory=list)
    searched: list[str] = field(default_factory=list)
    tokens: Any = 10  # that the embedding model counts for a request; None: it says nothing
    on_embed: Answer | None = None
    on_search: Answer | None = None

    @property
    def variables(self) -> dict[str, str]:
        """The settings that name both services, without prices."""
        return {
            "EMBEDDING_PROVIDER": "voyage",
            "EMBEDDING_MODEL": MODEL,
            "EMBEDDING_URL": self.url,
            "EMBEDDING_API_KEY": "key",
            "EMBEDDING_DIMENSIONS": str(DIMENSIONS),
            "SEARCH": "brave",
            "SEARCH_KEYS": json.dumps({"brave": "key"}),
            "SEARCH_URLS": json.dumps({"brave": self.url}),
        }

    def configure(self, settings: Settings, **prices: Any) -> Settings:
        """These settings with both services; prices by name, where `embeddings` is that of a million tokens."""
        by_name = {MODEL if name == "embeddings" else name: price for name, price in prices.items()}
        if MODEL in by_name:
            by_name[MODEL] = {"per_million_tokens": by_name[MODEL]}
        values = {name.lower(): value for name, value in self.variables.items()}
        values |= {name: json.loads(values[name]) for name in ("search_keys", "search_urls")}
        return Settings(
            _env_file=None,
            **settings.model_dump(exclude={*values, "service_prices"}) | values,
            service_prices=by_name,
        )  # type: ignore[call-arg]

    async def embed(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.embedded.append(body["input"])
        if self.on_embed is not None:
            return await self.on_embed(request)
        vectors = [[float(len(text) % 7 + 1), 4.0, *[1.0] * (DIMENSIONS - 2)] for text in body["input"]]
        usage = {} if self.tokens is None else {"usage": {"total_tokens": self.tokens}}
        return web.json_response(
            {"data": [{"index": n, "embedding": v} for n, v in enumerate(vectors)]} | usage
        )

    async def search(self, request: web.Request) -> web.StreamResponse:
        self.searched.append(request.query["q"])
        return web.json_response(HITS) if self.on_search is None else await self.on_search(request)


@asynccontextmanager
async def hosted_services() -> AsyncIterator[HostedServices]:
    services = HostedServices()
    app = web.Application()
    app.router.add_post("/embeddings", services.embed)
    app.router.add_get("/res/v1/web/search", services.search)
    async with served(app) as services.url:
        yield services


@asynccontextmanager
async def hosted_embedder(settings: Settings) -> AsyncIterator[Embedder]:
    embedder = open_embedder(settings)
    yield embedder
    await embedder.close()
