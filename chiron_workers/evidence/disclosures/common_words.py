"""Words that everybody uses: the word lists of pyspellchecker, made of subtitles and other plain texts, in six languages."""

import gzip
import re
import threading
import unicodedata
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("en", "de", "es", "fr", "it", "ru")
FREQUENT_WORDS = 20_000  # of each language; of other words those that a text writes as names count as names
CHUNK_CHARS = 50_000  # that are parsed at a time, so that no other thread waits for long
ENTRY = re.compile(r'"([^"]+)": ?(\d+)')
NAMED_LETTER = re.compile(
    r"(?:.* )?(?:LATIN|REGIONAL INDICATOR) .*\b(?:LETTER|SMALL CAPITAL) ([A-Z])(?: WITH .*)?"
)
SHORT_CHARS = 3
YEARS = range(1500, 2101)
ROUND_DIGITS = 2
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class CommonWords:
    """Hashes of words, sorted: a set of strings would take ten times the memory."""

    words: Any
    frequent_words: Any

    def has(self, word: str, *, is_name: bool = False) -> bool:
        """Whether a folded word is common; of a word that is written like a name only if it is frequent too."""
        if word.isdecimal():
            return is_plain_number(word)
        import numpy as np

        hashes = self.frequent_words if is_name else self.words
        place = int(np.searchsorted(hashes, hash(word)))
        return (len(word) <= SHORT_CHARS and word.isascii()) or (
            place < len(hashes) and int(hashes[place]) == hash(word)
        )


def common_words() -> CommonWords:
    """The words, read on first use, which takes a second or two: call it in a thread."""
    with _lock:
        return _read()


def fold(text: str) -> str:
    """A text in small letters without accents, invisible characters and the variants that Unicode has of letters and digits."""
    if text.isascii():
        return text.lower()
    plain_tags = "".join(
        chr(ord(sign) - 0xE0000) if 0xE0020 <= ord(sign) < 0xE007F else sign for sign in text
    )
    return "".join(map(_plain_sign, unicodedata.normalize("NFKD", plain_tags))).casefold()


@lru_cache(maxsize=10_000)
def _plain_sign(sign: str) -> str:
    category = unicodedata.category(sign)
    if category in ("Mn", "Cf"):
        return ""
    if category == "Nd":
        return str(unicodedata.decimal(sign))
    # Small capitals, letters in black circles and squares, those of flags, and struck ones: none is decomposed by Unicode.
    letter = NAMED_LETTER.fullmatch(unicodedata.name(sign, ""))
    return letter[1].lower() if letter else sign


def is_plain_number(digits: str) -> bool:
    """Whether a number says little: of up to three digits, a year, or round."""
    return (
        len(digits) <= SHORT_CHARS
        or (len(digits) == len("2026") and int(digits) in YEARS)
        or len(digits.rstrip("0")) <= ROUND_DIGITS
    )


@lru_cache(maxsize=1)
def _read() -> CommonWords:
    import numpy as np

    hashes, frequent_hashes = zip(*map(_hashes_of, LANGUAGES), strict=True)
    return CommonWords(np.unique(np.concatenate(hashes)), np.unique(np.concatenate(frequent_hashes)))


def _hashes_of(language: str) -> tuple[Any, Any]:
    """The hashes of the words of a language, and of the frequent ones."""
    import numpy as np

    # Parsed as a whole, the JSON of one language would keep the event loop waiting for a quarter of a second.
    text = gzip.decompress(
        (files("spellchecker") / "resources" / f"{language}.json.gz").read_bytes()
    ).decode()
    hashes, counts = array("q"), array("q")
    for start, end in _chunks(text):
        entries = ENTRY.findall(text, start, end)
        hashes.extend([hash(word if word.isascii() else fold(word)) for word, _ in entries])
        counts.extend([int(count) for _, count in entries])
    order = np.argsort(-np.array(counts), kind="stable")
    return np.array(hashes), np.array(hashes)[order[:FREQUENT_WORDS]]


def _chunks(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        end = text.find(",", start + CHUNK_CHARS)
        end = len(text) if end < 0 else end
        yield start, end
        start = end
