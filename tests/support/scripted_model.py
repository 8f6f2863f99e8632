"""A model server whose replies a test writes: the Messages API over real HTTP, a second opinion beside the offline one."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from support.http_server import served

Block = dict[str, Any]
_ids = itertools.count(1)


@dataclass(frozen=True)
class Says:
    """One reply, streamed whole."""

    blocks: tuple[Block, ...]
    stop: str = "end_turn"
    usage: dict[str, int] = field(default_factory=lambda: {"input_tokens": 100, "output_tokens": 10})
    model: str | None = None


@dataclass(frozen=True)
class Fails:
    """One fault: an HTTP status, or a stream that goes wrong."""

    status: int = 0
    type: str = "api_error"
    message: str = "scripted"
    headers: dict[str, str] = field(default_factory=dict)
    stream: str = (
        ""  # drop | error | early_end | corrupt | stall | hang_up, before a byte of the reply | silence, too
    )


Script = Callable[[dict[str, Any]], "Says | Fails | Awaitable[Says | Fails]"]


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def call(name: str, **arguments: Any) -> Block:
    return {"type": "tool_use", "id": f"toolu_{next(_ids):06}", "name": name, "input": arguments}


def says(*words: str, stop: str = "end_turn") -> Says:
    return Says(tuple(text(part) for part in words), stop=stop)


def calls(*blocks: Block) -> Says:
    return Says(blocks, stop="tool_use")


def turn(request: dict[str, Any]) -> int:
    """How many replies the conversation has already."""
    return sum(message["role"] == "assistant" for message in request["messages"])


@dataclass
class ScriptedModel:
    """The server's address and every request it got."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    answered: list[dict[str, Any]] = field(default_factory=list)


@asynccontextmanager
async def scripted_model(script: Script) -> AsyncIterator[ScriptedModel]:
    model = ScriptedModel()

    async def handle(http: web.Request) -> web.StreamResponse:
        request = await http.json()
        model.requests.append(request)
        found = script(request)
        said = await found if isinstance(found, Awaitable) else found
        if isinstance(said, Fails):
            return await _fail(http, said)
        response = await _stream(http, _events(said, request["model"]))
        model.answered.append(request)
        return response

    app = web.Application(client_max_size=64 * 2**20)
    app.router.add_post("/v1/messages", handle)
    async with served(app) as model.url:
        yield model


async def _stream(http: web.Request, events: list[dict[str, Any]]) -> web.StreamResponse:
    response = web.StreamResponse(
        headers={"content-type": "text/event-stream", "request-id": f"req_{next(_ids)}"}
    )
    await response.prepare(http)
    await response.write(b"".join(_wire(event) for event in events))
    await response.write_eof()
    return response


async def _fail(http: web.Request, fault: Fails) -> web.StreamResponse:
    error = {"type": "error", "error": {"type": fault.type, "message": fault.message}, "request_id": "req_x"}
    if fault.status:
        return web.json_response(error, status=fault.status, headers=fault.headers)
    if fault.stream == "silence":
        await asyncio.sleep(60)
    if fault.stream == "hang_up":
        assert http.transport is not None
        http.transport.abort()
        return web.Response()
    begun = _events(says("half a"), "m")[:3]
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(http)
    await response.write(b"".join(_wire(event) for event in begun))
    if fault.stream == "error":
        await response.write(_wire(error))
    elif fault.stream == "corrupt":
        await response.write(b'event: content_block_delta\ndata: {"type": "content_blo\n\n')
    elif fault.stream == "stall":
        await asyncio.sleep(60)
    if fault.stream == "drop":
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
        "usage": {**said.usage, "output_tokens": 1},
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": opening}]
    for index, block in enumerate(said.blocks):
        if block["type"] == "text":
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        elif block["type"] == "tool_use":
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        else:
            start, delta = block, {}
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        if delta:
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    usage = {"output_tokens": said.usage["output_tokens"]}
    events.append(
        {"type": "message_delta", "delta": {"stop_reason": said.stop, "stop_sequence": None}, "usage": usage}
    )
    events.append({"type": "message_stop"})
    return events
