"""What a request tells of the conversation so far: questions, tool calls and what they gave back."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

Content = str | list[dict[str, Any]]


@dataclass(slots=True)
class Call:
    """A tool call of an earlier reply; `pieces` are its results, parsed where they are JSON."""

    name: str
    arguments: dict[str, Any]
    pieces: tuple[Any, ...] = ()
    text: str = ""
    failed: bool = False


@dataclass(slots=True)
class Leg:
    """A question, what was said to it while it was worked on, and the calls made for it."""

    questions: list[str]
    calls: list[Call] = field(default_factory=list)
    replies: int = 0
    answered: bool = False


@dataclass(frozen=True, slots=True)
class Conversation:
    """A whole conversation; the last leg is the one to go on with."""

    system: str
    legs: tuple[Leg, ...]

    @property
    def calls(self) -> list[Call]:
        """All calls, oldest first."""
        return [call for leg in self.legs for call in leg.calls]

    @property
    def said(self) -> str:
        """The system prompt and everything the user said, for looking up names and ids."""
        return "\n".join([self.system, *(question for leg in self.legs for question in leg.questions)])


def conversation_key(system: Content, first_message: Content) -> str:
    """What a conversation is known by in the witness log: a digest of the system prompt and the first message."""
    said = f"{words_of(system)}\0{words_of(first_message)}"
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def words_of(content: Content) -> str:
    """The text blocks of a message or system prompt, joined."""
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", "")) for block in content if block.get("type") == "text")


def read(system: Content, messages: Iterable[tuple[str, Content]]) -> Conversation:
    """The conversation in `(role, content)` messages that were checked before."""
    legs: list[Leg] = []
    pending: dict[str, Call] = {}
    for role, content in messages:
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if role == "user":
            _take_results(blocks, pending)
            _take_words(words_of(content).strip(), legs)
        else:
            pending = _take_reply(blocks, legs)
    return Conversation(words_of(system), tuple(legs or [Leg([""])]))


def _take_words(text: str, legs: list[Leg]) -> None:
    if not text:
        return
    if not legs or legs[-1].answered:
        legs.append(Leg([text]))
    else:
        legs[-1].questions.append(text)


def _take_reply(blocks: Sequence[dict[str, Any]], legs: list[Leg]) -> dict[str, Call]:
    if not legs:
        legs.append(Leg([""]))
    made = {
        str(block.get("id")): Call(str(block.get("name")), dict(block.get("input") or {}))
        for block in blocks
        if block.get("type") == "tool_use"
    }
    legs[-1].calls += made.values()
    legs[-1].replies += 1
    legs[-1].answered = not made
    return made


def _take_results(blocks: Sequence[dict[str, Any]], pending: dict[str, Call]) -> None:
    for block in blocks:
        call = pending.get(str(block.get("tool_use_id")))
        if block.get("type") == "tool_result" and call:
            call.pieces = tuple(_pieces(block.get("content") or ""))
            call.text = "\n".join(
                piece if isinstance(piece, str) else json.dumps(piece) for piece in call.pieces
            )
            call.failed = bool(block.get("is_error")) or _is_error(call.pieces)


def _pieces(content: Content) -> Iterable[Any]:
    if isinstance(content, str):
        yield _parsed(content)
        return
    for block in content:
        match block:
            case {"type": "text", "text": str(text)}:
                yield _parsed(text)
            case {"type": "search_result", "source": source, "title": title, "content": list(texts)}:
                yield {"url": source, "title": title, "text": words_of(texts)}
            case {"type": "document", "source": {"data": str(text)}}:
                yield text


def _parsed(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _is_error(pieces: tuple[Any, ...]) -> bool:
    return len(pieces) == 1 and isinstance(pieces[0], dict) and bool(pieces[0].get("error"))
