"""A model server whose replies a test writes: the Messages API over real HTTP, a second opinion beside the offline one."""

import asyncio
import itertools
import json
import re
import socket
import struct
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from aiohttp import web

from benchmarks.crashes.consistency import LoggedReply
from support.http_server import served

Block = dict[str, Any]
_ids = itertools.count(1)
LATE_S = 60.0
RAW = ("input", "partial_json")  # fields of a call that are streamed


class Ending(StrEnum):
    """What becomes of the connection once a reply is complete."""

    CLEAN = "clean"
    CLOSED = "closed"  # right after message_stop, in the middle of the body
    RESET = "reset"  # likewise, and not in good order
    LATE = "late"  # the body ends a minute after message_stop


@dataclass(frozen=True)
class Says:
    """One reply, streamed whole."""

    blocks: tuple[Block, ...]
    stop: str = "end_turn"
    usage: dict[str, Any] = field(
        default_factory=lambda: {"input_tokens": 100, "output_tokens": 10}
    )  # empty: it says none
    model: str | None = None
    ending: Ending = Ending.CLEAN


@dataclass(frozen=True)
class Fails:
    """One fault: an HTTP status, or a stream that goes wrong."""

    status: int = 0
    type: str = "api_error"
    message: str = "scripted"
    headers: dict[str, str] = field(default_factory=dict)
    # drop | drop_in_call | error | early_end | corrupt | stall | pings | hang_up, before a byte of the reply | silence, too
    stream: str = ""
    page: str | None = None  # the body instead, of a gateway; with status 200 unless another is given
    page_type: str = "text/html"


_PAGE = re.compile(r"^Page (\w+)\n<(page-[0-9a-f]+)>\n(.*?)\n</\2>$", re.MULTILINE | re.DOTALL)
_PAGE_LETTER = re.compile(r"Its page: (\w+)$", re.MULTILINE)
_ITEM = re.compile(r"^Number (\d+)\n(.*?)(?=^Number \d+$|\Z)", re.MULTILINE | re.DOTALL)
Script = Callable[[dict[str, Any]], "Says | Fails | Awaitable[Says | Fails]"]


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def thought(words: str, signature: str = "c2lnbmVk") -> Block:
    return {"type": "thinking", "thinking": words, "signature": signature}


def thinks(*kinds: str) -> dict[str, Any]:
    """Capabilities of a model that takes these kinds of thinking."""
    known = ("adaptive", "between_tools", "disabled", "enabled")
    types = {kind: {"supported": kind in kinds} for kind in known}
    return {"thinking": {"supported": bool(kinds), "types": types}}


def call(name: str, **arguments: Any) -> Block:
    return {"type": "tool_use", "id": f"toolu_{next(_ids):06}", "name": name, "input": arguments}


def cut_call(name: str, arguments_json: str) -> Block:
    """A tool call whose arguments end in the middle of their JSON."""
    return {**call(name), "partial_json": arguments_json}


def says(*words: str, stop: str = "end_turn") -> Says:
    return Says(tuple(text(part) for part in words), stop=stop)


def searched(words: str) -> Says:
    """An answer after a search that the server itself ran: all the research of a run in one reply."""
    search_id = f"srvtoolu_{next(_ids):06}"
    search = {"type": "server_tool_use", "id": search_id, "name": "web_search", "input": {"query": words}}
    result = {"type": "web_search_tool_result", "tool_use_id": search_id, "content": []}
    return Says((search, result, text(words)))


def calls(*blocks: Block) -> Says:
    return Says(blocks, stop="tool_use")


def turn(request: dict[str, Any]) -> int:
    """How many replies the conversation has already."""
    return sum(message["role"] == "assistant" for message in request["messages"])


def asks_for_verdicts(request: dict[str, Any]) -> bool:
    """Whether a request asks if quotes bear statements out."""
    return [tool["name"] for tool in request.get("tools", ())] == ["give_verdicts"]


def question_words(request: dict[str, Any]) -> str:
    """What a request asks first."""
    question = request["messages"][0]["content"]
    return question if isinstance(question, str) else "".join(block["text"] for block in question)


