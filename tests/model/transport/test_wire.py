"""Our own requests are those of the SDK, byte for byte, and what comes back is taken in the same way."""

import asyncio
import gzip
import json
import zlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from support import bare_interpreter
from support.raw_http import Answer, RawRequest, raw_server, response
from support.scripted_model import _events, _wire, says

from chiron_workers.errors import RunFailed
from chiron_workers.model.event_stream import EventScanner
from chiron_workers.model.failures import CALL_FAULTS, Failure, classify
from chiron_workers.model.faults import StatusError
from chiron_workers.model.stream import Accumulation
from chiron_workers.model.transport import Transport, open_transport
from chiron_workers.model.transport.direct import REFUSAL_MAX_BYTES, DirectTransport
from chiron_workers.model.transport.sdk import SdkTransport
from chiron_workers.settings import Settings

BODY = json.dumps({"model": "m", "text": "\u20ac" * 50_000}).encode()
PARTS = [BODY[at : at + size] for at, size in ((0, 9), (9, 30_000), (30_009, 50_000), (80_009, len(BODY)))]
STREAM = b"".join(_wire(event) for event in _events(says("whole"), "m"))
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS")
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*KEYS, *PROXIES, *(name.upper() for name in PROXIES)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")


def transport(kind: str, *, base_url: str | None = None, api_key: str | None = None) -> Transport:
    settings = Settings(_env_file=None, transport=kind, model_timeout_s=5)  # type: ignore[call-arg, arg-type]
    return open_transport(settings, base_url=base_url, api_key=api_key)


async def whole(model: Transport, body: Sequence[bytes] = PARTS) -> str:
    """The text of a streamed reply."""
    answer, accumulation = await model.post("/v1/messages", body), Accumulation()
    scanner = EventScanner(accumulation, answer.headers)
    try:
        while chunk := await answer.read():
            scanner.feed(chunk, None)
    finally:
        await answer.close()
    return str(accumulation.message()["content"][0]["text"])


async def both(
    answer: Answer, act: Callable[[Transport], Awaitable[Any]], *, path: str = "", **arguments: Any
) -> tuple[list[Any], list[list[RawRequest]]]:
    """What comes of it with our transport and with the SDK's, and the requests of each."""
    results, requests = [], []
    for kind, expected in (("aiohttp", DirectTransport), ("sdk", SdkTransport)):
        async with raw_server(answer) as server:
            model = transport(kind, base_url=server.url + path, **arguments)
            assert isinstance(model, expected)
            try:
                results.append(await act(model))
            except (RunFailed, *CALL_FAULTS) as error:
                results.append(error)
            await model.close()
            local = server.url.removeprefix("http://").encode()
            requests.append(
                [RawRequest(one.head.replace(local, b"HERE"), one.body) for one in server.requests]
            )
    return results, requests


def assert_same(requests: list[list[RawRequest]], *, in_order: bool = True) -> None:
    ours, theirs = requests
    assert [(one.line, one.body) for one in ours] == [(one.line, one.body) for one in theirs]
    for our, their in zip(ours, theirs, strict=True):
        assert sorted(our.headers) == sorted(their.headers)
        if in_order:
            assert our.head == their.head


@pytest.mark.parametrize("path", ["", "/", "/a/gate-way_1.0", "/a/gate/"])
async def test_a_call_is_the_sdks_byte_for_byte(path: str) -> None:
    results, requests = await both(lambda _: response(STREAM, type="text/event-stream"), whole, path=path)
    assert results == ["whole", "whole"]
    assert_same(requests)
    assert requests[0][0].body == BODY


async def test_a_small_body_is_the_sdks_too() -> None:
    _, requests = await both(
        lambda _: response(STREAM, type="text/event-stream"), lambda model: whole(model, [b'{"a":', b"1}"])
    )
    assert_same(requests)
    assert requests[0][0].body == b'{"a":1}'


