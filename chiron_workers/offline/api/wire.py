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
_DELTA_END = b'""}}\n\n'  # of a delta that holds an empty piece

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


def events(turn: Turn, *, delta_chars: int | None = None) -> list[bytes]:
    """A reply as server-sent events, from message_start to message_stop.

    Args:
        delta_chars: Characters of each delta. None: a block comes in a few large ones.
    """
    reply = turn.reply
    parts = [_event({"type": "message_start", "message": _opening(turn, output_tokens=1)})]
    for index, block in enumerate(reply.content):
        if block["type"] == "text":
            parts += _text_events(index, block["text"], delta_chars)
        else:
            parts += _call_events(index, block, delta_chars)
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
def _text_events(index: int, text: str, delta_chars: int | None) -> tuple[bytes, ...]:
    block = {"type": "text", "text": ""}
    return tuple(_block_events(index, block, ("text_delta", "text"), _pieces(text, delta_chars)))


def _call_events(index: int, block: Block, delta_chars: int | None) -> Iterator[bytes]:
    pieces = _pieces(json.dumps(block["input"], ensure_ascii=False), delta_chars)
    return _block_events(index, {**block, "input": {}}, ("input_json_delta", "partial_json"), pieces)


def _block_events(index: int, start: Block, delta: tuple[str, str], pieces: list[str]) -> Iterator[bytes]:
    """The events of a block; `delta` has the type of its deltas and the field that holds a piece."""
    yield _event({"type": "content_block_start", "index": index, "content_block": start})
    whole = _event({"type": "content_block_delta", "index": index, "delta": {"type": delta[0], delta[1]: ""}})
    before, after = whole[: -len(_DELTA_END)], _DELTA_END[2:]
    for piece in pieces:
        yield b"%b%b%b" % (before, json.dumps(piece).encode(), after)
    yield _event({"type": "content_block_stop", "index": index})


def _pieces(text: str, size: int | None) -> list[str]:
    """A text in parts of a size, or in so few that there is something to stream and little to parse."""
    size = size or max(_DELTA_CHARS_MIN, -(-len(text) // _DELTAS_MAX))
    return [text[start : start + size] for start in range(0, len(text), size)]


def _event(body: dict[str, Any]) -> bytes:
    return f"event: {body['type']}\ndata: {json.dumps(body, separators=(',', ':'))}\n\n".encode()
