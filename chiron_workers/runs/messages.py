"""The messages of a conversation as the JSON that a model is sent."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Self

from chiron_workers.runs.entries import Block

PIECE_BYTES = 64_000  # a piece as large as this is not copied any more


def encoded(part: Any) -> bytes:
    """A part of a request as JSON in UTF-8; halves of surrogate pairs, which it cannot hold, become question marks."""
    return json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


@lru_cache(maxsize=500)
def shared(part: bytes) -> bytes:
    """The part, one copy for all runs that have the same: the definitions of all tools are tens of kilobytes."""
    return part


@dataclass(slots=True)
class Message:
    """What one side said, each content block encoded once, however often it is sent."""

    role: str
    blocks: list[bytes]

    @classmethod
    def of(cls, role: str, content: Sequence[Block]) -> Self:
        """The message with these content blocks."""
        return cls(role, [encoded(block) for block in content])

    def content(self) -> list[Block]:
        """Its content blocks, decoded."""
        return [json.loads(block) for block in self.blocks]

    def to_json(self) -> bytes:
        """The message as it is sent."""
        return b'{"role":"%b","content":[%b]}' % (self.role.encode(), b",".join(self.blocks))


@dataclass(slots=True)
class History:
    """Messages that change no more, as the JSON that is sent, in few pieces: each on its own would take a third more room."""

    pieces: list[bytes] = field(default_factory=list)
    count: int = 0
    block_bytes: int = 0  # of their content blocks alone

    def add(self, message: Message) -> None:
        """Add the next message. A byte is copied once for each time that its piece grows by half."""
        piece = message.to_json()
        while self.pieces and len(self.pieces[-1]) < min(2 * len(piece), PIECE_BYTES):
            piece = b"%b,%b" % (self.pieces.pop(), piece)
        self.pieces.append(piece)
        self.count += 1
        self.block_bytes += sum(map(len, message.blocks))