def page_of(request: dict[str, Any], item: str) -> str:
    """What is shown of the source of an item of a question: its head and the windows around the quotes; empty if nothing is."""
    pages = {letter: text for letter, _, text in _PAGE.findall(question_words(request))}
    letter = _PAGE_LETTER.search(item.partition("<")[0])
    return pages[letter[1]] if letter else ""


def verdicts(request: dict[str, Any], verdict: str = "supported", reason: str = "The quote says so.") -> Says:
    """The same verdict on each statement of a question."""
    words = question_words(request)
    numbers = re.findall(r"^Number (\d+)$", words, re.MULTILINE)
    entries = [{"number": int(number), "verdict": verdict, "reason": reason} for number in numbers]
    return calls(call("give_verdicts", verdicts=entries))


def verdict_entries(request: dict[str, Any], verdict_on: Callable[[str], tuple[str, str]]) -> Says:
    """A verdict with its reason on each item of a question: its statement, quote, source and context."""
    entries = []
    for number, item in _ITEM.findall(question_words(request)):
        verdict, reason = verdict_on(item)
        entries.append({"number": int(number), "verdict": verdict, "reason": reason})
    return calls(call("give_verdicts", verdicts=entries))


def supports_all(request: dict[str, Any]) -> Says:
    """The judge of tests that are about something else."""
    return verdicts(request)


@dataclass(slots=True)
class Ask:
    """A line of the server's log: one request and what became of it. Times are those of `time.time()`."""

    client: str  # the first part of the path, where clients are given an address each
    request: dict[str, Any]
    request_id: str
    received_at: float
    reply: Says | None = None
    complete_at: float = 0.0  # when the last byte of message_stop was written; 0 if it never was
    is_connected: bool = False  # whether the client was there for it
    ended_at: float = 0.0

    @property
    def is_complete(self) -> bool:
        """Whether the client can have read the whole reply."""
        return self.complete_at > 0 and self.is_connected

    def logged(self, run: str, *, side_question: str = "") -> LoggedReply:
        """The line as the check of consistency reads it; `run` is the first word of the run's topic."""
        reply = self.reply or Says(())
        is_whole = not any("partial_json" in block for block in reply.blocks)
        content = reply.blocks if is_whole else None
        return LoggedReply(
            self.request_id, run, self.is_complete, content, side_question, sum(reply.usage.values())
        )


