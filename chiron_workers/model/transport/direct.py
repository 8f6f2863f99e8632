"""Requests of our own over one aiohttp session, the same on the wire as those of the SDK."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from chiron_workers.model.faults import StatusError
from chiron_workers.model.transport.headers import Credentials, request_headers
from chiron_workers.model.transport.proxies import proxy_of
from chiron_workers.model.transport.tls import tls_context
from chiron_workers.model.transport.urls import join
from chiron_workers.settings import Settings

CONNECTIONS_SPARE = 20
CONNECT_S = 10.0
REFUSAL_MAX_BYTES = 1_000_000
REFUSAL_MAX_S = 10.0  # for the body of a refusal; then what has come of it has to do
WHOLE_BYTES_MAX = PIECE_BYTES = 64_000  # larger bodies are sent in pieces of about this size


class DirectTransport:
    """Carries requests to one server.

    Raises:
        Unsendable: A header holds what does not belong there.
    """

    def __init__(self, settings: Settings, base_url: str, credentials: Credentials) -> None:
        self.base_url = base_url
        self._settings = settings
        self._credentials = credentials
        self._headers: CIMultiDict[str] | None = None
        self._session: aiohttp.ClientSession | None = None
        self._proxies: dict[URL, str | None] = {}  # by the origin of what is asked

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def post(self, path: str, body: Sequence[bytes]) -> "DirectAnswer":
        """Send a request, its body in parts, that is answered by a stream. Raises StatusError for a refusal."""
        if self._headers is None:
            timeout_s = self._settings.model_timeout_s
            url = URL(self.base_url)
            self._headers = request_headers(
                url, self._credentials, timeout="NOT_GIVEN", read_timeout_s=timeout_s
            )
        response = await self._send(
            "POST", join(self.base_url, path), self._headers, body, read_s=self._settings.model_timeout_s
        )
        if 200 <= response.status < 300:
            return DirectAnswer(response)
        raise await _refusal(response)

    async def get(self, path: str, *, timeout_s: float) -> Any:
        """The JSON at a path. Raises StatusError for a refusal, ValueError for what is no JSON."""
        headers = request_headers(
            URL(self.base_url), self._credentials, timeout=str(timeout_s), read_timeout_s=timeout_s
        )
        del headers["content-type"]
        response = await self._send("GET", join(self.base_url, path), headers, None, read_s=timeout_s)
        if 200 <= response.status < 300:
            return json.loads(await _bounded_body(response, within_s=timeout_s))
        raise await _refusal(response)

    async def _send(
        self, method: str, url: str, headers: CIMultiDict[str], body: Sequence[bytes] | None, *, read_s: float
    ) -> aiohttp.ClientResponse:
        target = URL(url)
        if body is not None:
            headers = headers.copy()
            headers["content-length"] = str(sum(map(len, body)))
        return await self._open().request(
            method,
            target,
            headers=headers,
            data=None if body is None else _payload(body),
            # A request, and its key, is for the server that was named.
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(connect=read_s, sock_connect=CONNECT_S, sock_read=read_s),
            proxy=self._proxy_of(target),
            ssl=tls_context() if target.scheme == "https" else True,
        )

    def _proxy_of(self, url: URL) -> str | None:
        origin = url.origin()
        if origin not in self._proxies:  # as the SDK, which reads the environment once
            self._proxies[origin] = proxy_of(str(origin))
        return self._proxies[origin]

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            connections = self._settings.concurrency + CONNECTIONS_SPARE
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=connections, keepalive_timeout=5.0),
                # Cookies of a server that has no name are kept, too.
                cookie_jar=aiohttp.CookieJar(unsafe=True),
                # What the SDK does not send.
                skip_auto_headers=("User-Agent", "Accept", "Content-Type"),
            )
        return self._session


class DirectAnswer:
    """A response whose body is read as it comes."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        connection = response.connection
        if connection is not None and connection.protocol is not None:
            # Whoever reads has limits of its own; this one would be set anew with each packet.
            connection.protocol.read_timeout = None

    @property
    def headers(self) -> Mapping[str, str]:
        """Its headers; names are found in whatever case."""
        return self._response.headers

    async def read(self) -> bytes:
        """The next bytes of the body, decoded, as many as are there; none at its end."""
        return await self._response.content.readany()

    async def close(self) -> None:
        """Give the connection back, or cut it off if the body has not ended."""
        self._response.release()


def _payload(body: Sequence[bytes]) -> bytes | AsyncIterator[bytes]:
    """A body as aiohttp sends it. Of a large one nothing is held until the model has read it all and answers."""
    return b"".join(body) if sum(map(len, body)) <= WHOLE_BYTES_MAX else _pieces(body)


async def _pieces(body: Sequence[bytes]) -> AsyncIterator[bytes]:
    small_parts: list[bytes] = []
    for part in body:
        if small_parts and sum(map(len, small_parts)) + len(part) > PIECE_BYTES:
            yield b"".join(small_parts)
            small_parts = []
        small_parts.append(part)
    yield b"".join(small_parts)


async def _refusal(response: aiohttp.ClientResponse) -> StatusError:
    text = (
        (await _bounded_body(response, within_s=REFUSAL_MAX_S))
        .decode(response.charset or "utf-8", errors="replace")
        .strip()
    )
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = text
    return StatusError(response.status, response.headers, body)


async def _bounded_body(response: aiohttp.ClientResponse, *, within_s: float) -> bytes:
    """The body, as far as it goes before `REFUSAL_MAX_BYTES` and within so many seconds."""
    parts, size = [], 0
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while size < REFUSAL_MAX_BYTES and (part := await response.content.readany()):
                    parts.append(part)
                    size += len(part)
    finally:
        response.release()
    return b"".join(parts)
