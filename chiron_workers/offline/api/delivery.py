"""Sending a reply: at once or spread over its latency, whole or broken on purpose."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from chiron_workers.offline.api.faults import OVERLOADED, Fault
from chiron_workers.offline.api.wire import error_event

_FIRST_BYTE = 0.4  # share of the latency before the first byte
_STREAM = {"content-type": "text/event-stream; charset=utf-8"}
_PARTS = 4  # writes that the rest is spread over
_CORRUPT = b'event: content_block_delta\ndata: {"type": "content_block_delta", "index": 0, "del\n\n'


@dataclass(frozen=True, slots=True)
class Delivery:
    """How the replies of a server go out."""

    latency_s: float = 0.0
    stall_s: float = 30.0

    async def whole(self, request: web.Request, body: dict[str, Any], request_id: str) -> web.StreamResponse:
        """Send a reply as one JSON document."""
        await asyncio.sleep(self.latency_s)
        headers = {"content-type": "application/json", "request-id": request_id}
        return await _sent(request, web.Response(body=json.dumps(body).encode(), headers=headers))

    async def stream(
        self, request: web.Request, events: Sequence[bytes], request_id: str
    ) -> web.StreamResponse:
        """Send a reply as server-sent events; returns once all of them were handed over."""
        headers = _STREAM | {"request-id": request_id}
        if self.latency_s == 0:
            return await _sent(request, web.Response(body=b"".join(events), headers=headers))
        await asyncio.sleep(self.latency_s * _FIRST_BYTE)
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        pause = self.latency_s * (1 - _FIRST_BYTE) / _PARTS
        await response.write(events[0])
        for part in range(_PARTS):
            await asyncio.sleep(pause)
            size = len(events) - 1
            first, last = 1 + size * part // _PARTS, 1 + size * (part + 1) // _PARTS
            await response.write(b"".join(events[first:last]))
        await response.write_eof()
        return response

    async def broken(
        self, request: web.Request, events: Sequence[bytes], request_id: str, fault: Fault
    ) -> web.StreamResponse:
        """Send the first half of a reply, then what the fault says."""
        await asyncio.sleep(self.latency_s)
        response = web.StreamResponse(headers=_STREAM | {"request-id": request_id})
        await response.prepare(request)
        half = max(1, len(events) // 2)
        await response.write(b"".join(events[:half]))
        match fault:
            case Fault.ERROR_EVENT:
                await response.write(error_event(OVERLOADED, request_id))
            case Fault.CORRUPT:
                await response.write(_CORRUPT + b"".join(events[half:]))
            case Fault.STALLED:
                await asyncio.sleep(self.stall_s)
        if fault in (Fault.DROPPED, Fault.STALLED):
            drop(request)
        else:
            await response.write_eof()
        return response


def drop(request: web.Request) -> None:
    """Break the connection."""
    if request.transport:
        request.transport.close()


async def _sent(request: web.Request, response: web.Response) -> web.Response:
    """Sent from here, not after the handler, so that a caller knows it went out."""
    await response.prepare(request)
    await response.write_eof()
    return response
