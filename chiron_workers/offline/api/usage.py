"""Input tokens as the API bills them: new, written to the prompt cache, read from it."""

import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from chiron_workers.offline.api.reply import tokens_of

PREFIXES_MAX = 20_000
LOOKED_BACK = 20  # blocks before a breakpoint, itself included, in which an entry is found
TOKENS_MIN = 1_024  # a shorter beginning is not kept
TTLS_S = {"5m": 300.0, "1h": 3_600.0}
NEVER_MARKED = ("thinking", "redacted_thinking")


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


@dataclass(frozen=True, slots=True)
class _Entry:
    tokens: int
    ttl: str
    until: float


class PrefixCache:
    """Which beginnings of requests were sent before, kept and found as Claude's prompt cache does.

    Source: Anthropic, "Prompt caching". Entries are written at breakpoints and nowhere else, a breakpoint finds those
    up to 20 blocks before it, and what is read lives on.

    Args:
        clock: Seconds.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._entries: OrderedDict[object, _Entry] = OrderedDict()

    def read(self, key: object) -> int:
        """Tokens known under a key, 0 if there are none. They are kept for as long again."""
        entry = self._entries.get(key)
        if entry is None or entry.until <= self._clock():
            return 0
        self.write(key, entry.tokens, ttl=entry.ttl)
        return entry.tokens

    def write(self, key: object, tokens: int, *, ttl: str = "5m") -> None:
        """Remember the tokens of a prefix."""
        self._entries[key] = _Entry(tokens, ttl, self._clock() + TTLS_S[ttl])
        self._entries.move_to_end(key)
        while len(self._entries) > PREFIXES_MAX:
            self._entries.popitem(last=False)

    def account(self, pieces: Sequence[dict[str, Any]], cache_control: dict[str, Any] | None) -> InputUsage:
        """Usage of a request, given as its cacheable blocks in order; a top-level mark is put on the last of them."""
        blocks = [json.dumps(_unmarked(piece), ensure_ascii=False) for piece in pieces]
        marks = _marks(pieces, cache_control)
        keys, sums = list(_prefixes(blocks)), list(accumulate(tokens_of(len(block)) for block in blocks))
        total = sums[-1] if sums else 0
        ttls = {place: ttl for place, ttl in marks.items() if sums[place] >= TOKENS_MIN}
        if not ttls:
            return InputUsage(total)
        cached_tokens = max(self._cached_tokens(keys, place) for place in ttls)
        for place, ttl in ttls.items():
            if sums[place] > cached_tokens:
                self.write(keys[place], sums[place], ttl=ttl)
        prefix_tokens = sums[max(ttls)]
        return InputUsage(
            total - prefix_tokens, prefix_tokens - cached_tokens, cached_tokens, ttls[max(ttls)]
        )

    def _cached_tokens(self, keys: Sequence[bytes], place: int) -> int:
        places = range(place, max(-1, place - LOOKED_BACK), -1)
        return next((tokens for index in places if (tokens := self.read(keys[index]))), 0)


def _marks(pieces: Sequence[dict[str, Any]], cache_control: dict[str, Any] | None) -> dict[int, str]:
    marks = {
        place: str(piece["cache_control"].get("ttl", "5m"))
        for place, piece in enumerate(pieces)
        if piece.get("cache_control")
    }
    if cache_control:
        last = max(place for place, piece in enumerate(pieces) if piece.get("type") not in NEVER_MARKED)
        marks[last] = str(cache_control.get("ttl", "5m"))
    return marks


def _prefixes(blocks: Sequence[str]) -> Iterator[bytes]:
    digest = b""
    for block in blocks:
        digest = hashlib.blake2b(digest + block.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        yield digest


def _unmarked(piece: Any) -> Any:
    """A piece without its cache marks, which move from request to request."""
    if isinstance(piece, list):
        return [_unmarked(item) for item in piece]
    if isinstance(piece, dict):
        return {key: _unmarked(item) for key, item in piece.items() if key != "cache_control"}
    return piece
