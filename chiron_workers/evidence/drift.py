"""How far a later text of a source agrees with an earlier one, and which quotes of the earlier one it still bears out."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from chiron_workers.evidence.folding import fold
from chiron_workers.evidence.quotes import QUOTE_CHARS_MAX, locate
from chiron_workers.evidence.sentences import whole

SENTENCE_END = re.compile(r"(?<=[.!?…。！？])\s+|\n+")
NO_LETTER = re.compile(r"[\W_]+")
PLACES_MAX = 20  # of the same words in one text
STOPLESS_CHARS = 2_000  # what is longer has no sentences that could have changed


@dataclass(frozen=True, slots=True)
class Quoted:
    """Words that a fact rests on; `is_whole` where they are whole sentences of the earlier text."""

    quote: str
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Drift:
    """`agreement` is the share of the earlier text's sentences that still stand; `lost` are the numbers of the quotes
    that do not, from 0."""

    agreement: float
    lost: list[int]


def drift(before: str, now: str, quotes: list[Quoted]) -> Drift:
    """What became of a text and of the quotes from it. A sentence that was made longer or shorter is another one:
    what was said is no longer said like that."""
    letters = _letters(now) if quotes else ""
    lost = [n for n, quoted in enumerate(quotes) if not _stands(quoted, now, letters)]
    return Drift(agreement(before, now), lost)


def agreement(before: str, now: str) -> float:
    """The share of the sentences of one text that stand in another one, whatever the white space; 1 for no text."""
    sentences = _sentences(before)
    if not sentences:
        return 1
    left = set(_sentences(now))
    return sum(sentence in left for sentence in sentences) / len(sentences)


def _sentences(text: str) -> list[str]:
    return [" ".join(words) for part in SENTENCE_END.split(text) if (words := part.split())]


def _stands(quoted: Quoted, text: str, letters: str) -> bool:
    quote = quoted.quote
    # Looking for a quote folds the whole text; most of those that are gone are seen to be so without that.
    if not any(_letters(reading) in letters for reading in {quote, html.unescape(quote)}):
        return False
    if any(_is_sentence(text, at, at + len(quote)) for at in _places(quote, text)):
        return True
    found = locate(quote, text)
    if found is None:
        return False
    return (
        not quoted.is_whole or len(found.quote) > STOPLESS_CHARS or _spelled(found.quote) == _spelled(quote)
    )


def _places(quote: str, text: str) -> Iterator[int]:
    at = text.find(quote)
    for _ in range(PLACES_MAX):
        if at < 0:
            return
        yield at
        at = text.find(quote, at + 1)


def _is_sentence(text: str, start: int, end: int) -> bool:
    return whole(text, start, end, chars_max=QUOTE_CHARS_MAX) == (start, end)


def _letters(text: str) -> str:
    return NO_LETTER.sub("", fold(text).text).casefold()


def _spelled(text: str) -> str:
    return " ".join(fold(text).text.split())
