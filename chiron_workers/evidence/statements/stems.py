"""The stem under which a word, its forms, its British spelling and its synonyms are one, and which words are opposite."""

from functools import lru_cache

from chiron_workers.evidence.vocabulary import (
    NO_OPPOSITES,
    OPPOSING_PREFIXES,
    OPPOSITES,
    RELATIVE_OPPOSITES,
    SPELLINGS,
    SYNONYMS,
    words,
)

_ENDINGS = [
    ("ise", "ize"),
    ("ised", "ized"),
    ("ises", "izes"),
    ("ising", "izing"),
    ("yse", "yze"),
    ("ysed", "yzed"),
]
_INFLECTIONS = {"", "s", "es", "ed", "d", "ing", "e", "y", "ies", "ied", "'"}
OPPOSITE_CHARS_MIN = 5  # shorter words begin by chance like an opposite: form, inform


def opposites(one: str, other: str) -> bool:
    """Whether two words, as written, deny each other: increase and decrease, legal and illegal."""
    return frozenset((stem_of(one), stem_of(other))) in _opposite_stems() or are_prefixed(one, other)


def are_prefixed(one: str, other: str) -> bool:
    """Whether one word is the other behind a prefix that denies it: legal and illegal."""
    short, long = sorted((one, other), key=len)
    if (short, long) in NO_OPPOSITES or len(short) < OPPOSITE_CHARS_MIN:
        return False
    return any(long == prefix + short for prefix in OPPOSING_PREFIXES)


def are_relative(one: str, other: str) -> bool:
    """Whether two opposites say the same once their sides are changed: A is larger than B, B is smaller than A."""
    return frozenset((stem_of(one), stem_of(other))) in _relative_stems()


@lru_cache(maxsize=50_000)
def stem_of(word: str) -> str:
    """The stem under which a word, its other forms, its other spellings and its synonyms are one."""
    stem = _stemmed(_american(word))
    return _synonyms().get(stem, stem)


def is_one_word(one: str, other: str) -> bool:
    """Whether two words of one stem are forms or synonyms of each other, unlike universe and university."""
    one, other = _american(one), _american(other)
    if _stemmed(one) != _stemmed(other):
        return True  # synonyms, or two names of one
    from rapidfuzz.distance import Prefix

    shared = Prefix.similarity(one, other)
    return {one[shared:], other[shared:]} <= _INFLECTIONS


def _american(word: str) -> str:
    for british, american in SPELLINGS:
        word = word.replace(british, american)
    for british, american in _ENDINGS:
        if word.endswith(british) and len(word) > len(british) + 3:
            word = word.removesuffix(british) + american
    return word


def _stemmed(word: str) -> str:
    from snowballstemmer.english_stemmer import EnglishStemmer  # brings all languages, and is slow to import

    return str(EnglishStemmer().stemWord(word))  # one for each word: it keeps the word in itself


@lru_cache(maxsize=8)
def stems(section: str) -> frozenset[str]:
    """The stems of the words of a section of the vocabulary."""
    return frozenset(map(stem_of, words(section)))


@lru_cache(maxsize=1)
def _synonyms() -> dict[str, str]:
    found: dict[str, str] = {}
    for first, *others in SYNONYMS:
        found |= {_stemmed(word): _stemmed(first) for word in (first, *others)}
    return found


@lru_cache(maxsize=1)
def _opposite_stems() -> frozenset[frozenset[str]]:
    return (
        frozenset(frozenset((stem_of(one), stem_of(other))) for one, other in OPPOSITES) | _relative_stems()
    )


@lru_cache(maxsize=1)
def _relative_stems() -> frozenset[frozenset[str]]:
    return frozenset(frozenset((stem_of(one), stem_of(other))) for one, other in RELATIVE_OPPOSITES)
