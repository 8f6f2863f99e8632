"""Answers that are no sound JSON-RPC: read where their meaning is plain, and else the call ends at once."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from aiohttp import web
from mcp_client.remote import call, liar, supervised
from mcp_types import JSONRPCError, JSONRPCResponse
from support.http_server import served

from chiron_workers.errors import ToolError
from chiron_workers.mcp_client.server import Server, State
from chiron_workers.mcp_client.transport.answers import UNUSABLE, VALUES_MAX, read_messages
from chiron_workers.mcp_client.transport.http import MendedEvents

SOON_S = 30  # the machine may be busy; a call that is left alone takes an hour here


def answer(rest: str) -> str:
    return '{"jsonrpc": "2.0", "id": @id, ' + rest + "}"


def text(words: str) -> str:
    return f'"result": {{"content": [{{"type": "text", "text": "{words}"}}]}}'


READABLE = {
    "half an emoji": (answer(text(r"ice \ud83d!")), "ice \ufffd!"),
    "half an emoji in a key": (answer(r'"result": {"content": [], "structuredContent": {"\ud83d": 1}}'), "\ufffd"),
    "bytes of half an emoji": (answer(text("ice \xf0\x9f!")), "ice \ufffd!"),
    "Latin-1": (answer(text("caf\xe9")), "caf\ufffd"),
    "byte order mark": ("\xef\xbb\xbf" + answer(text("ice")), "ice"),
    "control character": (answer(text("i\x0bce")), "i\x0bce"),
    "no version": ('{"id": @id, ' + text("ice") + "}", "ice"),
    "other version": ('{"jsonrpc": "1.0", "id": @id, ' + text("ice") + "}", "ice"),
    "id as a text": ('{"jsonrpc": "2.0", "id": "@id", ' + text("ice") + "}", "ice"),
    "id with a fraction": ('{"jsonrpc": "2.0", "id": @id.0, ' + text("ice") + "}", "ice"),
    "no id": ('{"jsonrpc": "2.0", ' + text("ice") + "}", "ice"),
    "list of messages": (f"[{answer(text('ice'))}]", "ice"),
    "words behind it": (answer(text("ice")) + " done", "ice"),
    "data alone": (answer('"result": {"structuredContent": {"ice": 1}}'), '"ice": 1'),
    "number of many digits": (answer('"result": {"content": [], "structuredContent": {"n": ' + "9" * 5_000 + "}}"), "999"),
}  # fmt: skip
UNREADABLE = {
    "text as result": (answer('"result": "ice"'), "its result is a text instead of an object"),
    "list as result": (answer('"result": [1]'), "its result is a list instead of an object"),
    "number as result": (answer('"result": 1'), "its result is a number instead of an object"),
    "null as result": (answer('"result": null'), "neither a result nor an error"),
    "nothing": (answer('"x": 1'), "neither a result nor an error"),
    "null as error": (answer('"error": null'), "neither a result nor an error"),
    "result without content": (answer('"result": {}'), "content: Field required"),
    "null as content": (answer('"result": {"content": null}'), "content: Input should be a valid list"),
    "text as content": (answer('"result": {"content": "ice"}'), "content: Input should be a valid list"),
    "number as part": (answer('"result": {"content": [1]}'), "content.0"),
    "text as error": (answer('"error": "no ice"'), "no ice"),
    "error without code": (answer('"error": {"message": "no ice"}'), "no ice"),
    "error with words as code": (answer('"error": {"code": "E1", "message": "no ice"}'), "no ice"),
    "half an emoji in an error": (answer(r'"error": {"code": 1, "message": "no \ud83d"}'), "no \ufffd"),
    "error without id": ('{"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "no ice"}}', "no ice"),
    "cut": (answer(text("ice"))[:-3], "no JSON that can be read"),
    "nested too deep": (answer('"result": {"content": [], "structuredContent": ' + '{"a":' * 300 + "1" + "}" * 301), "no JSON"),
    "nested deeper than anything": (answer('"result": ' + "[" * 50_000 + "]" * 50_000), "no JSON that can be read"),
}  # fmt: skip
ALL = READABLE | UNREADABLE
WITHOUT_ID = {"no id", "error without id"}
TOOLS = {name: f"tool{n}" for n, name in enumerate(ALL)}
LINES = {TOOLS[name]: line for name, (line, _) in ALL.items()}


def described(name: str) -> dict[str, object]:
    return {"name": name, "inputSchema": {"type": "object"}}


async def check(server: Server, name: str) -> None:
    words = ALL[name][1]
    async with asyncio.timeout(SOON_S):
        if name in READABLE:
            assert words in await call(server, TOOLS[name]), name
            return
        with pytest.raises(ToolError) as refused:
            await call(server, TOOLS[name])
    assert words in str(refused.value), name
    assert server.state is State.READY


async def test_answers_of_a_program_that_are_odd_are_read_or_end_the_call_at_once(tmp_path: Path):
    entry = liar(tmp_path, *map(described, LINES.keys()), lines=LINES)
    async with supervised(entry, timeout_s=3_600) as server:
        # First those without an id, which are for the only open request: an error lists the tools again beside the next call.
        for name in sorted(ALL, key=lambda name: (name not in WITHOUT_ID, name in UNREADABLE)):
            await check(server, name)


async def test_answers_that_are_odd_reach_each_its_own_of_several_calls(tmp_path: Path):
    entry = liar(tmp_path, *map(described, LINES.keys()), lines=LINES)
    async with supervised(entry, timeout_s=3_600) as server:
        await asyncio.gather(*(check(server, name) for name in ALL if name not in WITHOUT_ID))


@asynccontextmanager
async def odd_site(kind: str) -> AsyncIterator[str]:
    """An address whose tools answer as `LINES` say: in a body of JSON, or in a stream of events that stays open."""

    async def handle(request: web.Request) -> web.StreamResponse:
        sent = json.loads(await request.read()) if request.method == "POST" else {}
        if sent.get("id") is None:
            return web.Response(status=202 if sent else 405)
        method, head = sent["method"], {"jsonrpc": "2.0", "id": sent["id"]}
        if method == "tools/call":
            line = LINES[sent["params"]["name"]].replace("@id", str(sent["id"])).encode("latin-1")
        elif method == "tools/list":
            line = json.dumps(head | {"result": {"tools": list(map(described, LINES))}}).encode()
        elif method == "initialize":
            hello = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
            line = json.dumps(
                head | {"result": hello | {"serverInfo": {"name": "odd", "version": "1"}}}
            ).encode()
        else:
            line = json.dumps(head | {"error": {"code": -32601, "message": "Method not found"}}).encode()
        if kind == "json":
            return web.Response(body=line, content_type="application/json")
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        for piece in (b"event: message\r\ndata: ", line[:9], line[9:], b"\r", b"\n\r\n"):
            await stream.write(piece)
        if method == "tools/call":
            await over.wait()
        return stream

    over = asyncio.Event()
    app = web.Application()
    app.router.add_route("*", "/mcp", handle)
    async with served(app) as url:
        yield f"{url}/mcp"
        over.set()


@pytest.mark.parametrize("kind", ["json", "events"])
async def test_answers_of_an_address_that_are_odd_are_read_or_end_the_call_at_once(kind: str):
    # In a stream, a line that is not JSON may be a part of a message, so the library refuses it once the message is whole.
    worded_otherwise = {"cut", "nested too deep", "nested deeper than anything", "error without id"}
    async with odd_site(kind) as url, supervised({"url": url}, timeout_s=3_600) as server:
        assert server.state is State.READY, server.reason
        for name in ALL:
            if kind == "json" or name not in worded_otherwise:
                await check(server, name)
                continue
            async with asyncio.timeout(SOON_S):
                with pytest.raises(ToolError, match=r"was cut during the call|no ice"):
                    await call(server, TOOLS[name])


@pytest.mark.parametrize(
    "line",
    [b"Listening on 8080", b"", b"{}", b"[1, 2", b"42", b'"ice"', b'{"level": "info", "id": 7, "message": "x"}',
     b'{"jsonrpc": "2.0", "id": 8, "result": {}}x',
     b'[debug] > {"jsonrpc": "2.0", "id": 5, "method": "x"}',
     b'{"jsonrpc": "2.0", "id": {}, "result": 1}', b"\xff\xfe\x00"],
)  # fmt: skip
def test_read_messages_skips_what_answers_no_open_request(line: bytes):
    assert read_messages(line, [5, 6]) == []


LOG_LINES = [
    b'{"level":"warn","error":"cache miss"}',
    b'{"level":"info","id":3,"msg":"starting"}',
    b'{"result":"cached","key":"x"}',
    b'{"level":"error","id":3,"error":{"code":1,"message":"cache miss"}}',
    b'{"level":30,"id":3,"method":"tools/call","msg":"request"}',
    b'{"id":3,"result":"cached"}',
    b'{"result":{"content":[]}}',
    b'{"error":{"code":1,"message":"cache miss"}}',
    b'[{"level":"warn","error":"cache miss"}]',
    b'[2026-11-27 12:00:00] < {"jsonrpc":"2.0","id":3,"result":{}}',
    b'{"jsonrpc":"2.0","id":99,"result":{"content":',  # of a call that was given up
]


@pytest.mark.parametrize("line", LOG_LINES)
def test_read_messages_takes_no_log_line_for_an_answer(line: bytes):
    assert read_messages(line, [3]) == []


@pytest.mark.parametrize("version", ["", '"jsonrpc": "2.0", '])
@pytest.mark.parametrize("error", ["false", "{}", "null", '""', "0", "[]", '{"code": 0, "message": ""}'])
def test_read_messages_prefers_a_result_to_an_empty_error(version: str, error: str):
    line = f'{{{version}"id": 3, "result": {{"content": []}}, "error": {error}}}'
    [message] = read_messages(line.encode(), [3])
    assert isinstance(message, JSONRPCResponse)
    assert (message.id, message.result) == (3, {"content": []})


async def test_calls_survive_the_log_lines_that_their_server_prints(tmp_path: Path):
    lines = "\n".join(line.decode().replace('"id":3', '"id":@id') for line in LOG_LINES)
    entry = liar(tmp_path, described("ice"), lines={"ice": f"{lines}\n{answer(text('melts'))}"})
    async with supervised(entry, timeout_s=SOON_S) as server:
        assert "melts" in await call(server, "ice")


class Chunks(httpx2.AsyncByteStream):
    def __init__(self, chunks: Iterable[bytes]) -> None:
        self.chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            yield chunk


async def mended(chunks: Iterable[bytes]) -> bytes:
    return b"".join([piece async for piece in MendedEvents(Chunks(chunks), [3])])


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
async def test_mended_events_are_the_same_however_they_are_cut(end: bytes):
    odd = b'{"id": 3.0, "result": {"content": []}}'
    sound = b'{"jsonrpc":"2.0","id":3,"result":{"content":[]}}'
    stream = end.join(
        [b": ping", b"event: message", b"data: " + odd, b"id: 1", b"", b"data: {", b"data: }", b"", b"da"]
    )
    expected = stream.replace(odd, sound)
    for place in range(len(stream)):
        assert await mended([b"", stream[:place], b"", stream[place:], b""]) == expected
    assert await mended(bytes([byte]) for byte in stream) == expected


async def test_mended_events_take_time_in_proportion_to_their_length():
    line = b"data: " + b"x" * 4_000_000 + b"\n"
    began = time.thread_time()
    assert await mended(line[place : place + 200] for place in range(0, len(line), 200)) == line
    assert time.thread_time() - began < 5  # 95 where each chunk has the line read anew


def test_read_messages_reads_no_line_of_too_many_values_leniently():
    line = b'{"jsonrpc": "2.0", "id": 5, "result": {"content": ["\\ud83d", ' + b"1, " * VALUES_MAX + b"1]}}"
    [message] = read_messages(line, [5, 6])
    assert isinstance(message, JSONRPCError)
    assert (message.id, message.error.code) == (5, UNUSABLE)
    [message] = read_messages(b'{"id": 5, "result": {"a": [' + b"1, " * 1_000 + b"1]}}", [5, 6])
    assert isinstance(message, JSONRPCResponse)
