"""The stem under which a word, its forms, its British spelling and its synonyms are one, and which words are opposite."""

from functools import lru_cache

from chiron_workers.evidence.vocabulary import OPPOSING_PREFIXES, OPPOSITES, SPELLINGS, SYNONYMS

_ENDINGS = (("ise", "ize"), ("ised", "ized"), ("ises", "izes"), ("ising", "izing"))
OPPOSITE_CHARS_MIN = 5  # shorter words begin by chance like an opposite: form, inform


def are_opposites(word: str, rival: str) -> bool:
    """Whether two words, as written, are a pair of opposites of the vocabulary: before and after."""
    return frozenset((stem_of(word), stem_of(rival))) in _opposite_stems()


def negates_by_prefix(word: str, rival: str) -> bool:
    """Whether one word is the other behind a prefix that denies it: legal and illegal."""
    short, long = sorted((word, rival), key=len)
    return len(short) >= OPPOSITE_CHARS_MIN and any(long == prefix + short for prefix in OPPOSING_PREFIXES)


@lru_cache(maxsize=50_000)
def stem_of(word: str) -> str:
    """The stem under which a word, its other forms, its other spellings and its synonyms are one."""
    stem = _stemmed(_american(word))
    return _synonyms().get(stem, stem)


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


@lru_cache(maxsize=1)
def _synonyms() -> dict[str, str]:
    return {_stemmed(word): _stemmed(line[0]) for line in SYNONYMS for word in line}


@lru_cache(maxsize=1)
def _opposite_stems() -> frozenset[frozenset[str]]:
    return frozenset(frozenset(map(stem_of, pair)) for pair in OPPOSITES)
