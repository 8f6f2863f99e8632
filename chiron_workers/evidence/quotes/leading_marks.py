"""Marks before a sentence that are none of its words: a bullet, a list's number, the mark of a note."""

import re

from chiron_workers.evidence.vocabulary import ENGLISH, FOREIGN

MARKS_MAX = 3  # before one sentence: "• (a) [1] ..."
_QUOTED = "[\"“„«'‘]?"
# A word follows, no figure and no symbol: "- 5 °C", "- x" and "¹⁴ C" lose nothing.
_WORD = rf"(?={_QUOTED}(?:[^\W\d_]{{2}}|[AIÀÉ]\s))"
# "[12] million" has the words of an editor.
_CAPITAL = rf"(?={_QUOTED}[^\W\d_a-zß-öø-ÿа-я])"
_LIST_NUMBER = r"\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})\)"
_MARK = re.compile(
    rf"(?:[•‣◦▪●○∙·*–—-]\s+|[*†‡]{{1,2}}\s?|[¹²³⁴-⁹⁰]{{1,3}}\s+)(?:{_WORD}|(?=\[\d|\())"
    rf"|(?:\[\d{{1,3}}\]\s*|{_LIST_NUMBER}\s+){_CAPITAL}{_WORD}"
    r"|\d{1,3}、\s*(?=[^\W\d_])"
)
# In other languages this is an ordinal as well (4. Dezember), in English only within names (1. FC Köln, 2. Bundesliga).
_ENGLISH_WORDS = ENGLISH - {"a", "an", "be", "for", "have", "in", "on", "to", "was"}  # which others have too
_LEAGUE = r"(?!\w*liga\b|\w*division\b|\w*weltkrieg\b|(?-i:[FSTV]\w{0,2}[A-Z]\b))"
_ENGLISH_MARK = re.compile(rf"\d{{1,3}}(?:\.\d{{1,2}}){{0,3}}\.\s+(?i:{_LEAGUE}){_CAPITAL}{_WORD}")
_ITEM = re.compile(rf"(?:[•‣◦▪●○∙·*+–—-]|\d{{1,3}}\.|{_LIST_NUMBER})\s|\d{{1,3}}、")


def without_leading_marks(sentence: str) -> str:
    """A sentence without the marks that stand before its first word; as it is where they may belong to it."""
    words, is_english = sentence, _is_english(sentence)
    for _ in range(MARKS_MAX):
        mark = _MARK.match(words) or (_ENGLISH_MARK.match(words) if is_english else None)
        if mark is None:
            break
        words = words[mark.end() :]
    return words


def _is_english(sentence: str) -> bool:
    words = set(sentence.casefold().split())
    return not words.isdisjoint(_ENGLISH_WORDS) and words.isdisjoint(FOREIGN)


def begins_item(line: str) -> bool:
    """Whether a line begins like an item of a list."""
    return bool(_ITEM.match(line))
