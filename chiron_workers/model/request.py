"""One call of the model, and how it is sent: with breakpoints for the prompt cache, so that each token is written once.

Source: Anthropic, "Prompt caching": an entry is written at a breakpoint and nowhere else; a breakpoint finds entries up
to 20 blocks before it; a request has 4 breakpoints at most; the breakpoints are no part of what is compared.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chiron_workers.runs.entries import Block
from chiron_workers.runs.messages import Message, encoded


@dataclass(frozen=True, slots=True)
class Request:
    """One call of the model: the frozen opening of the epoch and the conversation so far."""

    model: str
    system: str
    tools: Sequence[bytes]  # each definition as JSON
    max_tokens: int
    messages: Sequence[Message]
    # The message and the block that the request before this one ended with.
    last_question_at: tuple[int, int] | None = None
    thinking: Block | None = None  # None: nothing is said of it
    effort: str | None = None

    @property
    def prompt_bytes(self) -> int:
        """Bytes of everything that the model reads."""
        message_bytes = sum(len(block) for message in self.messages for block in message.blocks)
        return len(self.system.encode(errors="replace")) + sum(map(len, self.tools)) + message_bytes


def body(request: Request, *, ttl: str) -> bytes:
    """The call as the Messages API takes it, streamed; `ttl` says how long the cache keeps what it reads (5m or 1h).

    It is put together from parts that are encoded already: encoding a long history anew would take most of a turn.
    """
    mark: dict[str, str] | None = None
    if request.model.startswith("claude"):  # other servers of this API may not know caching
        mark = {"type": "ephemeral"} if ttl == "5m" else {"type": "ephemeral", "ttl": ttl}
    parts = {
        "model": encoded(request.model),
        "max_tokens": encoded(request.max_tokens),
        "stream": b"true",
        "system": encoded(request.system),
        "messages": _json_array([message.to_json() for message in _messages(request, mark)]),
    }
    if request.tools:
        *other_tools, last = request.tools  # runs of other roles and subjects have these too
        parts["tools"] = _json_array([*other_tools, _marked(last, mark)])
    if request.thinking is not None:
        parts["thinking"] = encoded(request.thinking)
    if request.effort is not None:
        parts["output_config"] = encoded({"effort": request.effort})
    if mark is not None:
        parts["cache_control"] = encoded(mark)  # the API puts this one at the end of the request
        parts["system"] = encoded([{"type": "text", "text": request.system, "cache_control": mark}])
    return b"{%b}" % b",".join(b'"%b":%b' % (name.encode(), value) for name, value in parts.items())


def _messages(request: Request, mark: dict[str, str] | None) -> Sequence[Message]:
    if request.last_question_at is None:
        return request.messages
    # The history stays as it is, for the next request marks another place: only one message is copied.
    place, block = request.last_question_at  # a turn of many parallel calls is longer than 20 blocks
    blocks = list(request.messages[place].blocks)
    blocks[block] = _marked(blocks[block], mark)
    marked_message = Message(request.messages[place].role, blocks)
    return [*request.messages[:place], marked_message, *request.messages[place + 1 :]]


def _marked(part: bytes, mark: dict[str, str] | None) -> bytes:
    return part if mark is None else encoded({**json.loads(part), "cache_control": mark})


def _json_array(items: Iterable[bytes]) -> bytes:
    return b"[%b]" % b",".join(items)
