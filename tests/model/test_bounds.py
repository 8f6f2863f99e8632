"""Streams, refusals and replies without an end, or with far too much: each is cut in time, and memory stays flat."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from support.http_server import served
from support.run_harness import Stage
from support.scripted_model import Says, _events, _wire, call, says, text

from chiron_workers.errors import ModelUnavailable, RunFailed
from chiron_workers.model import Model, Request
from chiron_workers.model.admission import Admission
from chiron_workers.model.bounds import ReplyBounds
from chiron_workers.model.failures import Failure
from chiron_workers.model.transport import direct
from chiron_workers.runs.entries import Reply
from chiron_workers.runs.messages import Message
from chiron_workers.settings import Settings
from chiron_workers.states import Outcome

MAX_TOKENS = 100
REQUEST = Request(
    "m", "Be brief.", [], MAX_TOKENS, [Message.of("user", [{"type": "text", "text": "Hello?"}])]
)
OPENING = [_wire(event) for event in _events(says("x"), "m")[:2]]
PING = b'event: ping\ndata: {"type": "ping"}\n\n'
COMMENT = b": still reading\n\n"
MEGABYTES_MAX = 100  # that a worker may grow by for a reply of 1 GB

Body = Callable[[], AsyncIterator[bytes]]


def delta(words: str) -> bytes:
    return _wire({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": words}})


def spaced_delta(words: str) -> bytes:
    """As no scanner recognises it at once."""
    event = {"index": 0, "delta": {"text": words, "type": "text_delta"}, "type": "content_block_delta"}
    return f"data: {json.dumps(event)}\n\n".encode()


def rss_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


class Server:
    """Sends a body as long as somebody reads it, and counts."""

    def __init__(self, body: Body, *, status: int = 200) -> None:
        self.requests = 0
        self.sent = 0
        self.peak_mb = 0.0
        self._body = body
        self._status = status

    async def handle(self, http: web.Request) -> web.StreamResponse:
        self.requests += 1
        kind = "text/event-stream" if self._status == 200 else "application/json"
        response = web.StreamResponse(status=self._status, headers={"content-type": kind})
        await response.prepare(http)
        try:
            async for part in self._body():
                await response.write(part)
                self.sent += len(part)
                self.peak_mb = max(self.peak_mb, rss_mb())
        except ConnectionError:
            pass
        return response


@asynccontextmanager
async def model_of(server: Server, **changes: Any) -> AsyncIterator[Model]:
    app = web.Application()
    app.router.add_post("/v1/messages", server.handle)
    settings = Settings(_env_file=None, model_tries=1, **changes)  # type: ignore[call-arg]
    async with served(app) as url:
        model = Model(settings, Admission(settings), base_url=url, api_key="test")
        try:
            yield model
        finally:
            await model.close()


async def failure_of(server: Server, **changes: Any) -> tuple[Exception, list[Failure]]:
    failures: list[Failure] = []

    async def note(failure: Failure) -> None:
        failures.append(failure)

    async with model_of(server, **changes) as model, asyncio.timeout(60):
        with pytest.raises((RunFailed, ModelUnavailable)) as raised:
            await model.reply(REQUEST, on_text=lambda _: None, on_failure=note)
    return raised.value, failures


async def endless(*parts: bytes) -> AsyncIterator[bytes]:
    for part in OPENING:
        yield part
    for _ in range(1_000_000_000 // sum(map(len, parts))):
        for part in parts:
            yield part


@pytest.mark.parametrize(
    ("body", "bytes_max"),
    [
        (lambda: endless(delta("w" * 64_000)), ReplyBounds.of(MAX_TOKENS).content),
        (lambda: endless(spaced_delta("w" * 64_000)), ReplyBounds.of(MAX_TOKENS).content),
        (lambda: endless(PING * 1_000), ReplyBounds.of(MAX_TOKENS).stream),
        (lambda: endless(COMMENT * 1_000), ReplyBounds.of(MAX_TOKENS).stream),
        (lambda: endless(delta("") * 500), ReplyBounds.of(MAX_TOKENS).stream),
        (lambda: endless(b"x" * 64_000), ReplyBounds.of(MAX_TOKENS).stream),
    ],
    ids=["words", "words in another form", "pings", "comments", "empty deltas", "one line"],
)
async def test_a_reply_of_a_gigabyte_is_cut_once_it_is_longer_than_was_asked_for(
    body: Body, bytes_max: int
) -> None:
    server, before = Server(body), rss_mb()
    error, failures = await failure_of(server)
    assert isinstance(error, RunFailed)
    assert error.kind == "reply_too_long"
    assert f"more than {bytes_max:,} bytes where 100 tokens were asked for" in str(error)
    assert [failure.maybe_billed for failure in failures] == [True]
    assert (server.requests, server.sent < bytes_max + 100_000_000) == (1, True)
    assert server.peak_mb - before < MEGABYTES_MAX


async def test_what_a_server_searched_is_outside_of_the_tokens_asked_for() -> None:
    found = {
        "type": "web_search_tool_result",
        "tool_use_id": "t",
        "content": [{"page": "p" * 1_000_000} for _ in range(7)],
    }

    async def body() -> AsyncIterator[bytes]:
        for event in _events(Says((found, text("x"))), "m"):
            yield _wire(event)

    async with model_of(Server(body)) as model:
        reply = await model.reply(REQUEST, on_text=None)
    assert (len(reply.content), reply.problem) == (2, "")


async def test_a_full_reply_of_short_tokens_is_within_its_bounds() -> None:
    """Each token of four bytes in an event of 130, as llama.cpp sends them, and each escaped at six bytes a letter."""
    for max_tokens in (1, 1_000, 64_000, 1_000_000):
        bounds = ReplyBounds.of(max_tokens)
        bounds.require(content=4 * 6 * max_tokens, stream=(130 + 4 * 6) * max_tokens)


@pytest.mark.parametrize("sign", [PING, COMMENT], ids=["pings", "comments"])
@pytest.mark.parametrize("opening", [[], OPENING], ids=["before the reply", "within the reply"])
async def test_a_stream_of_nothing_but_pings_ends(sign: bytes, opening: list[bytes]) -> None:
    async def body() -> AsyncIterator[bytes]:
        for part in opening:
            yield part
        while True:  # ends: the client hangs up
            yield sign
            await asyncio.sleep(0.05)

    began = time.monotonic()
    error, failures = await failure_of(Server(body), model_progress_s=1)
    assert isinstance(error, ModelUnavailable)
    assert [failure.maybe_billed for failure in failures] == [True]
    assert 0.9 <= time.monotonic() - began < 20


@pytest.mark.parametrize("sign", [PING, COMMENT], ids=["pings", "comments"])
async def test_a_reply_after_a_prompt_that_was_read_for_long_is_kept(sign: bytes) -> None:
    async def body() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield sign
            await asyncio.sleep(0.05)
        for event in _events(says("the end"), "m"):
            yield _wire(event)
            await asyncio.sleep(0.4)

    async with model_of(Server(body), model_progress_s=3, model_idle_s=3) as model:
        reply: Reply = await model.reply(REQUEST, on_text=None)
    assert reply.text == "the end"


async def test_a_refusal_without_an_end_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct, "REFUSAL_MAX_S", 1.0)

    async def fast() -> AsyncIterator[bytes]:
        for _ in range(10_000):
            yield b"no " * 30_000

    async def slow() -> AsyncIterator[bytes]:
        while True:  # ends: the client hangs up
            yield b"no "
            await asyncio.sleep(0.05)

    for body in (fast, slow):
        server, before = Server(body, status=503), rss_mb()
        error, failures = await failure_of(server)
        assert "The model answers 503: no no no" in str(error)
        assert [failure.maybe_billed for failure in failures] == [False]
        assert server.sent < 16_000_000
        assert server.peak_mb - before < MEGABYTES_MAX


async def test_a_reply_with_2000_calls_is_answered_whole_and_keeps_no_other_run_waiting(stage: Stage) -> None:
    blocks = tuple(call("note", words=f"w{n}") for n in range(2_000))
    replies = [Says(blocks, "tool_use"), says("the end")]
    await stage.model(lambda _: replies.pop(0))
    (run_id,) = await stage.submit("tides")
    longest_s = waited_s = 0.0

    async def beat() -> None:
        nonlocal longest_s
        while True:  # ends: cancelled
            began_s = time.thread_time()  # of this thread alone, whatever else the machine does
            await asyncio.sleep(0)
            longest_s = max(longest_s, time.thread_time() - began_s)

    async def write_as_another_run() -> None:
        nonlocal waited_s
        while True:  # ends: cancelled
            began_s = time.monotonic()
            await stage.rows("select 1")
            waited_s = max(waited_s, time.monotonic() - began_s)
            await asyncio.sleep(0.02)

    others = [asyncio.create_task(beat()), asyncio.create_task(write_as_another_run())]
    try:
        assert await stage.play(run_id) is Outcome.PLAYED
    finally:
        for other in others:
            other.cancel()
        print(f"longest {longest_s:.3f} s of the event loop, longest wait for Postgres {waited_s:.3f} s")
    results = stage.server.requests[1]["messages"][-1]["content"]
    assert [block["tool_use_id"] for block in results] == [block["id"] for block in blocks]
    assert len(stage.runs_of_tools) == 2_000
    assert longest_s < 3, "of the event loop in one go"
    assert waited_s < 2.5, "for a connection: with all calls at once it is five seconds"
