"""What a quote says otherwise than a passage, word by word."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

DIFFERENCES_MAX = 3
DIFFERENT_WORDS_MAX = 8


@dataclass(frozen=True, slots=True)
class Change:
    """Words of a page that a quote has otherwise; either may be empty."""

    page_words: str
    quote_words: str
    previous_word: str  # the page's word before it


def diff_words(page: list[str], quote: list[str]) -> Iterator[Change]:
    """Where the words of a passage and of a quote part, leaving out what stands around the quote."""
    from rapidfuzz.distance import Indel

    i = j = 0
    for block in Indel.opcodes(page, quote).as_matching_blocks():
        page_words, quote_words = page[i : block.a], quote[j : block.b]
        # What the page says before and after the passage is not left out.
        if i == 0 and page_words[: len(page_words) - len(quote_words)]:
            page_words = page_words[len(page_words) - len(quote_words) :]
        elif block.a == len(page):
            page_words = page_words[: len(quote_words)]
            if " ".join(page_words).rstrip(".,;:!?") == " ".join(quote_words):
                page_words = quote_words = []
        if page_words or quote_words:
            yield Change(" ".join(page_words), " ".join(quote_words), page[i - 1] if i else "")
        i, j = block.a + block.size, block.b + block.size


def describe(changes: list[Change]) -> str:
    """The changes in words, or nothing where they are too many or too long."""
    if not 0 < len(changes) <= DIFFERENCES_MAX:
        return ""
    parts = []
    for change in changes:
        if max(change.page_words.count(" "), change.quote_words.count(" ")) >= DIFFERENT_WORDS_MAX:
            return ""
        if not change.quote_words:
            parts.append(f"the page says {change.page_words!r}, which the quote leaves out")
        elif not change.page_words:
            parts.append(f"the quote says {change.quote_words!r}, which the page does not")
        else:
            page_words = _quoted_words(change.page_words, change.quote_words)
            quote_words = _quoted_words(change.quote_words, change.page_words)
            parts.append(f"the page says {page_words}, the quote {quote_words}")
    return ", and ".join(parts)


def _quoted_words(words: str, rival_words: str) -> str:
    """Words in quotation marks, with the names of letters that may look like those of the other words."""
    odd = sorted({letter for letter in words if not letter.isascii()})[:2] if rival_words.isascii() else []
    letter_names = " and ".join(unicodedata.name(letter, hex(ord(letter))) for letter in odd)
    return f"{words!r} (with {letter_names})" if letter_names else repr(words)