@pytest.mark.parametrize(
    "environment",
    [
        {"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": "token"},
        {"ANTHROPIC_AUTH_TOKEN": "token"},
        {"ANTHROPIC_CUSTOM_HEADERS": "anthropic-beta: one,two\nX-Own:  a: b \nno colon\nx-own: c"},
        {"ANTHROPIC_CUSTOM_HEADERS": "authorization: Basic x\nUser-Agent: me\naccept: */*\nX-Api-Key: k"},
        {"ANTHROPIC_CUSTOM_HEADERS": "accept-encoding: identity\nhost: other\nx-umlaut: \u00e4"},
        {"ANTHROPIC_CUSTOM_HEADERS": "x-stainless-helper: a, b, a\nconnection: close"},
    ],
)
async def test_the_environment_says_the_same_to_both(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    _, requests = await both(lambda _: response(STREAM, type="text/event-stream"), whole)
    assert_same(requests, in_order=False)


async def test_the_address_comes_from_the_environment_where_nothing_else_says_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with raw_server(lambda _: response(STREAM)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"{server.url}/way")
        for kind in ("aiohttp", "sdk"):
            model = transport(kind)
            assert await whole(model) == "whole"
            await model.close()
        assert [one.line for one in server.requests] == [b"POST /way/v1/messages HTTP/1.1"] * 2
    monkeypatch.delenv("ANTHROPIC_BASE_URL")
    ours, theirs = transport("aiohttp"), transport("sdk")
    assert ours.base_url.rstrip("/") == theirs.base_url.rstrip("/")
    await theirs.close()


async def test_the_description_of_a_model_is_asked_for_as_the_sdk_does() -> None:
    def get(model: Transport) -> Awaitable[Any]:
        return model.get("/v1/models/claude%2Fx%20y@1:0", timeout_s=10.0)

    results, requests = await both(lambda _: response(b'{"id": "x"}'), get)
    assert results == [{"id": "x"}, {"id": "x"}]
    assert_same(requests)
    async with raw_server(lambda _: response(b'{"id": "x"}')) as server:
        model = transport("sdk", base_url=server.url)
        assert isinstance(model, SdkTransport)
        await model._client.models.retrieve("claude/x y@1:0", timeout=10.0)
        await model.close()
        own_method = server.requests[0]
    assert own_method.line == requests[0][0].line
    assert {name for name, _ in own_method.headers} == {name for name, _ in requests[0][0].headers}


async def test_cookies_that_a_server_sets_go_back_to_it() -> None:
    async def twice(model: Transport) -> str:
        await whole(model)
        return await whole(model)

    cookie = {"set-cookie": "__cf_bm=a.b-1; Path=/; HttpOnly"}
    _, requests = await both(lambda _: response(STREAM, headers=cookie), twice)
    assert_same(requests, in_order=False)
    assert ("cookie", "__cf_bm=a.b-1") in requests[0][1].headers


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_followed_by_neither(status: int) -> None:
    async with raw_server(lambda _: response(STREAM, type="text/event-stream")) as other:
        location = {"location": f"{other.url}/there"}
        results, requests = await both(lambda _: response(b"", status=status, headers=location), whole)
        assert [classify(result).maybe_billed for result in results] == [False, False]
        assert all(other.url in classify(result).reason for result in results)
        assert [len(sent) for sent in requests] == [1, 1]
        assert other.requests == []


ERROR = {"type": "error", "error": {"type": "x_error", "message": "No. Really not."}}
REFUSALS = [
    (400, json.dumps(ERROR).encode()),
    (401, json.dumps(ERROR).encode()),
    (402, json.dumps(ERROR).encode()),
    (403, json.dumps({"error": {"message": None}}).encode()),
    (404, b"<html><body>Not here</body></html>"),
    (413, b""),
    (422, b"[1, 2]"),
    (429, json.dumps(ERROR).encode()),
    (429, json.dumps({"error": {"details": {"error_code": "ramp_limit_exceeded"}}}).encode()),
    (500, b"\xff\xfe oops"),
    (502, b"  \n"),
    (503, json.dumps({"error": "plain"}).encode()),
    (529, json.dumps({"error": {"type": ["odd"], "message": "busy"}}).encode()),
    (304, b""),
    (400, b"[" * 100_000),
]


@pytest.mark.parametrize(("status", "body"), REFUSALS)
async def test_a_refusal_is_classified_as_that_of_the_sdk(status: int, body: bytes) -> None:
    headers = {"retry-after": "7", "request-id": "req_1", "anthropic-ratelimit-requests-remaining": "0"}
    results, _ = await both(lambda _: response(body, status=status, headers=headers), whole)
    assert all(isinstance(result, StatusError) for result in results)
    ours, theirs = (described(classify(result)) for result in results)
    assert ours == theirs


def described(failure: Failure) -> tuple[Any, ...]:
    kind = failure.fatal and (failure.fatal.kind, str(failure.fatal))
    return failure.reason, failure.seconds, failure.is_full, failure.maybe_billed, kind


async def test_a_refusal_of_any_length_is_read_to_a_bound() -> None:
    body = b"x" * (3 * REFUSAL_MAX_BYTES)
    async with raw_server(lambda _: response(body, status=400)) as server:
        model = transport("aiohttp", base_url=server.url)
        with pytest.raises(StatusError) as raised:
            await whole(model)
        await model.close()
    assert REFUSAL_MAX_BYTES <= len(str(raised.value.body)) < 2 * REFUSAL_MAX_BYTES
    assert len(classify(raised.value).reason) < 1_000


@pytest.mark.parametrize(
    ("encoding", "encode"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda data: zlib.compress(data, wbits=-15)),
        ("identity", bytes),
    ],
)
async def test_a_body_is_decoded_as_it_comes(encoding: str, encode: Callable[[bytes], bytes]) -> None:
    answer = response(encode(STREAM), headers={"content-encoding": encoding})
    results, _ = await both(lambda _: answer, whole)
    assert results == ["whole", "whole"]


