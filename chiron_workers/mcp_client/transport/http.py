import json
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client
from mcp_types import RequestId

from chiron_workers.mcp_client.config.configuration import ServerConfig
from chiron_workers.mcp_client.transport.answers import mend_body, mend_event_line
from chiron_workers.mcp_client.transport.flood_guard import MESSAGE_BYTES_MAX, Flooded, FloodGuard
from chiron_workers.mcp_client.transport.handshakes import HandshakeTrace

CONNECT_S = 10.0
SILENCE_S = 30.0  # that a response may be silent beyond the time a call may take
CONNECTIONS_MAX = 100
LOOPBACK = ("localhost", "127.0.0.1", "::1")
SESSION_GONE_STATUSES = (404, 410)  # for a session that the server no longer knows
# Codes of our own in the range that JSON-RPC leaves to implementations: what happened below the protocol.
HTTP_ERROR = -32_090  # answered with an HTTP error
UNREACHABLE = -32_091  # nobody answered; nothing was sent
CONNECTION_CUT = -32_092  # sent, and the answer did not come
STATUS_HINTS = {
    401: "(its key is missing or wrong)",
    403: "(the key may not do this)",
    404: "(nothing is at this address)",
    405: "(this address takes no MCP requests)",
    429: "(too many requests)",
}


@asynccontextmanager
async def http_transport(
    config: ServerConfig, guard: FloodGuard, *, timeout_s: float
) -> AsyncIterator[TransportStreams]:
    """A server behind an address, by streamable HTTP."""
    timeout = httpx2.Timeout(CONNECT_S, read=timeout_s + SILENCE_S, write=SILENCE_S, pool=SILENCE_S)
    limits = httpx2.Limits(max_connections=CONNECTIONS_MAX, max_keepalive_connections=CONNECTIONS_MAX)
    headers = {**config.headers, "Accept-Encoding": "identity"}
    transport = _AnsweringTransport(httpx2.AsyncHTTPTransport(limits=limits, proxy=_proxy(config.url)), guard)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, transport=transport) as client,
        streamable_http_client(
            config.url, http_client=client, max_sse_event_size=MESSAGE_BYTES_MAX
        ) as streams,
    ):
        yield streams


def _proxy(url: str) -> str | None:
    # httpx ignores the environment where a client has a transport of its own.
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in LOOPBACK or proxy_bypass(host):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


class _AnsweringTransport(httpx2.AsyncBaseTransport):
    """Answers failures as JSON-RPC errors, since an exception would end all calls of the connection."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, guard: FloodGuard) -> None:
        self._inner = inner
        self._guard = guard

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.extensions["trace"] = HandshakeTrace()
        try:
            response = await self._inner.handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            return _error_response(
                request, UNREACHABLE, f"it cannot be reached: {str(error) or type(error).__name__}"
            )
        except httpx2.TransportError as error:
            return _error_response(request, CONNECTION_CUT, f"the connection was cut: {type(error).__name__}")
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            return _error_response(request, CONNECTION_CUT, "it sent compressed data that nobody asked for")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        is_stream = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        body = _BoundedStream(response.stream, self._guard, is_stream=is_stream)
        if response.status_code >= 400 and request.method == "POST":
            return await self._read_error(request, response, body)
        request_id = _request_id(request)
        if is_stream:
            response.stream = MendedEvents(body, [] if request_id is None else [request_id])
        elif request_id is not None and response.headers.get("content-type", "").lower().startswith(
            "application/json"
        ):
            return await self._read_answer(request, response, body, request_id)
        else:
            response.stream = body
        return response

    async def _read_answer(
        self, request: httpx2.Request, response: httpx2.Response, body: "_BoundedStream", id: RequestId
    ) -> httpx2.Response:
        content = b"".join([chunk async for chunk in body])
        await body.aclose()
        headers = [
            (name, value)
            for name, value in response.headers.multi_items()
            if name not in {"content-length", "transfer-encoding"}
        ]
        # A cut answer is not JSON and is refused as such.
        content = mend_body(content, id) if body.is_whole else content
        return httpx2.Response(response.status_code, headers=headers, content=content, request=request)

    async def _read_error(
        self, request: httpx2.Request, response: httpx2.Response, body: "_BoundedStream"
    ) -> httpx2.Response:
        content = b"".join([chunk async for chunk in body])
        await body.aclose()
        status = response.status_code
        if status in SESSION_GONE_STATUSES and "mcp-session-id" in request.headers:
            return _error_response(request, HTTP_ERROR, "it was restarted", status)
        try:
            error = json.loads(content).get("error")
        except (ValueError, AttributeError, RecursionError):
            error = None
        if isinstance(error, dict) and "code" in error:  # an error of JSON-RPC is passed on
            headers = {"content-type": "application/json"}
            return httpx2.Response(status, headers=headers, content=content, request=request)
        reason = f"it answered with HTTP {status} {STATUS_HINTS.get(status, '')}".rstrip()
        return _error_response(request, HTTP_ERROR, reason, status)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    """A body that ends where it gets too long or breaks off; what is left is no JSON and is refused as such."""

    def __init__(self, inner: httpx2.AsyncByteStream, guard: FloodGuard, *, is_stream: bool) -> None:
        self._inner = inner
        self._guard = guard
        self._is_stream = is_stream  # an event stream may be endless: its events and its rate are bounded
        self.is_whole = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        try:
            async for chunk in self._inner:
                size += len(chunk)
                self._guard.count(read_bytes=len(chunk))
                if size > MESSAGE_BYTES_MAX and not self._is_stream:
                    self._guard.refuse(f"it sent an answer of more than {MESSAGE_BYTES_MAX // 1_000_000} MB")
                yield chunk
            self.is_whole = True
        except (httpx2.TransportError, Flooded):
            return

    async def aclose(self) -> None:
        await self._inner.aclose()


class MendedEvents(httpx2.AsyncByteStream):
    """An event stream whose messages are mended, line by line."""

    def __init__(self, inner: httpx2.AsyncByteStream, open_ids: Collection[RequestId]) -> None:
        self._inner = inner
        self._open_ids = open_ids

    async def __aiter__(self) -> AsyncIterator[bytes]:
        partial = bytearray()  # of a line; it has no line end
        async for chunk in self._inner:
            end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
            if end:
                lines = bytes(partial + chunk[:end]).splitlines(keepends=True)
                partial.clear()
                yield b"".join(mend_event_line(line, self._open_ids) for line in lines)
            partial += chunk[end:]
            if len(partial) > MESSAGE_BYTES_MAX:
                yield bytes(partial)
                partial.clear()
        yield bytes(partial)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._inner.aclose()


def _request_id(request: httpx2.Request) -> RequestId | None:
    """The id of the request that is sent; None for what awaits no answer."""
    if request.method != "POST":
        return None
    request_id: RequestId | None = json.loads(request.content).get("id")
    return request_id


def _error_response(request: httpx2.Request, code: int, message: str, status: int = 502) -> httpx2.Response:
    error = {"code": code, "message": message, "data": {"status": status}}
    body = {"jsonrpc": "2.0", "id": None, "error": error}
    return httpx2.Response(status, json=body, request=request)
