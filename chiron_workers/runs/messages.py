"""The messages of a conversation as the JSON that a model is sent."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from chiron_workers.runs.entries import Block


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
