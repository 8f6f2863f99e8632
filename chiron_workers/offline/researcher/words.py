"""Words of a text as they are compared: lower case, stemmed, without the words that every sentence has."""

import re
from collections.abc import Iterator
from importlib.resources import files
from itertools import pairwise

from chiron_workers.evidence.statements.stems import stem_of

# Words that nearly every sentence or request has; they carry no topic.
COMMON_WORDS = frozenset(files(__package__).joinpath("common_words.txt").read_text("utf-8").split())

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_QUOTED_WORD = re.compile(r"[\"“`]([^\W_]{1,20})[\"”`]")  # the "for" statement is about `for`
_NO_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # scripts that write words without gaps


def words(text: str) -> list[str]:
    """Every word of a text in lower case; text without spaces between words comes as pairs of characters."""
    return [piece for word in _WORD.findall(text.lower()) for piece in _pieces(word)]


def keywords(text: str) -> list[str]:
    """The words that carry a text's meaning, in order, repetitions kept; what stands in quotation marks does."""
    names = {word.lower() for word in _QUOTED_WORD.findall(text)}
    return [word for word in words(text) if word not in COMMON_WORDS or word in names]


def terms(text: str) -> list[str]:
    """The stems of a text's keywords."""
    return [stem_of(word) for word in keywords(text)]


def pairs(text: str) -> frozenset[tuple[str, str]]:
    """Neighbouring stems, common words among them: what "for loop" has and "for the sake of a loop" has not."""
    neighbours = pairwise(words(text))
    return frozenset((stem_of(a), stem_of(b)) for a, b in neighbours if not {a, b} <= COMMON_WORDS)


def _pieces(word: str) -> Iterator[str]:
    if len(word) > 1 and _NO_SPACES.search(word):
        yield from (a + b for a, b in pairwise(word))
    else:
        yield word.removesuffix("'s").removesuffix("’s")
