"""Load: a set number of turns a conversation at next to no cost, whatever the length of its history."""

import random
import re
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel, Field

from chiron_workers.offline.api.reply import reply, tokens_of
from chiron_workers.offline.api.request import read
from chiron_workers.offline.api.usage import InputUsage, PrefixCache
from chiron_workers.offline.api.wire import Turn
from chiron_workers.offline.researcher.conversation import Content, conversation_key, text_of
from chiron_workers.offline.researcher.research import STORE
from chiron_workers.offline.researcher.topic import subject_id, topic
from chiron_workers.offline.researcher.words import COMMON_WORDS, words

_STORED_EVERY = 10  # turns, where a store is offered and the last results hold a statement
_RECENT_BYTES = 6_000
_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]*:[^\s\"'\\<>]{3,500}")
_STATEMENT = re.compile(r"[A-Z][^\"\\{}\[\]<>]{40,300}?\.")
_READING_TOOL = re.compile(r"(?:get|list|look)_|\w+_search$")
_RESULTS_MAX = 3
_READING_ARGUMENTS = frozenset({"query", "subject_id", "max_results", "top_k"})
_READ = "web_fetch"
_OF_LOAD = "look_up"  # a tool that is there for load is called alone
_FULL_WINDOW = b"Your context window is full"  # with these words an agent asks for a summary
_TURNS_BEFORE = re.compile(r"\bTurns of this load test before: (\d+)\.")
_FIRST_WORDS = "This is a load test. A program plays a set number of turns and says nothing of any meaning."


class LoadRequest(BaseModel):
    """What load reads of a request: of its history the first message, and how many replies there are."""

    model: str = ""
    messages: list[dict[str, Any]] = Field(min_length=1)
    system: Content = ""
    tools: list[dict[str, Any]] = Field(default_factory=list)
    stream: bool = False


class Load:
    """Plays `turns` replies a conversation: tool calls, `calls` at a time, then an answer of `reply_chars`.

    A conversation that begins anew from a summary goes on counting, and the summary itself does not count. With a site, each
    reply reads its next page and stores a fact of the page before.
    """

    def __init__(
        self, *, turns: int, calls: int, reply_chars: int, prefixes: PrefixCache, site: str = ""
    ) -> None:
        self._turns, self._calls, self._prefixes, self._site = turns, calls, prefixes, site
        self._text = prose(reply_chars)

    def turn(self, body: bytes) -> Turn:
        """The reply to a request. Its history is counted, and not checked. Raises ApiError (400)."""
        request = read(LoadRequest, body)
        first_message = request.messages[0].get("content", "")
        key = conversation_key(request.system, first_message)
        first_text = text_of(first_message)
        number = _turns_before(first_text) + sum(
            message.get("role") == "assistant" for message in request.messages
        )
        usage = self._usage(key, len(body), is_cached=b'"cache_control"' in body)
        if body.rfind(_FULL_WINDOW) > body.rfind(b'"assistant"') > 0:
            answer = reply(key, number, f"Turns of this load test before: {number}.")
        else:
            calls = self._calls_of(request, topic(first_text), number, body)
            answer = reply(key, number, self._text, calls)
        return Turn(key, number, request.model, request.stream, usage, answer)

    def _usage(self, key: str, size: int, *, is_cached: bool) -> InputUsage:
        total = tokens_of(size)
        if not is_cached:
            return InputUsage(total)
        tokens_read = min(self._prefixes.read(key), total)
        self._prefixes.write(key, total)
        return InputUsage(0, total - tokens_read, tokens_read)

    def _calls_of(
        self, request: LoadRequest, research_topic: str, number: int, body: bytes
    ) -> list[tuple[str, dict[str, Any]]]:
        if number >= self._turns - 1:
            return []
        subject = subject_id(text_of(request.system), research_topic)
        if self._site:
            return self._site_calls(request, subject, research_topic, number, body)
        is_storing = any(tool.get("name") == STORE for tool in request.tools)
        is_due = is_storing and number % _STORED_EVERY == _STORED_EVERY - 1
        if is_due and (fact := _fact(subject, research_topic, body)):
            return [(STORE, fact)]
        values: dict[str, Any] = dict.fromkeys(("max_results", "top_k"), _RESULTS_MAX)
        values |= {"query": f"{research_topic} {number + 1}", "subject_id": subject}
        tools = list(_reading_tools(request.tools))
        tools = [tool for tool in tools if tool[0] == _OF_LOAD] or tools
        turn_tools = [tools[(number + index) % len(tools)] for index in range(self._calls) if tools]
        return [(name, {key: values[key] for key in sorted(arguments)}) for name, arguments in turn_tools]

    def _site_calls(
        self, request: LoadRequest, subject: str, research_topic: str, number: int, body: bytes
    ) -> list[tuple[str, dict[str, Any]]]:
        names = {tool.get("name") for tool in request.tools}
        if not {STORE, _READ} <= names:  # a question beside the conversation
            return []
        page = f"{self._site}/{'-'.join(words(research_topic))}/{number + 1}"
        calls: list[tuple[str, dict[str, Any]]] = [(_READ, {"url": page})]
        fact = _fact(subject, research_topic, body)
        return [(STORE, fact), *calls] if fact else calls


def _turns_before(first_text: str) -> int:
    """Replies of a conversation before its window began anew, as the summary in its first message tells."""
    summary = _TURNS_BEFORE.search(first_text)
    return int(summary[1]) if summary else 0


def prose(chars: int) -> str:
    """Text of a length, always the same: words in no order, since repeated ones would be compressed to nothing."""
    parts = random.Random(0).choices(sorted(COMMON_WORDS), k=chars)  # noqa: S311  # a seed, so that all runs say the same
    return " ".join([_FIRST_WORDS, *parts])[:chars]


def _reading_tools(tools: Iterable[dict[str, Any]]) -> Iterator[tuple[str, frozenset[str]]]:
    """Tools that only look something up and ask for nothing but a query or a subject."""
    for tool in tools:
        schema = tool.get("input_schema") or {}
        is_filled = set(schema.get("required") or ()) <= _READING_ARGUMENTS
        if is_filled and _READING_TOOL.match(str(tool.get("name"))):
            yield tool["name"], _READING_ARGUMENTS & (schema.get("properties") or {}).keys()


def _fact(subject: str, research_topic: str, body: bytes) -> dict[str, Any] | None:
    """A statement from the last results, as store_knowledge takes it; None if they hold none."""
    start = body.rfind(b'"tool_result"')
    if start < 0:
        return None
    recent = body[start : start + _RECENT_BYTES].decode("utf-8", "ignore")
    url, statement = _URL.search(recent), _STATEMENT.search(recent)
    if not url or not statement:
        return None
    return {
        "content": statement[0],
        "subject_id": subject,
        "source_url": url[0],
        "source_score": 0.5,
        "topic_path": research_topic.replace("/", "-"),
        "confidence": 0.5,
        "quote": statement[0],
    }
