"""How replies and errors look on the wire: JSON, and server-sent events in the order the API sends them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from chiron_workers.offline.api.reply import Block, Reply
from chiron_workers.offline.api.usage import InputUsage

_DELTAS_MAX = 12
_DELTA_CHARS_MIN = 80

MODEL = {
    "type": "model",
    "id": "offline",
    "display_name": "Offline researcher (an extractive program, no language model)",
    "created_at": "2026-01-01T00:00:00Z",
    "lifecycle": "active",
    "max_input_tokens": 1_000_000,
    "max_tokens": 64_000,
}


class ApiError(Exception):
    """A request that is answered with an error in the API's form."""

    def __init__(
        self, status: int, type: str, message: str, *, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.type, self.message, self.headers = status, type, message, headers or {}

    def body(self, request_id: str) -> dict[str, Any]:
        """The error as the API's JSON."""
        return {
            "type": "error",
            "error": {"type": self.type, "message": self.message},
            "request_id": request_id,
        }


@dataclass(frozen=True, slots=True)
class Turn:
    """A request of a conversation with its reply, not yet sent; `number` counts the replies before it."""

    conversation: str
    number: int
    model: str
    is_streamed: bool
    usage: InputUsage
    reply: Reply


def message(turn: Turn) -> dict[str, Any]:
    """A whole reply as the API's Message object."""
    reply = turn.reply
    opening = _opening(turn, output_tokens=reply.tokens)
    return {**opening, "content": list(reply.content), "stop_reason": reply.stop}


def events(turn: Turn) -> list[bytes]:
    """A reply as server-sent events, from message_start to message_stop."""
    reply = turn.reply
    parts = [_event({"type": "message_start", "message": _opening(turn, output_tokens=1)})]
    for index, block in enumerate(reply.content):
        parts += _text_events(index, block["text"]) if block["type"] == "text" else _call_events(index, block)
    stop = {"stop_reason": reply.stop, "stop_sequence": None}
    spent = {"output_tokens": reply.tokens}
    parts.append(_event({"type": "message_delta", "delta": stop, "usage": spent}))
    parts.append(_event({"type": "message_stop"}))
    return parts


def error_event(error: ApiError, request_id: str) -> bytes:
    """An error in the middle of a stream."""
    return _event(error.body(request_id))


def _opening(turn: Turn, *, output_tokens: int) -> dict[str, Any]:
    return {
        "id": turn.reply.id,
        "type": "message",
        "role": "assistant",
        "model": turn.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**turn.usage.body(), "output_tokens": output_tokens},
    }


@lru_cache(maxsize=256)
def _text_events(index: int, text: str) -> tuple[bytes, ...]:
    deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(text)]
    return tuple(_block_events(index, {"type": "text", "text": ""}, deltas))


def _call_events(index: int, block: Block) -> Iterator[bytes]:
    pieces = _pieces(json.dumps(block["input"], ensure_ascii=False))
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return _block_events(index, {**block, "input": {}}, deltas)


def _block_events(index: int, start: Block, deltas: list[dict[str, str]]) -> Iterator[bytes]:
    yield _event({"type": "content_block_start", "index": index, "content_block": start})
    for delta in deltas:
        yield _event({"type": "content_block_delta", "index": index, "delta": delta})
    yield _event({"type": "content_block_stop", "index": index})


def _pieces(text: str) -> list[str]:
    """A text in a few parts, so that there is something to stream and little to parse."""
    size = max(_DELTA_CHARS_MIN, -(-len(text) // _DELTAS_MAX))
    return [text[start : start + size] for start in range(0, len(text), size)]


def _event(body: dict[str, Any]) -> bytes:
    return f"event: {body['type']}\ndata: {json.dumps(body, separators=(',', ':'))}\n\n".encode()
