import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from chiron_workers.mcp_client.config.configuration import ServerConfig
from chiron_workers.mcp_client.transport.flood_guard import MESSAGE_BYTES_MAX, Flooded, Meter

CONNECT_S = 10.0
SLACK_S = 30.0  # that a response may be silent for longer than a call may take
CONNECTIONS_MAX = 100
LOOPBACK = ("localhost", "127.0.0.1", "::1")
GONE = (404, 410)  # the answer to a session that the server does not know any more
# Codes of our own in the room JSON-RPC leaves to implementations: what happened below the protocol.
REFUSED = -32_090  # answered with an HTTP error
UNREACHABLE = -32_091  # nobody answered; nothing was sent
CUT = -32_092  # sent, and the answer did not come


@asynccontextmanager
async def http_transport(
    config: ServerConfig, meter: Meter, *, timeout_s: float
) -> AsyncIterator[TransportStreams]:
    """A server behind an address, by streamable HTTP."""
    timeout = httpx2.Timeout(CONNECT_S, read=timeout_s + SLACK_S, write=SLACK_S, pool=SLACK_S)
    limits = httpx2.Limits(max_connections=CONNECTIONS_MAX, max_keepalive_connections=CONNECTIONS_MAX)
    headers = {**config.headers, "Accept-Encoding": "identity"}
    wire = _Wire(httpx2.AsyncHTTPTransport(limits=limits, proxy=_proxy(config.url)), meter)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, transport=wire) as client,
        streamable_http_client(
            config.url, http_client=client, max_sse_event_size=MESSAGE_BYTES_MAX
        ) as streams,
    ):
        yield streams


def _proxy(url: str) -> str | None:
    # A client with a transport of its own does not look into the environment.
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in LOOPBACK or proxy_bypass(host):
        return None
    found = getproxies()
    return found.get(parts.scheme) or found.get("all")


class _Wire(httpx2.AsyncBaseTransport):
    """HTTP whose failures are answers of their own, since one that is raised ends all calls of the connection."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, meter: Meter) -> None:
        self._inner = inner
        self._meter = meter

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await self._inner.handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            return _told(request, UNREACHABLE, f"it cannot be reached: {str(error) or type(error).__name__}")
        except httpx2.TransportError as error:
            return _told(request, CUT, f"the connection was cut: {type(error).__name__}")
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            return _told(request, CUT, "it sent compressed data that nobody asked for")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        is_stream = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        body = _Bounded(response.stream, self._meter, is_stream=is_stream)
        if response.status_code >= 400 and request.method == "POST":
            return await self._refusal(request, response, body)
        response.stream = body
        return response

    async def _refusal(
        self, request: httpx2.Request, response: httpx2.Response, body: "_Bounded"
    ) -> httpx2.Response:
        read = b"".join([chunk async for chunk in body])
        await body.aclose()
        status = response.status_code
        if status in GONE and "mcp-session-id" in request.headers:
            return _told(request, REFUSED, "it was restarted", status)
        try:
            error = json.loads(read).get("error")
        except (ValueError, AttributeError, RecursionError):
            error = None
        if isinstance(error, dict) and "code" in error:  # JSON-RPC's own
            return httpx2.Response(
                response.status_code,
                headers={"content-type": "application/json"},
                content=read,
                request=request,
            )
        return _told(request, REFUSED, f"it answered with HTTP {status} {_meaning(status)}".rstrip(), status)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Bounded(httpx2.AsyncByteStream):
    """A body that ends where it gets too long or breaks off; what is cut is then no JSON, and so refused."""

    def __init__(self, inner: httpx2.AsyncByteStream, meter: Meter, *, is_stream: bool) -> None:
        self._inner = inner
        self._meter = meter
        self._is_stream = is_stream  # endless by nature: its events are bounded, and the rate

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        try:
            async for chunk in self._inner:
                size += len(chunk)
                self._meter.count(read_bytes=len(chunk))
                if size > MESSAGE_BYTES_MAX and not self._is_stream:
                    self._meter.refuse(f"it sent an answer of more than {MESSAGE_BYTES_MAX // 1_000_000} MB")
                yield chunk
        except (httpx2.TransportError, Flooded):
            return

    async def aclose(self) -> None:
        await self._inner.aclose()


def _told(request: httpx2.Request, code: int, message: str, status: int = 502) -> httpx2.Response:
    error = {"code": code, "message": message, "data": {"status": status}}
    body = {"jsonrpc": "2.0", "id": None, "error": error}
    return httpx2.Response(status, json=body, request=request)


def _meaning(status: int) -> str:
    known = {
        401: "(its key is missing or wrong)",
        403: "(the key may not do this)",
        404: "(nothing is at this address)",
        405: "(this address takes no MCP requests)",
        429: "(too many requests)",
    }
    return known.get(status, "")