@dataclass
class ScriptedModel:
    """The server's address, every request it got, and its log."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    answered: list[dict[str, Any]] = field(default_factory=list)
    asks: list[Ask] = field(default_factory=list)
    capabilities: Any = 404  # what it says that each model can; a number: the status with which it does not
    described: dict[str, Any] = field(default_factory=dict)  # what it says of each model beside
    lookups: list[str] = field(default_factory=list)  # the models it was asked for
    verdict_questions: list[dict[str, Any]] = field(default_factory=list)  # kept apart from `requests`


@asynccontextmanager
async def scripted_model(
    script: Script, *, capabilities: Any = 404, judge: Script | None = supports_all
) -> AsyncIterator[ScriptedModel]:
    """A server that plays a script; what it is asked of facts and quotes goes to `judge`, or to the script without one."""
    model = ScriptedModel(capabilities=capabilities)

    async def handle(http: web.Request) -> web.StreamResponse:
        request = await http.json()
        is_verdict = judge is not None and asks_for_verdicts(request)
        (model.verdict_questions if is_verdict else model.requests).append(request)
        client = http.match_info.get("client", "")
        ask = Ask(client, request, f"req_{next(_ids)}", received_at=time.time())
        model.asks.append(ask)
        try:
            answer = judge(request) if judge is not None and is_verdict else script(request)
            reply = await answer if isinstance(answer, Awaitable) else answer
            if isinstance(reply, Fails):
                return await _fail(http, reply)
            response = await _stream(http, ask, reply)
        except ConnectionResetError:  # the client is gone
            return web.Response()
        finally:
            ask.ended_at = time.time()
        if not is_verdict:
            model.answered.append(request)
        return response

    async def describe(http: web.Request) -> web.Response:
        name = http.match_info["id"]
        model.lookups.append(name)
        if isinstance(model.capabilities, int):
            return web.Response(status=model.capabilities)
        description = {"id": name, "type": "model", "capabilities": model.capabilities} | model.described
        return web.json_response(description)

    app = web.Application(client_max_size=64 * 2**20)
    app.router.add_post("/v1/messages", handle)
    app.router.add_get("/v1/models/{id}", describe)
    app.router.add_post("/{client}/v1/messages", handle)
    async with served(app) as model.url:
        yield model


async def _stream(http: web.Request, ask: Ask, reply: Says) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "text/event-stream", "request-id": ask.request_id})
    await response.prepare(http)
    ask.reply = reply
    ask.is_connected = not _is_gone(http)  # afterwards it may have read all and be gone
    await response.write(b"".join(_wire(event) for event in _events(reply, ask.request["model"])))
    ask.complete_at = time.time()
    if reply.ending is Ending.LATE:
        await asyncio.sleep(LATE_S)
    if http.transport is None or _is_gone(http):
        return response
    if reply.ending is Ending.RESET:
        _reset(http.transport)
    elif reply.ending is Ending.CLOSED:
        http.transport.close()
    else:
        await response.write_eof()
    return response


def _is_gone(http: web.Request) -> bool:
    return http.transport is None or http.transport.is_closing()


def _reset(transport: asyncio.Transport) -> None:
    # Lingering for no time has the kernel send a reset instead of an end.
    door = transport.get_extra_info("socket")
    door.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


async def _fail(http: web.Request, fault: Fails) -> web.StreamResponse:
    error = {"type": "error", "error": {"type": fault.type, "message": fault.message}, "request_id": "req_x"}
    if fault.page is not None:
        headers = {"content-type": fault.page_type} if fault.page_type else {}
        return web.Response(
            status=fault.status or 200, body=fault.page.encode(), headers=headers | fault.headers
        )
    if fault.status:
        return web.json_response(error, status=fault.status, headers=fault.headers)
    if fault.stream == "silence":
        await asyncio.sleep(60)
    if fault.stream == "hang_up":
        assert http.transport is not None
        http.transport.abort()
        return web.Response()
    cut = Says((cut_call("note", '{"words": "half a'),)) if fault.stream == "drop_in_call" else says("half a")
    begun = _events(cut, "m")[:3]
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(http)
    await response.write(b"".join(_wire(event) for event in begun))
    if fault.stream == "error":
        await response.write(_wire(error))
    elif fault.stream == "corrupt":
        await response.write(b'event: content_block_delta\ndata: {"type": "content_blo\n\n')
    elif fault.stream == "pings":
        while True:  # ends: the client hangs up
            await response.write(_wire({"type": "ping"}))
            await asyncio.sleep(0.1)
    elif fault.stream == "stall":
        await asyncio.sleep(60)
    if fault.stream in ("drop", "drop_in_call"):
        assert http.transport is not None
        http.transport.abort()
        return response
    await response.write_eof()
    return response


def _wire(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _events(said: Says, model: str) -> list[dict[str, Any]]:
    opening = {
        "id": f"msg_{next(_ids)}",
        "type": "message",
        "role": "assistant",
        "model": said.model or model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }
    if said.usage:
        opening["usage"] = {**said.usage, "output_tokens": 1}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": opening}]
    for index, block in enumerate(said.blocks):
        if block["type"] == "text":
            start, deltas = {"type": "text", "text": ""}, [{"type": "text_delta", "text": block["text"]}]
        elif block["type"] == "thinking":
            start, deltas = {"type": "thinking", "thinking": "", "signature": ""}, _thought_deltas(block)
        elif block["type"] == "tool_use":
            start = {"input": {}} | {name: value for name, value in block.items() if name not in RAW}
            arguments = block.get("partial_json") or json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": arguments}]
        else:
            start, deltas = block, []
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        for delta in deltas:
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    end: dict[str, Any] = {
        "type": "message_delta",
        "delta": {"stop_reason": said.stop, "stop_sequence": None},
    }
    if "output_tokens" in said.usage:
        end["usage"] = {"output_tokens": said.usage["output_tokens"]}
    events.append(end)
    events.append({"type": "message_stop"})
    return events


def _thought_deltas(block: Block) -> list[Block]:
    middle = len(block["thinking"]) // 2
    halves = [block["thinking"][:middle], block["thinking"][middle:]]
    deltas: list[Block] = [{"type": "thinking_delta", "thinking": half} for half in halves if half]
    return [*deltas, {"type": "signature_delta", "signature": block["signature"]}]
