import asyncio
import itertools
import time
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from aiohttp import web
from anthropic import AsyncAnthropic, BadRequestError
from support.http_server import served
from support.scripted_model import (
    Ending,
    Fails,
    Says,
    Script,
    _events,
    _wire,
    call,
    says,
    scripted_model,
    text,
)

from chiron_workers.billing.prices import cost_usd
from chiron_workers.errors import ModelUnavailable, RunFailed
from chiron_workers.model import Model, Request, local_cooldowns, retries
from chiron_workers.model.admission import Admission
from chiron_workers.model.failures import Failure
from chiron_workers.model.responses import DRAINED_MAX
from chiron_workers.model.retries import PAUSE_MAX_S, PAUSE_MIN_S, OnFailure, backoff_s
from chiron_workers.runs.entries import Reply, Usage
from chiron_workers.runs.messages import Message, encoded
from chiron_workers.settings import Settings

QUESTION = Message.of("user", [{"type": "text", "text": "Hello?"}])
TOOLS = [encoded({"name": "echo", "description": "Say it again.", "input_schema": {"type": "object"}})]


def request(**changes: Any) -> Request:
    found = {
        "model": "claude-opus-5-5",
        "system": "Be brief.",
        "tools": TOOLS,
        "max_tokens": 100,
        "messages": [QUESTION],
    }
    return Request(**(found | changes))


async def ask(
    script: Script,
    *,
    tries: int = 3,
    said: list[str] | None = None,
    on_failure: OnFailure | None = None,
    **changes: Any,
) -> tuple[Reply, list[Any]]:
    async with scripted_model(script) as server:
        settings = Settings(_env_file=None, model_tries=tries, model_timeout_s=1)  # type: ignore[call-arg]
        model = Model(settings, Admission(settings), base_url=server.url, api_key="test")
        try:
            on_text = (said if said is not None else []).append
            reply = await model.reply(request(**changes), on_text=on_text, on_failure=on_failure)
        finally:
            await model.close()
        return reply, server.requests


async def test_a_reply_is_kept_as_it_came_over_the_wire() -> None:
    thinking = {"type": "thinking", "thinking": "", "signature": "abc"}
    blocks = (thinking, text("Hm \u00e9."), call("echo", words={"deep": [1, None]}))
    reply, requests = await ask(lambda _: Says(blocks, stop="tool_use"))
    assert list(reply.content) == list(blocks)
    assert (reply.stop, reply.calls[0].arguments) == ("tool_use", {"words": {"deep": [1, None]}})
    assert reply.request_id.startswith("req_")
    sent = requests[0]
    assert (sent["stream"], sent["system"][0]["text"]) == (True, "Be brief.")
    assert [tool["name"] for tool in sent["tools"]] == ["echo"]


async def test_words_are_told_as_they_arrive_and_none_is_missing() -> None:
    said: list[str] = []
    reply, _ = await ask(lambda _: says("one", "two"), said=said)
    assert "".join(said) == "onetwo"
    assert reply.text == "one\n\ntwo"


async def test_a_call_goes_out_as_the_sdk_itself_would_send_it() -> None:
    heard: list[tuple[str, dict[str, str], Any]] = []

    async def hear(http: web.Request) -> web.Response:
        sent = {name.lower(): value for name, value in http.headers.items()}
        heard.append((f"{http.method} {http.path_qs}", sent, await http.json()))
        return web.json_response({"type": "error", "error": {"type": "x", "message": "no"}}, status=400)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", hear)
    async with served(app) as url:
        settings = Settings(_env_file=None)  # type: ignore[call-arg]
        ours = Model(settings, Admission(settings), base_url=url, api_key="test")
        with pytest.raises(RunFailed):
            await ours.reply(request(), on_text=lambda _: None)
        await ours.close()
        async with AsyncAnthropic(base_url=url, api_key="test", max_retries=0) as theirs:
            with pytest.raises(BadRequestError):
                await theirs.messages.create(**heard[0][2])
    (asked, sent, body), (asked_by_sdk, sent_by_sdk, body_by_sdk) = heard
    assert (asked, body) == (asked_by_sdk, body_by_sdk)
    assert sent["content-type"] == "application/json"
    for headers in (sent, sent_by_sdk):
        del headers["x-stainless-read-timeout"]  # ours is a setting
    assert sent == sent_by_sdk


