"""What of a text the search by words looks up: its words, and of scripts without spaces the pairs of characters."""

import itertools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from chiron_workers.language.detection import detect_language
from chiron_workers.language.scripts import Script, script_of

PAIRS_MAX = 16_000  # a tsvector counts positions up to 16,383
CLUSTER_CHARS_MAX = 8  # of one character with its marks; text may pile up any number of them
RUN_OR_WORD = re.compile(r"\S+")
# 10⁵ is found by 10^5 and not by 105; a lowered digit is written on the line as well: CO₂, CO2.
RAISED_DIGITS = re.compile(r"[⁰¹²³⁴-⁹]+")
DOT_ABOVE = "\u0307"  # what is left of İ in small letters
# Persian parts the pieces of a word by a joiner of no width where others write a space: می‌رود, می رود.
PERSIAN_GAP = re.compile("(?<=[\u0620-\u06ff])\u200c+")
# Letters of the Arabic script that keyboards and languages write in more than one way, as Lucene's normalizers for Arabic and
# Persian fold them, but for the ة that Postgres' stems need.
ARABIC_FORMS = str.maketrans(
    "آأإىیےکہۀۂ", "اااييي" + "كههه", "\u0640\u0654\u0670" + "".join(map(chr, range(0x064B, 0x0653)))
)


class _Characters(dict[int, str]):
    """What becomes of each character: letters and marks stay, digits are plain, format marks go, the rest parts words."""

    def __missing__(self, code_point: int) -> str:
        character = chr(code_point)
        match unicodedata.category(character)[0]:
            case _ if character.isdecimal():
                output = str(unicodedata.decimal(character))
            case "L" | "N" | "M":
                output = "" if character == DOT_ABOVE else character
            case _:
                output = "" if unicodedata.category(character) == "Cf" else " "
        self[code_point] = output
        return output


_CHARACTERS = _Characters()


@dataclass(frozen=True, slots=True)
class Terms:
    """A text as the index takes it.

    `words` are in small letters, parted by spaces, for Postgres to stem; `pairs` are the pairs of neighbouring characters
    of scripts without spaces, and the last character of each run by itself, so that every character begins a term.
    """

    words: str
    pairs: tuple[str, ...]
    language: str | None  # None where the text does not tell


def terms_of_text(text: str) -> Terms:
    """The terms by which a text is found."""
    words, runs = _split(text)
    pairs = tuple(pair for run in runs for pair in (*_pairs(run), run[-1]))
    return Terms(words, pairs[:PAIRS_MAX], detect_language(text))


def terms_of_query(text: str) -> Terms:
    """The terms that a query asks for, its pairs as Postgres reads them; a single character asks for what begins with it."""
    words, runs = _split(text)
    pairs = tuple(
        pair for run in runs for pair in ([f"'{pair}'" for pair in _pairs(run)] or [f"'{run[0]}':*"])
    )
    return Terms(words, pairs, detect_language(text))


def _split(text: str) -> tuple[str, list[list[str]]]:
    """Words with spaces between them, and runs of characters of scripts without spaces."""
    plain = unicodedata.normalize("NFKC", RAISED_DIGITS.sub(r" \g<0>", text)).lower()
    if not plain.isascii():
        plain = PERSIAN_GAP.sub(" ", plain).translate(ARABIC_FORMS)
    plain = plain.translate(_CHARACTERS)
    words: list[str] = []
    runs: list[list[str]] = []
    for word in RUN_OR_WORD.findall(plain):
        if word.isascii():
            words.append(word)
            continue
        for is_unspaced, part in _parts(word):
            if is_unspaced:
                runs.append(_clusters(part))
            else:
                words.append(part)
    return " ".join(words), runs


def _parts(word: str) -> Iterator[tuple[bool, str]]:
    start, is_unspaced = 0, _is_unspaced(word[0])
    for n, character in enumerate(word):
        if unicodedata.category(character)[0] != "M" and _is_unspaced(character) is not is_unspaced:
            yield is_unspaced, word[start:n]
            start, is_unspaced = n, not is_unspaced
    yield is_unspaced, word[start:]


def _is_unspaced(character: str) -> bool:
    return script_of(character) is Script.UNSPACED and unicodedata.category(character)[0] != "N"


def _clusters(run: str) -> list[str]:
    """Characters, each with the marks that stand on it."""
    clusters: list[str] = []
    for character in run:
        if clusters and unicodedata.category(character)[0] == "M":
            clusters[-1] += character if len(clusters[-1]) < CLUSTER_CHARS_MAX else ""
        else:
            clusters.append(character)
    return clusters


def _pairs(run: list[str]) -> list[str]:
    return [first + second for first, second in itertools.pairwise(run)]
