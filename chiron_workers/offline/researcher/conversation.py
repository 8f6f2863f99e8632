"""What a request tells of the conversation so far: questions, tool calls and their results."""

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

    def argument(self, name: str) -> str:
        """An argument as text, empty if there is none."""
        return str(self.arguments.get(name, ""))


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
    legs: tuple[Leg, ...]

    def calls_of(self, tool: str) -> list[Call]:
        """The calls of one tool in all legs, oldest first."""
        return [call for leg in self.legs for call in leg.calls_of(tool)]

    @property
    def text(self) -> str:
        """The system prompt and everything the user wrote."""
        return "\n".join([self.system, *(question for leg in self.legs for question in leg.questions)])


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
            calls = _calls(blocks)
            legs[-1].calls += calls.values()
            legs[-1].replies += 1
            legs[-1].is_answered = not calls
            continue
        _read_results(blocks, calls)
        if not legs or (text and legs[-1].is_answered):
            legs.append(Leg([text]))
        elif text:
            legs[-1].questions.append(text)
    return Conversation(text_of(system), tuple(legs))


def _calls(blocks: Iterable[dict[str, Any]]) -> dict[str, Call]:
    return {
        str(block.get("id")): Call(str(block.get("name")), dict(block.get("input") or {}))
        for block in blocks
        if block.get("type") == "tool_use"
    }


def _read_results(blocks: Iterable[dict[str, Any]], calls: dict[str, Call]) -> None:
    for block in blocks:
        call = calls.get(str(block.get("tool_use_id")))
        if block.get("type") == "tool_result" and call:
            call.text = text_of(block.get("content") or "")
            call.is_failed = bool(block.get("is_error"))
            try:
                call.result = json.loads(call.text)
            except ValueError:
                call.result = None
