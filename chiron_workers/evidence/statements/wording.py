"""Whether a statement has the words of its quote, which says nothing about what stands around the quote."""

from itertools import pairwise

from chiron_workers.evidence.quotes.leading_marks import without_leading_marks
from chiron_workers.evidence.quotes.sentences import sentence_breaks

SENTENCES_MAX = 20  # of a statement or a quote that are compared
SENTENCE_CHARS_MAX = 1_000


def is_verbatim(statement: str, quote: str) -> bool:
    """Whether a statement has the source's own words, sentence by sentence: a note on its wording and no verdict."""
    words = {
        _spelling(sentence)
        for theirs in comparable_sentences(quote)
        for sentence in (theirs, without_leading_marks(theirs))
    }
    sentences = comparable_sentences(statement)
    return bool(sentences) and all(_spelling(sentence) in words for sentence in sentences)


def comparable_sentences(text: str) -> list[str]:
    """The sentences of a text; none of one that is too long to compare."""
    breaks = sentence_breaks(text) if text.strip() else []
    pieces = [text[start:end].strip() for start, end in pairwise(breaks)]
    sentences = [piece for piece in pieces if piece]
    is_comparable = (
        len(sentences) <= SENTENCES_MAX and max(map(len, sentences), default=0) <= SENTENCE_CHARS_MAX
    )
    return sentences if is_comparable else []


def _spelling(sentence: str) -> str:
    return " ".join(sentence.casefold().split()).rstrip(".。")