async def test_other_servers_of_the_api_are_asked_without_caching() -> None:
    _, requests = await ask(lambda _: says("x"), model="qwen3")
    assert "cache_control" not in requests[0]


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses after failures, and cool-downs whose length a server leaves open, begin with 20 ms."""
    monkeypatch.setattr(retries, "PAUSE_MIN_S", 0.02)
    monkeypatch.setattr(local_cooldowns, "_State", partial(local_cooldowns._State, next_s=0.02))


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize(
    "fault",
    [
        Fails(stream="drop"),
        Fails(stream="early_end"),
        Fails(stream="corrupt"),
        Fails(stream="stall"),
        Fails(stream="hang_up"),
        Fails(stream="silence"),
        Fails(stream="error", type="overloaded_error"),
        Fails(status=429, type="rate_limit_error", headers={"retry-after": "0"}),
        Fails(status=500),
        Fails(status=529, type="overloaded_error"),
    ],
    ids=lambda fault: fault.stream or str(fault.status),
)
async def test_a_fault_is_tried_again_until_the_reply_is_whole(fault: Fails) -> None:
    script = itertools.chain([fault, fault], itertools.repeat(says("whole")))
    reply, requests = await ask(lambda _: next(script))
    assert (reply.text, len(requests)) == ("whole", 3)


@pytest.mark.parametrize("ending", list(Ending))
async def test_a_reply_ends_with_message_stop_whatever_becomes_of_the_connection(
    ending: Ending, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing but message_stop ends a reply here, and nothing but their number ends the bodies that are awaited.
    monkeypatch.setattr("chiron_workers.model.responses.STOP_MAX_S", 3_600)
    monkeypatch.setattr("chiron_workers.model.responses.DRAIN_MAX_S", 3_600)
    monkeypatch.setattr("support.scripted_model.LATE_S", 3_600)
    async with asyncio.timeout(60), scripted_model(lambda _: Says((text("whole"),), ending=ending)) as server:
        settings = Settings(_env_file=None, model_tries=1)  # type: ignore[call-arg]
        model = Model(settings, Admission(settings), base_url=server.url, api_key="test")
        replies = [await model.reply(request(), on_text=lambda _: None) for _ in range(DRAINED_MAX + 2)]
        open_bodies = DRAINED_MAX if ending is Ending.LATE else 0
        while len(model._responses._ending) != open_bodies:
            await asyncio.sleep(0.01)
        await model.close()
    assert {reply.text for reply in replies} == {"whole"}
    assert len(server.requests) == len(replies)


async def streamed(*chunks: bytes | None) -> tuple[list[Reply], list[Any]]:
    """Two replies of a server that sends these parts of a stream; None: it waits until its client is gone."""
    peers = []

    async def answer(http: web.Request) -> web.StreamResponse:
        assert http.transport is not None
        peers.append(http.transport.get_extra_info("peername"))
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(http)
        for chunk in chunks:
            while chunk is None and http.transport is not None:
                await asyncio.sleep(0.01)
            await response.write(chunk or b"")
        return response

    app = web.Application()
    app.router.add_post("/v1/messages", answer)
    async with served(app) as url:
        settings = Settings(_env_file=None, model_tries=1)  # type: ignore[call-arg]
        model = Model(settings, Admission(settings), base_url=url, api_key="test")
        replies = []
        for _ in range(2):
            replies.append(await model.reply(request(), on_text=lambda _: None))
            await asyncio.gather(*model._responses._ending)
        await model.close()
    return replies, peers


WIRE = [_wire(event) for event in _events(says("whole"), "m")]


async def test_the_connection_of_a_reply_is_used_again_once_its_body_has_ended() -> None:
    _, peers = await streamed(b"".join(WIRE))
    assert peers[0] == peers[1]


@pytest.mark.parametrize(
    "end",
    [(), (b"event: mess",), (b"event: x\ndata: {oops\n\n",), (_wire({"type": "error", "error": {}}),)],
    ids=["nothing", "half an event", "no JSON", "an error"],
)
async def test_a_reply_whose_stop_reason_is_there_needs_no_message_stop(end: tuple[bytes, ...]) -> None:
    replies, _ = await streamed(*WIRE[:-1], *end)
    assert [(reply.text, reply.stop, reply.problem) for reply in replies] == [("whole", "end_turn", "")] * 2


async def test_a_reply_with_an_event_that_is_no_json_is_paid_for_once() -> None:
    for data in (b"{oops", b"[" * 100_000, b"7"):
        replies, _ = await streamed(*WIRE[:-2], b"event: x\ndata: " + data + b"\n\n", *WIRE[-2:])
        assert [(reply.text, bool(reply.problem)) for reply in replies] == [("whole", True)] * 2


async def test_a_cancel_after_the_stop_reason_waits_until_the_reply_is_in_hand() -> None:
    has_stopped, replies = asyncio.Event(), []

    async def answer(http: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(http)
        await response.write(b"".join(WIRE[:-1]))
        has_stopped.set()
        await asyncio.sleep(10)
        return response

    async def reply_and_commit(model: Model) -> None:
        replies.append(await model.reply(request(), on_text=lambda _: None))
        await asyncio.sleep(10)

    app = web.Application()
    app.router.add_post("/v1/messages", answer)
    async with served(app) as url:
        settings = Settings(_env_file=None, model_tries=1)  # type: ignore[call-arg]
        model = Model(settings, Admission(settings), base_url=url, api_key="test")
        task = asyncio.create_task(reply_and_commit(model))
        await has_stopped.wait()
        await asyncio.sleep(0.2)  # for the way from the server
        task.cancel()
        await asyncio.wait([task])
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await reply_and_commit(model)
        await model.close()
    assert task.cancelled()
    assert [reply.text for reply in replies] == ["whole", "whole"]


async def test_message_stop_is_not_waited_for_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chiron_workers.model.responses.STOP_MAX_S", 0.05)
    replies, _ = await streamed(*WIRE[:-1], None)
    assert [reply.text for reply in replies] == ["whole", "whole"]


async def test_a_body_that_does_not_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chiron_workers.model.responses.DRAIN_MAX_S", 0.05)
    _, peers = await streamed(*WIRE, None)
    assert peers[0] != peers[1]


async def failed_tries(fault: Fails) -> tuple[list[Failure], Exception]:
    waits: list[Failure] = []

    async def note(wait: Failure) -> None:
        waits.append(wait)

    with pytest.raises((ModelUnavailable, RunFailed)) as ended:
        await ask(lambda _: fault, tries=2, on_failure=note)
    return waits, ended.value


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize("stream", ["drop", "early_end", "corrupt", "stall", "hang_up", "silence", "error"])
async def test_a_try_that_broke_after_the_request_was_sent_may_have_been_billed(stream: str) -> None:
    waits, _ = await failed_tries(Fails(stream=stream, type="overloaded_error"))
    assert [wait.maybe_billed for wait in waits] == [True, True]


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
async def test_a_refusal_with_a_status_was_not_billed(status: int) -> None:
    waits, _ = await failed_tries(Fails(status=status, headers={"retry-after": "0"}))
    assert [wait.maybe_billed for wait in waits] == [False, False]


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize("status", [502, 504])
async def test_what_stands_behind_a_gateway_that_gave_up_may_have_billed(status: int) -> None:
    waits, _ = await failed_tries(Fails(status=status))
    assert [wait.maybe_billed for wait in waits] == [True, True]


async def test_a_connection_that_never_came_about_was_not_billed() -> None:
    waits: list[Failure] = []

    async def note(wait: Failure) -> None:
        waits.append(wait)

    async with scripted_model(lambda _: says("x")) as server:
        gone = server.url
    settings = Settings(_env_file=None, model_tries=1)  # type: ignore[call-arg]
    model = Model(settings, Admission(settings), base_url=gone, api_key="test")
    with pytest.raises(ModelUnavailable):
        await model.reply(request(), on_text=lambda _: None, on_failure=note)
    await model.close()
    assert [wait.maybe_billed for wait in waits] == [False]


async def test_what_ends_a_run_in_mid_stream_may_have_been_billed_and_a_refusal_was_not() -> None:
    for fault, billed in (
        (Fails(stream="error", type="invalid_request_error"), True),
        (Fails(status=400), False),
    ):
        waits, error = await failed_tries(fault)
        assert isinstance(error, RunFailed)
        assert [(wait.fatal, wait.maybe_billed) for wait in waits] == [(error, billed)]


async def test_tries_are_bounded_and_the_run_is_told_when_to_come_back() -> None:
    with pytest.raises(ModelUnavailable, match="500") as told:
        await ask(lambda _: Fails(status=500, message="no luck"), tries=2)
    assert told.value.retry_after_s >= PAUSE_MAX_S


async def test_a_long_retry_after_hands_the_run_back_at_once() -> None:
    began = time.monotonic()
    fault = Fails(status=429, type="rate_limit_error", headers={"retry-after": "900"})
    with pytest.raises(ModelUnavailable) as told:
        await ask(lambda _: fault)
    assert told.value.retry_after_s == 900
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        (Fails(status=400, message="messages: too long"), "request", "messages: too long"),
        (Fails(status=404, message="model: nope"), "model", "model: nope"),
        (Fails(status=413, message="too big"), "request", "too big"),
    ],
)
async def test_what_can_never_succeed_is_asked_once_and_ends_with_the_servers_words(
    fault: Fails, kind: str, words: str
) -> None:
    asked = []
    with pytest.raises(RunFailed, match=words) as told:
        await ask(lambda found: asked.append(found) or fault)  # type: ignore[func-returns-value]
    assert (told.value.kind, len(asked)) == (kind, 1)


async def test_a_spend_limit_is_no_matter_of_seconds() -> None:
    fault = Fails(status=429, type="rate_limit_error", message="enforced_spend_limit_reached: over the limit")
    with pytest.raises(ModelUnavailable, match="spend limit") as told:
        await ask(lambda _: fault)
    assert told.value.retry_after_s > PAUSE_MAX_S


async def test_a_missing_key_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/nonexistent")
    settings = Settings(_env_file=None)  # type: ignore[call-arg]
    model = Model(settings, Admission(settings), base_url="http://127.0.0.1:9")
    with pytest.raises(RunFailed, match="ANTHROPIC_API_KEY") as told:
        await model.reply(request(), on_text=lambda _: None)
    assert told.value.kind == "credentials"
    await model.close()


async def test_two_hundred_calls_wait_side_by_side() -> None:
    calls, all_wait = itertools.count(1), asyncio.Event()

    async def slow(_: dict[str, Any]) -> Says:
        if next(calls) == 200:
            all_wait.set()
        await all_wait.wait()
        return says("x")

    async with scripted_model(slow) as server:
        settings = Settings(_env_file=None, concurrency=200, model_tries=1)  # type: ignore[call-arg]
        model = Model(settings, Admission(settings), base_url=server.url, api_key="test")
        async with asyncio.timeout(60):
            await asyncio.gather(*(model.reply(request(), on_text=lambda _: None) for _ in range(200)))
        await model.close()


def test_cached_tokens_have_prices_of_their_own() -> None:
    usage = Usage(input_tokens=1000, output_tokens=500, cache_write_tokens=100, cache_read_tokens=200)
    assert cost_usd("claude-opus-5-5", usage, {}) == Decimal("0.01454")


def test_an_unknown_model_has_no_price_unless_one_is_set() -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
    assert cost_usd("my-own", usage, {}) is None
    assert cost_usd("my-own", usage, {"my-own": {"input": 2, "output": 3.5}}) == Decimal("5.5")
    assert cost_usd("offline", usage, {}) == 0


def test_backoff_grows_and_stays_below_a_minute() -> None:
    for attempt in range(20):
        longest = min(PAUSE_MAX_S, PAUSE_MIN_S * 2**attempt)
        assert all(0 <= backoff_s(attempt) <= longest for _ in range(50))


async def test_half_a_surrogate_pair_in_a_reply_can_be_sent_back(settings: Settings) -> None:
    async with scripted_model(
        lambda _: Says((call("echo", words="\ud83d"), text("\ude00 ends")), "tool_use")
    ) as server:
        model = Model(settings, Admission(settings), base_url=server.url, api_key="test")
        reply = await model.reply(request(), on_text=lambda _: None)
        heard = [Message.of("assistant", reply.content), QUESTION]
        await model.reply(request(messages=[QUESTION, *heard]), on_text=lambda _: None)
        await model.close()
    assert reply.calls[0].arguments == {"words": "?"}
    assert reply.text == "? ends"


async def test_a_request_that_cannot_be_sent_fails_at_once_and_costs_nothing(settings: Settings) -> None:
    waits: list[Failure] = []

    async def note(wait: Failure) -> None:
        waits.append(wait)

    async with scripted_model(lambda _: says("never")) as server:
        for key in ("sk-hush\n", "sk-hush-\ud83d"):
            model = Model(settings, Admission(settings), base_url=server.url, api_key=key)
            with pytest.raises(RunFailed, match="cannot be sent") as told:
                await model.reply(request(), on_text=lambda _: None, on_failure=note)
            assert "hush" not in str(told.value)
            await model.close()
    assert [wait.maybe_billed for wait in waits] == [False, False]
    assert server.requests == []


async def test_half_of_a_surrogate_pair_is_sent_as_a_question_mark() -> None:
    halves = [Message.of("user", [text("\ud83d \u20ac")])]
    _, requests = await ask(lambda _: says("What?"), messages=halves)
    assert requests[0]["messages"][0]["content"] == [text("? \u20ac")]


async def silent_after(*parts: bytes, every_s: float = 0.0, **settings: Any) -> tuple[list[Failure], float]:
    """The failures of a call whose server sends these parts and then says no more, and how long it took."""
    failures: list[Failure] = []

    async def note(failure: Failure) -> None:
        failures.append(failure)

    async def answer(http: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(http)
        for part in parts:
            await response.write(part)
            await asyncio.sleep(every_s)
        await asyncio.sleep(60)
        return response

    app = web.Application()
    app.router.add_post("/v1/messages", answer)
    async with served(app) as url:
        values = Settings(_env_file=None, model_tries=1, **settings)  # type: ignore[call-arg]
        model = Model(values, Admission(values), base_url=url, api_key="test")
        began = time.monotonic()
        with pytest.raises(ModelUnavailable):
            await model.reply(request(), on_text=None, on_failure=note)
        took_s = time.monotonic() - began
        await model.close()
    return failures, took_s


@pytest.mark.parametrize("transport", ["aiohttp", "sdk"])
async def test_a_stream_that_falls_silent_is_noticed_by_its_silence(transport: str) -> None:
    failures, took_s = await silent_after(WIRE[0], model_idle_s=0.2, model_timeout_s=40, transport=transport)
    assert [(failure.maybe_billed, "StreamSilent" in failure.reason) for failure in failures] == [
        (True, True)
    ]
    assert took_s < 20


async def test_pings_keep_a_stream_alive_longer_than_it_may_be_silent() -> None:
    pings = [b"event: ping\ndata: {}\n\n"] * 12
    _, took_s = await silent_after(WIRE[0], *pings, every_s=0.1, model_idle_s=0.7, model_timeout_s=40)
    assert took_s > 1.2


async def test_a_stream_that_has_not_begun_may_be_silent_for_as_long_as_an_answer_may_take() -> None:
    failures, took_s = await silent_after(b": hello\n\n", model_idle_s=0.1, model_timeout_s=1)
    assert "StreamSilent" in failures[0].reason
    assert took_s > 0.9


async def test_words_are_decoded_for_whoever_comes_in_the_middle_of_a_reply_and_for_nobody_before() -> None:
    is_read, said = asyncio.Event(), list[str]()
    first, rest = WIRE[:2], WIRE[2:]

    def is_heard() -> bool:
        """From the second look on: the first is at what the server has sent before."""
        was_read = is_read.is_set()
        is_read.set()
        return was_read

    async def answer(http: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(http)
        await response.write(b"".join(first) + DELTA % b"unheard ")
        await is_read.wait()
        await response.write(DELTA % b"heard ")
        await response.write(b"".join(rest))
        return response

    app = web.Application()
    app.router.add_post("/v1/messages", answer)
    async with served(app) as url:
        settings = Settings(_env_file=None, model_tries=1)  # type: ignore[call-arg]
        model = Model(settings, Admission(settings), base_url=url, api_key="test")
        async with asyncio.timeout(60):
            reply = await model.reply(request(), on_text=said.append, is_heard=is_heard)
        await model.close()
    assert reply.text == "unheard heard whole"
    assert "".join(said) == "heard whole"


DELTA = (
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
    b'"delta":{"type":"text_delta","text":"%b"}}\n\n'
)
