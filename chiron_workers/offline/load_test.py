"""Load: a set number of turns a conversation at next to no cost, whatever the length of its history."""

import json
import random
import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from chiron_workers.offline.api import request
from chiron_workers.offline.api.reply import Reply, reply, tokens_of
from chiron_workers.offline.api.usage import InputUsage, PrefixCache
from chiron_workers.offline.researcher.arguments import fill
from chiron_workers.offline.researcher.conversation import conversation_key, words_of
from chiron_workers.offline.researcher.properties import Purpose
from chiron_workers.offline.researcher.toolbelt import Tool, Toolbelt, toolbelt
from chiron_workers.offline.researcher.topic import topic
from chiron_workers.offline.researcher.vocabulary import VOCABULARY

FRAMES_MAX = 1_024
_STORED_EVERY = 10  # turns, where a store is offered and the last results hold a statement
_RECENT_BYTES = 6_000
# Quotes inside strings are escaped, so these match nothing but the request's own fields.
_ASSISTANT = re.compile(rb'"role"\s*:\s*"assistant"')
_MESSAGES = re.compile(rb'"messages"\s*:\s*\[')
_AFTER_MESSAGES = (b'],"model":', b'], "model":')
_ADDRESS = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]*:[^\s\"'\\<>]{3,500}")
_STATEMENT = re.compile(r"[A-Z][^\"\\{}\[\]<>]{40,300}?\.")
_BEGINNING = "This is a load test. A program plays a set number of turns and says nothing of any meaning."


@dataclass(frozen=True, slots=True)
class Frame:
    """What stays the same in all requests of a conversation: everything but the messages."""

    model: str
    system: str
    stream: bool
    cached: bool
    belt: Toolbelt


@dataclass(frozen=True, slots=True)
class Turn:
    """One request of a conversation under load."""

    frame: Frame
    conversation: str
    number: int
    usage: InputUsage
    reply: Reply


class Load:
    """Plays `turns` replies a conversation: tool calls, `calls` at a time, then an answer of `reply_chars`."""

    def __init__(self, *, turns: int, calls: int, reply_chars: int, prefixes: PrefixCache) -> None:
        self._turns, self._calls, self._prefixes = turns, calls, prefixes
        self._text = prose(reply_chars)
        self._frames: OrderedDict[bytes, Frame] = OrderedDict()

    def turn(self, body: bytes) -> Turn:
        """The reply to a request. Its history is counted, not read, and so not checked. Raises ApiError (400)."""
        start = _MESSAGES.search(body)
        if start is None or (first := _first_message(body, start.end())) is None:
            asked = request.parse(body)
            first = asked.messages[0].model_dump()
        frame = self._frame(body)
        key = conversation_key(frame.system, first["content"])
        number = len(_ASSISTANT.findall(body))
        usage = self._usage(key, len(body), cached=frame.cached or b'"cache_control"' in body)
        calls = self._planned(frame, topic(words_of(first["content"])), number, body)
        return Turn(frame, key, number, usage, reply(key, number, self._text, calls))

    def _frame(self, body: bytes) -> Frame:
        """The frame of a request, parsed once a conversation: it follows the messages in what the SDK sends."""
        ends = (body.rfind(mark) for mark in _AFTER_MESSAGES)
        end = next((end for end in ends if end >= 0), -1)
        tail = b"{" + body[end:].lstrip(b"], ") if end >= 0 else body
        if (known := self._frames.get(tail)) is None:
            known = _parsed_frame(tail, body)
            self._frames[tail] = known
            if len(self._frames) > FRAMES_MAX:
                self._frames.popitem(last=False)
        return known

    def _usage(self, key: str, size: int, *, cached: bool) -> InputUsage:
        total = tokens_of(size)
        if not cached:
            return InputUsage(total)
        read = min(self._prefixes.read(key), total)
        self._prefixes.write(key, total)
        return InputUsage(0, total - read, read)

    def _planned(
        self, frame: Frame, asked: str, number: int, body: bytes
    ) -> list[tuple[str, dict[str, Any]]]:
        belt = frame.belt
        if number >= self._turns - 1 or not (belt.reading or belt.store):
            return []
        due = belt.store and number % _STORED_EVERY == _STORED_EVERY - 1
        if due and belt.store and (stored := _storing(belt.store, frame, asked, body)):
            return [(belt.store.name, stored)]
        tools = [
            belt.reading[(number + index) % len(belt.reading)] for index in range(self._calls) if belt.reading
        ]
        values = {Purpose.QUERY: f"{asked} {number + 1}", Purpose.LIMIT: 3}
        return [(tool.name, fill(tool, values, said=frame.system, asked=asked)) for tool in tools]


def prose(chars: int) -> str:
    """Text of a length, always the same: words in no order, since repeated ones would be compressed to nothing."""
    words = sorted(word for words in VOCABULARY.values() for word in words)
    drawn = random.Random(0).choices(words, k=chars)  # noqa: S311  # a seed, so that all runs say the same
    return " ".join([_BEGINNING, *drawn])[:chars]


def _first_message(body: bytes, start: int) -> dict[str, Any] | None:
    """The first message alone, as the decoder stops where it ends."""
    text = body[start : start + 100_000].decode("utf-8", "ignore").lstrip()
    try:
        found, _ = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "content" in found else None


def _parsed_frame(tail: bytes, body: bytes) -> Frame:
    """The frame from the end of a request, from the whole of it where the end alone is not JSON."""
    try:
        found = json.loads(tail)
    except ValueError:
        found = request.parse(body).model_dump()
    return Frame(
        model=str(found.get("model") or ""),
        system=words_of(found.get("system") or ""),
        stream=bool(found.get("stream")),
        cached=bool(found.get("cache_control")),
        belt=toolbelt(found.get("tools") or ()),
    )


def _storing(tool: Tool, frame: Frame, asked: str, body: bytes) -> dict[str, Any] | None:
    """Arguments that store a statement from the last results; None if they hold none."""
    start = max(0, body.rfind(b'"tool_result"'))
    recent = body[start : start + _RECENT_BYTES].decode("utf-8", "ignore")
    address, statement = _ADDRESS.search(recent), _STATEMENT.search(recent)
    if not address or not statement:
        return None
    values = {
        Purpose.CONTENT: statement[0],
        Purpose.QUOTE: statement[0],
        Purpose.ADDRESS: address[0],
        Purpose.TOPIC: asked.replace("/", "-"),
        Purpose.SCORE: 0.5,
        Purpose.CONFIDENCE: 0.5,
    }
    return fill(tool, values, said=frame.system, asked=asked)
