"""The Messages API over HTTP, answered by the offline researcher."""

import asyncio
import contextlib
import itertools
import signal
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from aiohttp import web

from chiron_workers.errors import UsageError
from chiron_workers.offline.api.delivery import Delivery, drop
from chiron_workers.offline.api.faults import OVERLOADED, REFUSALS, Fault, Faults
from chiron_workers.offline.api.reply import Reply
from chiron_workers.offline.api.request import parse, parse_count
from chiron_workers.offline.api.request_log import Event, RequestLog
from chiron_workers.offline.api.usage import InputUsage, PrefixCache
from chiron_workers.offline.api.wire import MODEL, ApiError, events, message
from chiron_workers.offline.load_test import Load
from chiron_workers.offline.researcher.conversation import conversation_key
from chiron_workers.offline.researcher.researcher import next_reply

_BODY_BYTES_MAX = 64 * 1024 * 1024
_REQUEST_ID = web.RequestKey("request_id", str)
_STOP_S = 2.0  # for replies under way when the server stops


@dataclass(frozen=True, slots=True)
class _PreparedReply:
    """A request with its reply, not yet sent."""

    conversation: str
    turn: int
    model: str
    stream: bool
    usage: InputUsage
    reply: Reply


@dataclass
class OfflineServer:
    """What the server is to do.

    Args:
        latency_s: Seconds that each reply takes; the first byte comes after 0.4 of them.
        turns: Load mode: exactly so many replies a conversation, cheap and without meaning. None: research.
        calls: Tool calls in each reply of load mode.
        reply_chars: Characters of text in each reply of load mode.
        seed, fault_rate: Which share of the requests fails, and which ones.
        script: Faults of the first requests, in order; None for a request that is served.
        stall_s: Seconds that a stalled stream stays silent before its connection breaks.
        log: File for one JSON line as a request is received and as it is answered or cut.
    """

    latency_s: float = 0.0
    turns: int | None = None
    calls: int = 1
    reply_chars: int = 400
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
            turns=self.turns, calls=self.calls, reply_chars=self.reply_chars, prefixes=self._prefixes
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
        prepared = await self._prepare(await request.read())
        fault = self._faults.of(number)

        def note(event: Event) -> None:
            self._request_log.note(
                event,
                request_id=request_id,
                conversation=prepared.conversation,
                turn=prepared.turn,
                fault=fault,
            )

        note("received")
        is_answered = False
        try:
            if fault in REFUSALS:
                raise REFUSALS[fault]
            response = await self._send(request, prepared, fault)
            is_answered = fault is None
        finally:
            note("answered" if is_answered else "cut")
        return response

    async def _send(
        self, request: web.Request, prepared: _PreparedReply, fault: Fault | None
    ) -> web.StreamResponse:
        request_id = request[_REQUEST_ID]
        if prepared.stream:
            parts = events(prepared.reply, prepared.usage, prepared.model)
            if fault is None:
                return await self._delivery.stream(request, parts, request_id)
            return await self._delivery.broken(request, parts, request_id, fault)
        if fault is Fault.ERROR_EVENT:
            raise OVERLOADED
        if fault:
            drop(request)
        return await self._delivery.whole(
            request, message(prepared.reply, prepared.usage, prepared.model), request_id
        )

    async def _prepare(self, body: bytes) -> _PreparedReply:
        if self._load:
            turn = self._load.turn(body)
            return _PreparedReply(
                turn.conversation,
                turn.number,
                turn.frame.model,
                turn.frame.is_streamed,
                turn.usage,
                turn.reply,
            )
        parsed = parse(body)
        reply = await asyncio.to_thread(next_reply, parsed)  # Long documents take a while to read.
        key = conversation_key(parsed.system, parsed.messages[0].content)
        usage = self._prefixes.account(parsed.pieces, parsed.cache_control)
        return _PreparedReply(key, parsed.turn, parsed.model, parsed.stream, usage, reply)

    async def _count(self, request: web.Request) -> web.Response:
        request[_REQUEST_ID] = f"req_offline_count_{next(self._numbers):08d}"
        parsed = parse_count(await request.read())
        usage = PrefixCache().account(parsed.pieces, None)
        return web.json_response({"input_tokens": usage.new + usage.cache_write + usage.cache_read})


@contextlib.asynccontextmanager
async def serve(
    server: OfflineServer | None = None, *, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[str]:
    """Run a server while the block runs; yields its base URL. Port 0 takes a free one.

    Raises:
        UsageError: The port is taken, or the address is not one of this machine.
    """
    server = server or OfflineServer()
    with RequestLog(server.log) as request_log:
        runner = web.AppRunner(
            server.app(request_log),
            access_log=None,
            handler_cancellation=True,
            keepalive_timeout=300,
            shutdown_timeout=_STOP_S,
        )
        await runner.setup()
        try:
            try:
                await web.TCPSite(runner, host, port, backlog=2_048).start()
            except OSError as error:
                raise UsageError(
                    f"Cannot listen on {host}:{port} ({error.strerror}). Choose another port."
                ) from None
            yield f"http://{host}:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()


async def run_until_stopped(server: OfflineServer, *, port: int, announce: Callable[[str], None]) -> None:
    """Serve on a loopback port, call `announce` with the URL once it answers, and end cleanly on SIGINT or SIGTERM."""
    stop_requested = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop_requested.set)
    async with serve(server, port=port) as url:
        announce(url)
        await stop_requested.wait()


class ServerThread(NamedTuple):
    """A server in a thread of its own: where it is, and how to end it."""

    url: str
    stop: Callable[[], None]


def start_in_thread(server: OfflineServer | None = None) -> ServerThread:
    """Run a server on a free loopback port beside the caller's own work, until `stop()` is called."""
    ready = threading.Event()
    urls: list[str] = []
    loop = asyncio.new_event_loop()
    stop_requested = asyncio.Event()

    async def work() -> None:
        try:
            async with serve(server) as url:
                urls.append(url)
                ready.set()
                await stop_requested.wait()
        finally:
            ready.set()

    def body() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(work())

    thread = threading.Thread(target=body, name="offline-researcher", daemon=True)
    thread.start()
    ready.wait()
    if not urls:
        raise UsageError("The offline researcher could not start: no loopback port can be opened.")

    def stop() -> None:
        if thread.is_alive():
            loop.call_soon_threadsafe(stop_requested.set)
            thread.join()

    return ServerThread(urls[0], stop)


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
