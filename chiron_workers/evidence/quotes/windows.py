"""Long texts piece by piece, so that to look for a quote takes little memory and holds up no other thread for long."""

from collections.abc import Iterator
from dataclasses import dataclass

WINDOW_CHARS = 100_000  # a character may stand for eighteen
EDGE_CHARS = 1_000  # what stands so near to a cut may read otherwise than in the whole text


@dataclass(frozen=True, slots=True)
class Window:
    """A piece of a text: `text` begins at `start` of it, and is what stands there alone from `low` to `high`."""

    text: str
    start: int
    low: int
    high: int

    def holds(self, start: int, end: int) -> bool:
        """Whether what stands from `start` to `end` of this piece reads as it does in the whole text."""
        return self.low <= start and end <= self.high


def windows(text: str, *, passage_chars_max: int) -> Iterator[Window]:
    """Pieces of a text in order, of which one holds each passage of at most that many characters; a short text is one."""
    step = WINDOW_CHARS - passage_chars_max - 2 * EDGE_CHARS
    start = 0
    while True:
        piece = text[start : start + WINDOW_CHARS]
        is_last = start + WINDOW_CHARS >= len(text)
        yield Window(
            piece, start, EDGE_CHARS if start else 0, len(piece) if is_last else WINDOW_CHARS - EDGE_CHARS
        )
        if is_last:
            return
        start += step
