"""Web sites on loopback whose answers a test writes, and which remember what they were asked."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from support.http_server import served

Answer = Callable[[web.Request], "web.StreamResponse | Awaitable[web.StreamResponse]"]


@dataclass
class Site:
    """What it answers by path, and every request it got, with its moment. What it does not know is 404."""

    url: str = ""
    answers: dict[str, Answer] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    moments: list[float] = field(default_factory=list)

    def text(self, path: str, body: str | bytes, status: int = 200, **headers: str) -> str:
        """Answer a path with a text; its address. `Retry_After="5"` is a header."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        data = body.encode() if isinstance(body, str) else body
        self.answers[path] = lambda request: web.Response(
            body=data, status=status, headers={"Content-Type": "text/plain"} | named
        )
        return self.url + path

    def silent(self, path: str) -> asyncio.Event:
        """Leave whoever asks for a path without an answer until the event is set."""
        heard = asyncio.Event()

        async def answer(request: web.Request) -> web.Response:
            await heard.wait()
            return web.Response(text="Never.")

        self.answers[path] = answer
        return heard

    def asked(self, path: str) -> int:
        """How often a path was asked for."""
        return sum(request.partition("?")[0] == path for request in self.requests)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request.path_qs)
        self.moments.append(asyncio.get_running_loop().time())
        answer = self.answers.get(request.path)
        if answer is None:
            return web.Response(status=404, text="There is nothing.")
        found = answer(request)
        return await found if isinstance(found, Awaitable) else found


@asynccontextmanager
async def serving(host: str = "127.0.0.1") -> AsyncIterator[Site]:
    """A site on a free port of a loopback address."""
    site = Site()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", site.handle)
    async with served(app, host) as site.url:
        yield site
