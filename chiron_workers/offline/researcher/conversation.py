"""What a request tells of the conversation so far: questions, tool calls and their results."""

import contextlib
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Content = str | list[dict[str, Any]]


@dataclass(slots=True)
class Call:
    """A tool call of an earlier reply; `result` is its JSON where it is JSON."""

    name: str
    arguments: dict[str, Any]
    text: str = ""
    result: Any = None
    is_failed: bool = False


@dataclass(slots=True)
class Leg:
    """A question, what was added to it while it was worked on, and the calls made for it."""

    questions: list[str]
    calls: list[Call] = field(default_factory=list)
    replies: int = 0
    is_answered: bool = False

    def calls_of(self, tool: str) -> list[Call]:
        """The calls of one tool, oldest first."""
        return [call for call in self.calls if call.name == tool]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A whole conversation; the last leg is the one to go on with."""

    system: str
    legs: list[Leg]

    def calls_of(self, tool: str) -> list[Call]:
        """The calls of one tool in all legs, oldest first."""
        return [call for leg in self.legs for call in leg.calls_of(tool)]


def conversation_key(system: Content, first_message: Content) -> str:
    """What a conversation is known by in the request log: a digest of the system prompt and the first message."""
    text = f"{text_of(system)}\0{text_of(first_message)}"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def text_of(content: Content) -> str:
    """The text blocks of a message, a tool result or a system prompt, joined."""
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", "")) for block in content if block.get("type") == "text")


def read(system: Content, messages: Iterable[tuple[str, Content]]) -> Conversation:
    """The conversation in `(role, content)` messages that were checked before."""
    legs: list[Leg] = []
    calls: dict[str, Call] = {}
    for role, content in messages:
        blocks = content if isinstance(content, list) else []
        text = text_of(content).strip()
        if role == "assistant":
            uses = [block for block in blocks if block.get("type") == "tool_use"]
            calls = {str(use.get("id")): Call(str(use.get("name")), use.get("input") or {}) for use in uses}
            legs[-1].calls += calls.values()
            legs[-1].replies += 1
            legs[-1].is_answered = not calls
            continue
        _read_results(blocks, calls)
        if not legs or (text and legs[-1].is_answered):
            legs.append(Leg([text]))
        elif text:
            legs[-1].questions.append(text)
    return Conversation(text_of(system), legs)


def _read_results(blocks: Iterable[dict[str, Any]], calls: dict[str, Call]) -> None:
    for block in blocks:
        call = calls.get(str(block.get("tool_use_id")))
        if block.get("type") == "tool_result" and call:
            call.text, call.is_failed = text_of(block.get("content") or ""), bool(block.get("is_error"))
            with contextlib.suppress(ValueError):
                call.result = None if call.is_failed else json.loads(call.text)
