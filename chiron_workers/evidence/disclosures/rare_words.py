"""Which words of a text say what hardly another text says: names, numbers, rare words."""

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from chiron_workers.evidence.disclosures.common_words import CommonWords, fold

# A word, or several that signs join without a space: a number with its commas, an address, a date, a serial number.
COMPOUND = re.compile(r"[^\W_]+(?:(?:[-_.@/:+'’]|(?<=\d),(?=\d))[^\W_]+)*")
WORD = re.compile(r"[^\W_]+")
COMPOUND_CHARS_MIN = 5
PORTION = re.compile(r".{1,20000}(?!\S)|.{1,20000}", re.DOTALL)  # ends with a word, if it is not a long one
WORD_CHARS_MAX = 100
SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "æ": "ae", "œ": "oe"})


def rare_words(text: str, common: CommonWords) -> dict[str, str]:
    """The rare words of a text: each folded, with how it is written there.

    Rare is a word that is not among the common ones, a number that is not plain, and what signs join to something with
    digits. A word that the text never begins with a small letter is taken for a name, which is common only if frequent.
    """
    spellings: dict[str, str] = {}
    lower_words: set[str] = set()
    compounds: dict[str, str] = {}
    for match in (match for portion in _portions(text) for match in COMPOUND.finditer(portion)):
        parts = WORD.findall(match[0])
        for part in parts:
            word = fold(part[:WORD_CHARS_MAX])[:WORD_CHARS_MAX]
            spellings.setdefault(word, part[:WORD_CHARS_MAX])
            if part[0].islower():
                lower_words.add(word)
        if len(parts) > 1 and (any(sign.isdecimal() for sign in match[0]) or "@" in match[0]):
            whole = "".join(fold(part) for part in parts)[:WORD_CHARS_MAX]
            if len(whole) >= COMPOUND_CHARS_MIN:
                compounds.setdefault(whole, match[0][:WORD_CHARS_MAX])
    rare = {
        word: spelling
        for word, spelling in spellings.items()
        if not common.has(word, is_name=spelling[0].isupper() and word not in lower_words)
    }
    spelled_out = {_spell_out(spelling): spelling for spelling in rare.values() if not spelling.isascii()}
    return (
        {word: spelling for word, spelling in compounds.items() if not common.has(word)} | spelled_out | rare
    )


def words_of(text: str) -> list[str]:
    """The words of a text, folded, in order."""
    # Folded first: letters in circles, those of flags and tags are no letters for a pattern.
    return [word[:WORD_CHARS_MAX] for portion in _portions(text) for word in WORD.findall(fold(portion))]


def all_words(text: str) -> set[str]:
    """The words of a text, folded, with those that signs join, in one and in parts, and with umlauts spelled out."""
    words: set[str] = set()
    for portion in _portions(text):
        words.update(WORD.findall(fold(portion)))
        for match in COMPOUND.finditer(portion):
            words.add("".join(map(fold, WORD.findall(match[0][:WORD_CHARS_MAX]))))
        if not portion.isascii():
            words.update(map(_spell_out, WORD.findall(portion)))
    return {word[:WORD_CHARS_MAX] for word in words}


def _portions(text: str) -> Iterator[str]:
    """The text in parts of whole words: no other thread waits for long while one is looked through."""
    return (match[0] for match in PORTION.finditer(text))


def _spell_out(word: str) -> str:
    """A word folded as those write it who have no umlauts: "ae" for "ä"."""
    return fold(unicodedata.normalize("NFC", word[:WORD_CHARS_MAX]).lower().translate(SPELLED_OUT))[
        :WORD_CHARS_MAX
    ]


def plain_text(result: str) -> str:
    """The words in a tool's result: those of its strings and numbers where it is JSON, else as it is."""
    try:
        data = json.loads(result)
    except (ValueError, RecursionError):
        return result.replace("\\n", " ").replace("\\t", " ").replace('\\"', '"')
    return "\n".join(_leaves(data))


def _leaves(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield str(key)
            yield from _leaves(value)
    elif isinstance(data, list):
        for value in data:
            yield from _leaves(value)
    elif data is not None and not isinstance(data, bool):
        yield str(data)
