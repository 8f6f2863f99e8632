"""What the model is shown: the journal's entries as the messages of one call."""

import json
from collections.abc import Sequence
from typing import Any

from chiron_workers.entries import Block, Entry, Opening, Question, Reply, Results, ToolResult, Usage
from chiron_workers.model import Request

GO_ON = "Your reply was cut off at the limit of its length. Go on from where it stopped; do not repeat what you wrote."
NOT_RUN = "This call was not run, since the reply was cut off ({stop}). Make it again if you still need it."


class Window:
    """The conversation so far, kept as the messages of the next call: adding an entry costs the same at any length."""

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self._opening: Opening | None = None
        self._messages: list[dict[str, Any]] = []
        self._sent: tuple[int, int] | None = None
        self._counted_tokens = 0  # of everything up to the latest reply, as the API billed it
        self._bytes_since = 0
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        """Take in the next entry; an opening begins anew."""
        if isinstance(entry, Opening):
            self._opening, self._messages, self._sent = entry, [], None
            self._counted_tokens, self._bytes_since = 0, _bytes([entry.system, *entry.tools])
        if isinstance(entry, Reply) and self._messages[-1]["role"] == "user":
            self._sent = (len(self._messages) - 1, len(self._messages[-1]["content"]) - 1)
        for role, blocks in _spoken(entry):
            _say(self._messages, role, blocks)
            self._measure(entry, role, blocks)

    @property
    def prompt_tokens_max(self) -> int:
        """Tokens that the next call sends at most: what was billed for the last one, and a token for each byte since."""
        return self._counted_tokens + self._bytes_since

    def _measure(self, entry: Entry, role: str, blocks: list[Block]) -> None:
        usage = entry.usage if isinstance(entry, Reply) and role == "assistant" else Usage()
        if usage.tokens > usage.output_tokens:
            self._counted_tokens, self._bytes_since = usage.tokens, 0
        else:  # some servers count nothing
            self._bytes_since += _bytes(blocks)

    def request(self) -> Request:
        """The next call of the model: what the latest opening froze, and everything since as messages."""
        assert self._opening is not None
        opening = self._opening
        return Request(
            opening.model, opening.system, opening.tools, opening.max_tokens, self._messages, self._sent
        )


def _spoken(entry: Entry) -> list[tuple[str, list[Block]]]:
    match entry:
        case Question(text):
            return [("user", [{"type": "text", "text": text}])]
        case Results(results):
            return [("user", [_result_block(result) for result in results])]
        case Reply():
            return [("assistant", _sendable(entry)), ("user", _after_a_cut(entry))]
        case Opening():
            return []


def _sendable(reply: Reply) -> list[Block]:
    # The API refuses empty text blocks, also those it sent itself.
    return [block for block in reply.content if block["type"] != "text" or block["text"].strip()]


def _after_a_cut(reply: Reply) -> list[Block]:
    if reply.stop in ("tool_use", "pause_turn"):
        return []
    unanswered = [
        _result_block(ToolResult(call.id, NOT_RUN.format(stop=reply.stop), is_error=True))
        for call in reply.calls
    ]
    return [*unanswered, {"type": "text", "text": GO_ON}] if reply.stop == "max_tokens" else unanswered


def _result_block(result: ToolResult) -> Block:
    return {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": result.text,
        "is_error": result.is_error,
    }


def _bytes(parts: Sequence[Any]) -> int:
    return sum(len(json.dumps(part, ensure_ascii=False).encode(errors="replace")) for part in parts)


def _say(messages: list[dict[str, Any]], role: str, blocks: list[Block]) -> None:
    if not blocks:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"].extend(blocks)
    else:
        messages.append({"role": role, "content": list(blocks)})
