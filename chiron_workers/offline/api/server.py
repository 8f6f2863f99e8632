"""The Messages API over HTTP, answered by the offline researcher."""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from aiohttp import web

from chiron_workers.offline.api.delivery import Delivery, drop
from chiron_workers.offline.api.faults import OVERLOADED, REFUSALS, Fault, Faults
from chiron_workers.offline.api.request import CountRequest, MessagesRequest, parse
from chiron_workers.offline.api.request_log import RequestLog
from chiron_workers.offline.api.usage import PrefixCache
from chiron_workers.offline.api.wire import MODEL, ApiError, Turn, events, message
from chiron_workers.offline.load_test import Load
from chiron_workers.offline.researcher.conversation import conversation_key
from chiron_workers.offline.researcher.researcher import next_reply

_BODY_BYTES_MAX = 64 * 1024 * 1024
_REQUEST_ID = web.RequestKey("request_id", str)


@dataclass
class OfflineServer:
    """What the server is to do.

    Args:
        latency_s: Seconds that each reply takes; the first byte comes after 0.4 of them.
        turns: Load mode: exactly so many replies a conversation, cheap and without meaning. None: research.
        calls: Tool calls in each reply of load mode.
        reply_chars: Characters of text in each reply of load mode.
        delta_chars: Characters of each delta of a stream, as models send a few at a time. None: a few large ones.
        site: Load mode: the address of a site. Each reply reads its next page and stores a fact of the page before.
        seed, fault_rate: Which share of the requests fails, and which ones.
        script: Faults of the first requests, in order; None for a request that is served.
        stall_s: Seconds that a stalled stream stays silent before its connection breaks.
        log: File for one JSON line as a request is received and as it is answered or cut.
    """

    latency_s: float = 0.0
    turns: int | None = None
    calls: int = 1
    reply_chars: int = 400
    delta_chars: int | None = None
    site: str = ""
    seed: int = 0
    fault_rate: float = 0.0
    script: Sequence[Fault | None] = ()
    stall_s: float = 30.0
    log: Path | None = None
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count, init=False, repr=False)
    _prefixes: PrefixCache = field(default_factory=PrefixCache, init=False, repr=False)

    def app(self, request_log: RequestLog) -> web.Application:
        """The web application."""
        self._request_log = request_log
        self._faults = Faults(self.fault_rate, self.seed, self.script)
        self._delivery = Delivery(self.latency_s, self.stall_s)
        self._load = self.turns and Load(
            turns=self.turns,
            calls=self.calls,
            reply_chars=self.reply_chars,
            site=self.site.rstrip("/"),
            prefixes=self._prefixes,
        )
        app = web.Application(client_max_size=_BODY_BYTES_MAX, middlewares=[_errors])
        app.router.add_post("/v1/messages", self._messages)
        app.router.add_post("/v1/messages/count_tokens", self._count)
        app.router.add_get("/v1/models", _models)
        app.router.add_get("/v1/models/{id}", _model)
        return app

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        number = next(self._numbers)
        request_id = f"req_offline_{number:08d}"
        request[_REQUEST_ID] = request_id
        turn = await self._prepare(await request.read())
        fault = self._faults.of(number)
        note = partial(
            self._request_log.note,
            request_id=request_id,
            conversation=turn.conversation,
            turn=turn.number,
            fault=fault,
        )
        note("received")
        is_answered = False
        try:
            if fault in REFUSALS:
                raise REFUSALS[fault]
            response = await self._send(request, turn, fault)
            is_answered = fault is None
        finally:
            note("answered" if is_answered else "cut")
        return response

    async def _send(self, request: web.Request, turn: Turn, fault: Fault | None) -> web.StreamResponse:
        request_id = request[_REQUEST_ID]
        if turn.is_streamed:
            parts = events(turn, delta_chars=self.delta_chars)
            if fault is None:
                return await self._delivery.stream(request, parts, request_id)
            return await self._delivery.broken(request, parts, request_id, fault)
        if fault is Fault.ERROR_EVENT:
            raise OVERLOADED
        if fault:
            drop(request)
        return await self._delivery.whole(request, message(turn), request_id)

    async def _prepare(self, body: bytes) -> Turn:
        if self._load:
            return self._load.turn(body)
        messages_request = parse(MessagesRequest, body)
        reply = await asyncio.to_thread(next_reply, messages_request)  # Long documents take a while to read.
        key = conversation_key(messages_request.system, messages_request.messages[0].content)
        usage = self._prefixes.account(messages_request.pieces, messages_request.cache_control)
        return Turn(key, messages_request.turn, messages_request.model, messages_request.stream, usage, reply)

    async def _count(self, request: web.Request) -> web.Response:
        request[_REQUEST_ID] = f"req_offline_count_{next(self._numbers):08d}"
        count_request = parse(CountRequest, await request.read())
        usage = PrefixCache().account(count_request.pieces, None)
        return web.json_response({"input_tokens": usage.new + usage.cache_write + usage.cache_read})


@web.middleware
async def _errors(request: web.Request, handler: Callable[[web.Request], object]) -> web.StreamResponse:
    """Every error in the API's form, with a request id."""
    try:
        return await handler(request)  # type: ignore[misc, no-any-return]  # aiohttp's own handler type is private
    except ApiError as error:
        return _refused(request, error)
    except web.HTTPRequestEntityTooLarge:
        return _refused(request, ApiError(413, "request_too_large", "Request exceeds the maximum size"))
    except web.HTTPMethodNotAllowed:
        return _refused(request, ApiError(405, "invalid_request_error", "Method not allowed"))
    except web.HTTPNotFound:
        return _refused(request, ApiError(404, "not_found_error", f"Not found: {request.path}"))


def _refused(request: web.Request, error: ApiError) -> web.Response:
    request_id = request.get(_REQUEST_ID, "req_offline")
    headers = {"request-id": request_id, **error.headers}
    return web.json_response(error.body(request_id), status=error.status, headers=headers)


async def _models(request: web.Request) -> web.Response:
    page = {"data": [MODEL], "has_more": False, "first_id": MODEL["id"], "last_id": MODEL["id"]}
    return web.json_response(page)


async def _model(request: web.Request) -> web.Response:
    if request.match_info["id"] != MODEL["id"]:
        raise ApiError(404, "not_found_error", f"model: {request.match_info['id']}")
    return web.json_response(MODEL)
