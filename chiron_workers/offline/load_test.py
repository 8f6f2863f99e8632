"""Load: a set number of turns a conversation at next to no cost, whatever the length of its history."""

import json
import random
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from chiron_workers.offline.api import request
from chiron_workers.offline.api.reply import Reply, reply, tokens_of
from chiron_workers.offline.api.usage import InputUsage, PrefixCache
from chiron_workers.offline.researcher.conversation import conversation_key, text_of
from chiron_workers.offline.researcher.research import STORE
from chiron_workers.offline.researcher.topic import subject_id, topic
from chiron_workers.offline.researcher.words import COMMON_WORDS

FRAMES_MAX = 1_024
_STORED_EVERY = 10  # turns, where a store is offered and the last results hold a statement
_RECENT_BYTES = 6_000
# Quotes inside strings are escaped, so these match nothing but the request's own fields.
_ASSISTANT = re.compile(rb'"role"\s*:\s*"assistant"')
_MESSAGES = re.compile(rb'"messages"\s*:\s*\[')
_AFTER_MESSAGES = (b'],"model":', b'], "model":')
_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]*:[^\s\"'\\<>]{3,500}")
_STATEMENT = re.compile(r"[A-Z][^\"\\{}\[\]<>]{40,300}?\.")
_READING_TOOL = re.compile(r"(?:get|list|look)_|\w+_search$")
_RESULTS_MAX = 3
_READING_ARGUMENTS = frozenset({"query", "subject_id", "max_results", "top_k"})
_FIRST_WORDS = "This is a load test. A program plays a set number of turns and says nothing of any meaning."


@dataclass(frozen=True, slots=True)
class Frame:
    """What stays the same in all requests of a conversation: everything but the messages."""

    model: str
    system: str
    is_streamed: bool
    is_cached: bool
    is_storing: bool  # whether store_knowledge is offered
    reading_tools: tuple[tuple[str, frozenset[str]], ...]  # names, and which of _READING_ARGUMENTS they take


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
        message = _first_message(body, start.end()) if start else None
        if message is None:
            message = request.parse(body).messages[0].model_dump()
        frame = self._frame(body)
        key = conversation_key(frame.system, message["content"])
        number = len(_ASSISTANT.findall(body))
        usage = self._usage(key, len(body), is_cached=frame.is_cached or b'"cache_control"' in body)
        calls = self._calls_of(frame, topic(text_of(message["content"])), number, body)
        return Turn(frame, key, number, usage, reply(key, number, self._text, calls))

    def _frame(self, body: bytes) -> Frame:
        """The frame of a request, parsed once a conversation: it follows the messages in what the SDK sends."""
        ends = (body.rfind(mark) for mark in _AFTER_MESSAGES)
        end = next((end for end in ends if end >= 0), -1)
        tail = b"{" + body[end:].lstrip(b"], ") if end >= 0 else body
        frame = self._frames.get(tail)
        if frame is None:
            frame = self._frames[tail] = _parsed_frame(tail, body)
            if len(self._frames) > FRAMES_MAX:
                self._frames.popitem(last=False)
        return frame

    def _usage(self, key: str, size: int, *, is_cached: bool) -> InputUsage:
        total = tokens_of(size)
        if not is_cached:
            return InputUsage(total)
        read = min(self._prefixes.read(key), total)
        self._prefixes.write(key, total)
        return InputUsage(0, total - read, read)

    def _calls_of(
        self, frame: Frame, research_topic: str, number: int, body: bytes
    ) -> list[tuple[str, dict[str, Any]]]:
        if number >= self._turns - 1:
            return []
        if (
            frame.is_storing
            and number % _STORED_EVERY == _STORED_EVERY - 1
            and (fact := _fact(frame, research_topic, body))
        ):
            return [(STORE, fact)]
        values: dict[str, Any] = dict.fromkeys(("max_results", "top_k"), _RESULTS_MAX)
        values |= {
            "query": f"{research_topic} {number + 1}",
            "subject_id": subject_id(frame.system, research_topic),
        }
        tools = frame.reading_tools
        turn_tools = [tools[(number + index) % len(tools)] for index in range(self._calls) if tools]
        return [(name, {key: values[key] for key in sorted(arguments)}) for name, arguments in turn_tools]


def prose(chars: int) -> str:
    """Text of a length, always the same: words in no order, since repeated ones would be compressed to nothing."""
    words = random.Random(0).choices(sorted(COMMON_WORDS), k=chars)  # noqa: S311  # a seed, so that all runs say the same
    return " ".join([_FIRST_WORDS, *words])[:chars]


def _first_message(body: bytes, start: int) -> dict[str, Any] | None:
    """The first message alone, as the decoder stops where it ends."""
    text = body[start : start + 100_000].decode("utf-8", "ignore").lstrip()
    try:
        message, _ = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return None
    return message if isinstance(message, dict) and "content" in message else None


def _parsed_frame(tail: bytes, body: bytes) -> Frame:
    """The frame from the end of a request, from the whole of it where the end alone is not JSON."""
    try:
        fields = json.loads(tail)
    except ValueError:
        fields = request.parse(body).model_dump()
    tools = fields.get("tools") or ()
    return Frame(
        model=str(fields.get("model") or ""),
        system=text_of(fields.get("system") or ""),
        is_streamed=bool(fields.get("stream")),
        is_cached=bool(fields.get("cache_control")),
        is_storing=any(tool.get("name") == STORE for tool in tools),
        reading_tools=tuple(_reading_tools(tools)),
    )


def _reading_tools(tools: Iterable[dict[str, Any]]) -> Iterator[tuple[str, frozenset[str]]]:
    """Tools that only look something up and ask for nothing but a query or a subject."""
    for tool in tools:
        schema = tool.get("input_schema") or {}
        is_filled = set(schema.get("required") or ()) <= _READING_ARGUMENTS
        if is_filled and _READING_TOOL.match(str(tool.get("name"))):
            yield tool["name"], _READING_ARGUMENTS & (schema.get("properties") or {}).keys()


def _fact(frame: Frame, research_topic: str, body: bytes) -> dict[str, Any] | None:
    """A statement from the last results, as store_knowledge takes it; None if they hold none."""
    start = max(0, body.rfind(b'"tool_result"'))
    recent = body[start : start + _RECENT_BYTES].decode("utf-8", "ignore")
    url, statement = _URL.search(recent), _STATEMENT.search(recent)
    if not url or not statement:
        return None
    return {
        "content": statement[0],
        "subject_id": subject_id(frame.system, research_topic),
        "source_url": url[0],
        "source_score": 0.5,
        "topic_path": research_topic.replace("/", "-"),
        "confidence": 0.5,
        "quote": statement[0],
    }
