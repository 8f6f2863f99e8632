"""How far a later text of a source agrees with an earlier one, and which quotes of the earlier one it still bears out."""

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

from chiron_workers.evidence.quotes.normalise import normalise
from chiron_workers.evidence.quotes.quotes import find_places, locate
from chiron_workers.evidence.quotes.sentences import sentence_breaks

NO_LETTER = re.compile(r"[\W_]+")
PIECE = re.compile(r"(?s).{1,2000}(?:\s|\Z)|.{1,2000}")
PLACES_MAX = 20  # of the same letters in one text
AROUND_CHARS = 5_000  # more than a sentence is looked for in


@dataclass(frozen=True, slots=True)
class Drift:
    """`agreement` is the share of the earlier text's sentences that still stand; `missing_quotes` are the
    indexes of the quotes that do not."""

    agreement: float
    missing_quotes: list[int]


def measure_drift(before: str, now: str, quotes: list[str], read_otherwise: Collection[int] = ()) -> Drift:
    """Measure what became of a text and of the quotes from it, which are whole sentences.

    A sentence that was made longer or shorter is another one.

    Args:
        read_otherwise: The indexes of the quotes whose text another version of our readers read: of them the letters and digits
            are enough, since marks and signs may be the reader's.
    """
    page = _Page(now) if quotes else None
    missing_quotes = [
        n
        for n, quote in enumerate(quotes)
        if page and not _stands(quote, page, by_letters=n in read_otherwise)
    ]
    return Drift(sentence_agreement(before, now), missing_quotes)


def sentence_agreement(before: str, now: str) -> float:
    """The share of the sentences of one text that stand in another one, whatever the white space; 1 for no text."""
    sentences = _sentences(before)
    if not sentences:
        return 1
    later_sentences = set(_sentences(now))
    return sum(sentence in later_sentences for sentence in sentences) / len(sentences)


def _sentences(text: str) -> list[str]:
    # Line by line, as the rows of a table and the entries of a list have no stops.
    pieces = (line[start:end] for line in text.splitlines() for start, end in pairwise(sentence_breaks(line)))
    return [" ".join(words) for piece in pieces if (words := piece.split())]


class _Page:
    """A text and where its letters are, so that a quote is looked for word by word only around the same letters."""

    def __init__(self, text: str) -> None:
        self._text = text
        spans = [match.span() for match in PIECE.finditer(text)]
        letters = [_letters(text[start:end]) for start, end in spans]
        self._letters = "".join(letters)
        self._starts = [start for start, _ in spans]
        self._counts = list(accumulate(map(len, letters), initial=0))[:-1]

    def around(self, letters: str) -> Iterator[str]:
        """The passages that hold letters in this order, with what stands around them."""
        for at in find_places(letters, self._letters, most=PLACES_MAX):
            first = bisect_right(self._counts, at) - 1
            last = bisect_right(self._counts, at + len(letters))
            end = self._starts[last] if last < len(self._starts) else len(self._text)
            yield self._text[max(0, self._starts[first] - AROUND_CHARS) : end + AROUND_CHARS]


def _stands(quote: str, page: _Page, *, by_letters: bool) -> bool:
    readings = {_letters(quote), _letters(html.unescape(quote))}
    return any(
        by_letters or _stands_in(quote, passage)
        for letters in readings
        if letters
        for passage in page.around(letters)
    )


def _stands_in(quote: str, passage: str) -> bool:
    match = locate(quote, passage, has_marks=False)
    if match is None:
        return False
    return _spelled(match.quote) == _spelled(quote) or _is_whole_lines(quote, match.quote)


def _is_whole_lines(quote: str, passage: str) -> bool:
    # Where there are no stops, as in a table, what stands around a quote is other lines and no part of a sentence.
    before, quote, after = passage.partition(quote)
    return bool(quote) and before[-1:] in ("", "\n") and after[:1] in ("", "\n")


def _letters(text: str) -> str:
    """Letters and digits, raised and lowered ones on the line: so older readers gave them."""
    return NO_LETTER.sub("", unicodedata.normalize("NFKC", normalise(text).text)).casefold()


def _spelled(text: str) -> str:
    return " ".join(normalise(text).text.split())
