import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from standardwebhooks import Webhook as Verifier
from support.http_server import served

from chiron_workers.db.connect import Pool
from chiron_workers.runs.session import Caller, Session
from chiron_workers.webhooks.webhooks import NewWebhook, Webhook, Webhooks


@dataclass
class Receiver:
    """An endpoint that answers with the statuses it is given, one after the other, and 200 from then on."""

    url: str
    statuses: list[int] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    gate: asyncio.Event | None = None  # what its answers wait for
    requests: list[tuple[dict[str, str], str]] = field(default_factory=list)
    at_once: int = 0
    at_once_max: int = 0

    async def answer(self, request: web.Request) -> web.Response:
        self.at_once += 1
        self.at_once_max = max(self.at_once, self.at_once_max)
        try:
            self.requests.append((dict(request.headers), await request.text()))
            if self.gate is not None:
                await self.gate.wait()
            return web.Response(status=self.statuses.pop(0) if self.statuses else 200, headers=self.headers)
        finally:
            self.at_once -= 1

    def verified(self, secret: str) -> list[dict[str, Any]]:
        """What came, after the library of the standard has held each against its signature."""
        return [Verifier(secret).verify(body, headers) for headers, body in self.requests]

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.requests]

    @property
    def ids(self) -> list[str]:
        return [
            {name.lower(): value for name, value in headers.items()}["webhook-id"]
            for headers, _ in self.requests
        ]


Receiving = Callable[..., AbstractAsyncContextManager[Receiver]]
Hook = Callable[..., Any]


@asynccontextmanager
async def open_receiver(**options: Any) -> AsyncIterator[Receiver]:
    receiver = Receiver("", **options)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", receiver.answer)
    async with served(app) as url:
        receiver.url = f"{url}/hook"
        yield receiver


@pytest.fixture
def receiving() -> Receiving:
    """`async with receiving(statuses=[500]) as receiver`: an endpoint on loopback."""
    return open_receiver


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with open_receiver() as opened:
        yield opened


@pytest.fixture(autouse=True)
def on_loopback(setting: Callable[[str, str], None]) -> None:
    setting("WEBHOOK_PRIVATE", "true")


@pytest.fixture
def hook(pool: Pool) -> Hook:
    """`await hook(url)`: the secret and the webhook of somebody."""

    async def make(url: str, *, owner: str = "local", **options: Any) -> tuple[str, Webhook]:
        async with Session(pool, Caller(owner)) as session:
            return await Webhooks(session).create(NewWebhook(url, **options))

    return make