@pytest.mark.parametrize(
    "answer",
    [
        response(STREAM[:200]).replace(b"content-length: 200", b"content-length: 999"),
        response(gzip.compress(STREAM)[:-20], headers={"content-encoding": "gzip"}),
        response(b"no gzip at all", headers={"content-encoding": "gzip"}),
        response(STREAM[:200]),
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nevent",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nevent",
        b"no http at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 100_000 + b"\r\n\r\n",
    ],
)
async def test_a_broken_answer_may_have_been_billed_and_is_asked_for_again(answer: bytes) -> None:
    results, _ = await both(lambda _: answer, whole)
    failures = [classify(result) for result in results]
    assert [(failure.fatal, failure.maybe_billed) for failure in failures] == [(None, True)] * 2


async def test_no_server_bills_nothing() -> None:
    async with raw_server(lambda _: b"") as server:
        gone = server.url
    for kind in ("aiohttp", "sdk"):
        model = transport(kind, base_url=gone)
        with pytest.raises(CALL_FAULTS) as raised:
            await whole(model)
        assert not classify(raised.value).maybe_billed
        await model.close()


@pytest.mark.filterwarnings(
    "ignore:BasicAuth is deprecated", "ignore:The 'proxy_auth' parameter"
)  # by the SDK
@pytest.mark.parametrize("proxied", ["http_proxy", "HTTP_PROXY", "all_proxy"])
async def test_a_proxy_is_asked_as_the_sdk_asks_it(proxied: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with raw_server(lambda _: response(STREAM, type="text/event-stream")) as proxy:
        monkeypatch.setenv(proxied, proxy.url.replace("http://", "http://me:secret@"))
        for kind in ("aiohttp", "sdk"):
            model = transport(kind, base_url="http://model.example/v")
            assert await whole(model) == "whole"
            await model.close()
        assert_same([proxy.requests[:1], proxy.requests[1:]], in_order=False)
        assert proxy.requests[0].line == b"POST http://model.example/v/v1/messages HTTP/1.1"
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        results, _ = await both(lambda _: response(STREAM), whole)
        assert (results, len(proxy.requests)) == (["whole", "whole"], 2)


@pytest.mark.filterwarnings("ignore:BasicAuth is deprecated", "ignore:The 'proxy_auth' parameter")
@pytest.mark.parametrize("kind", ["aiohttp", "sdk"])
async def test_a_call_that_a_proxy_refuses_to_pass_on_is_not_billed(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with raw_server(lambda _: response(b"", status=407)) as proxy:
        monkeypatch.setenv("https_proxy", proxy.url.replace("http://", "http://me:secret@"))
        model = transport(kind, base_url="https://model.example")
        with pytest.raises(CALL_FAULTS) as raised:
            await whole(model)
        await model.close()
    failure = classify(raised.value)
    assert not failure.maybe_billed
    assert "secret" not in failure.reason
    assert proxy.requests[0].line == b"CONNECT model.example:443 HTTP/1.1"


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:65536", "http://model..example"])
async def test_a_call_to_an_address_that_cannot_be_is_not_billed(base_url: str) -> None:
    model = transport("aiohttp", base_url=base_url)
    with pytest.raises(CALL_FAULTS) as raised:
        await whole(model)
    assert not classify(raised.value).maybe_billed
    await model.close()


@pytest.mark.parametrize(
    ("environment", "base_url"),
    [
        ({"ANTHROPIC_API_KEY": ""}, None),
        ({}, "http://me:secret@127.0.0.1:9"),
        ({}, "http://127.0.0.1:9/a b"),
        ({}, "http://my_host:9/"),
        ({}, "http://127.0.0.1:9/?x=1"),
        ({}, "HTTP://127.0.0.1:9"),
        ({}, "http://127.0.0.1:65536"),
        ({}, "http://model..example"),
        ({}, f"http://{'a' * 64}.example"),
        ({}, "http://\u00e4.example"),
        ({"ANTHROPIC_BASE_URL": "ftp://127.0.0.1"}, None),
        ({"https_proxy": "socks5://127.0.0.1:9"}, None),
    ],
)
async def test_what_only_the_sdk_can_do_is_left_to_it(
    environment: dict[str, str], base_url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    model = transport("aiohttp", base_url=base_url)
    assert isinstance(model, SdkTransport)
    await model.close()


IMPORTS = """
import chiron_workers.tasks, chiron_workers.worker.host, chiron_workers.agent.play
import asyncio
from chiron_workers.model import Model, Request
from chiron_workers.model.admission import Admission
from chiron_workers.runs.messages import Message
from chiron_workers.settings import Settings

async def ask():
    price = {{"input": 1, "output": 1}}  # of its own, for the library of prices loads httpx2
    settings = Settings(_env_file=None, prices={{"m": price, "claude-opus-5-5": price}})
    model = Model(settings, Admission(settings), base_url={url!r}, api_key="test")
    await model.thinking("claude-opus-5-5", settings.thinking, budget_tokens=1_000)
    question = Message.of("user", [{{"type": "text", "text": "Hello?"}}])
    request = Request(model="claude-opus-5-5", system="", tools=[], max_tokens=9, messages=[question])
    reply = await model.reply(request, on_text=None)
    await model.close()
    print(reply.text)

asyncio.run(ask())
"""


async def test_a_worker_plays_without_the_sdk() -> None:
    def answer(request: RawRequest) -> bytes:
        return response(STREAM if request.body else b"{}")

    async with raw_server(answer) as server:
        outcome = await asyncio.to_thread(bare_interpreter.run, IMPORTS.format(url=server.url))
    assert "whole" in outcome.output.splitlines()
    assert outcome.packages & {"anthropic", "httpx2", "httpx"} == set()
