"""Input tokens as the API bills them: new, written to the prompt cache, read from it."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chiron_workers.offline.reply import tokens_of

PREFIXES_MAX = 20_000


@dataclass(frozen=True, slots=True)
class InputUsage:
    """Input tokens of one request; the three do not overlap."""

    new: int
    cache_write: int = 0
    cache_read: int = 0
    ttl: str = "5m"

    def body(self) -> dict[str, Any]:
        """The input half of the API's usage object."""
        return {
            "input_tokens": self.new,
            "cache_creation_input_tokens": self.cache_write,
            "cache_read_input_tokens": self.cache_read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": 0 if self.ttl == "1h" else self.cache_write,
                "ephemeral_1h_input_tokens": self.cache_write if self.ttl == "1h" else 0,
            },
        }


class PrefixCache:
    """Which beginnings of requests were sent before. Entries leave by number, oldest first, not by time."""

    def __init__(self) -> None:
        self._known: OrderedDict[object, int] = OrderedDict()

    def read(self, key: object) -> int:
        """Tokens known under a key, 0 if there are none."""
        return self._known.get(key, 0)

    def write(self, key: object, tokens: int) -> None:
        """Remember the tokens of a prefix."""
        self._known[key] = tokens
        self._known.move_to_end(key)
        while len(self._known) > PREFIXES_MAX:
            self._known.popitem(last=False)

    def account(self, pieces: Sequence[Any], cache_control: dict[str, Any] | None) -> InputUsage:
        """Usage of a request, given as its cacheable pieces (tools, system, each message) in order.

        A piece that holds a `cache_control` block, or a top-level one for all of it, says how far the cache reaches.
        """
        texts = [json.dumps(piece, ensure_ascii=False) for piece in pieces]
        marks = [index for index, text in enumerate(texts) if '"cache_control"' in text]
        last = len(texts) - 1 if cache_control else max(marks, default=-1)
        total, read, written = 0, 0, 0
        digest = hashlib.blake2b(digest_size=16)
        for index, piece in enumerate(pieces):
            text = json.dumps(_unmarked(piece), ensure_ascii=False)
            total += tokens_of(len(text))
            if index <= last:
                digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
                read = self.read(digest.digest()) or read
                written = total
        if last >= 0:
            self.write(digest.digest(), written)
        ttl = (
            "1h"
            if '"1h"' in json.dumps(cache_control) or any('"ttl": "1h"' in texts[mark] for mark in marks)
            else "5m"
        )
        return InputUsage(total - written, written - read, read, ttl)


def _unmarked(piece: Any) -> Any:
    """A piece without its cache marks, which move from request to request."""
    if isinstance(piece, list):
        return [_unmarked(item) for item in piece]
    if isinstance(piece, dict):
        return {key: _unmarked(item) for key, item in piece.items() if key != "cache_control"}
    return piece
