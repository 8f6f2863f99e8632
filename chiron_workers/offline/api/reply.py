"""A reply of the Messages API before it goes on the wire."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Block = dict[str, Any]
CHARS_PER_TOKEN = 4  # about what English has; what counts is that it never varies


@dataclass(frozen=True, slots=True)
class Reply:
    """Content blocks and the reason the model stopped."""

    id: str
    content: tuple[Block, ...]
    stop: str

    @property
    def tokens(self) -> int:
        """Output tokens, as this server counts them."""
        return max(1, sum(_tokens(block) for block in self.content))


def reply(conversation: str, turn: int, text: str, calls: Iterable[tuple[str, dict[str, Any]]] = ()) -> Reply:
    """The reply to one turn: text first, then tool calls. The ids follow from conversation and turn alone."""
    blocks: list[Block] = [{"type": "text", "text": text}] if text else []
    for index, (name, arguments) in enumerate(calls):
        call_id = f"toolu_{_digest(conversation, turn, index)}"
        blocks.append({"type": "tool_use", "id": call_id, "name": name, "input": arguments})
    stop = "tool_use" if blocks and blocks[-1]["type"] == "tool_use" else "end_turn"
    return Reply(f"msg_{_digest(conversation, turn)}", tuple(blocks), stop)


def cut(whole: Reply, tokens_max: int) -> Reply:
    """The reply as far as `tokens_max` allows: text is cut, a tool call that does not fit is left out."""
    if whole.tokens <= tokens_max:
        return whole
    tokens_left, blocks = tokens_max, []
    for block in whole.content:
        if block["type"] == "text" and tokens_left > 0:
            blocks.append({**block, "text": block["text"][: tokens_left * CHARS_PER_TOKEN]})
        elif _tokens(block) <= tokens_left:
            blocks.append(block)
        tokens_left -= _tokens(block)
    return Reply(whole.id, tuple(blocks), "max_tokens")


def tokens_of(chars: int) -> int:
    """Tokens of a text of so many characters."""
    return (chars + CHARS_PER_TOKEN - 1) // CHARS_PER_TOKEN


def _tokens(block: Block) -> int:
    text = block["text"] if block["type"] == "text" else block["name"] + json.dumps(block["input"])
    return tokens_of(len(text))


def _digest(*parts: object) -> str:
    return hashlib.blake2b(repr(parts).encode(), digest_size=12).hexdigest()
