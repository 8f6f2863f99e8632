"""The sentences of a fetched text that stand for themselves: prose only, each with its exact place in the text."""

import re
from bisect import bisect
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from chiron_workers.evidence.quotes.sentences import sentence_breaks
from chiron_workers.offline.researcher.words import pairs, terms, words

CHARS_MAX = 400_000  # of one text; what lies beyond is not read
_WORDS_MIN, _WORDS_MAX = 5, 70

_HEADING = re.compile(
    r"""^(?:[ \t]{0,3}\#{1,6}[ \t]+(.*?)[ \t\#]*|[ \t]*(\S.*)\n[ \t]*([=\-~^*+`'":._\#])\3{2,}[ \t]*)$""",
    re.M,
)
_NOT_PROSE = re.compile(
    r"""(?msx)
    \A---\n.*?\n---[ \t]*$                                                    # front matter
    | ^[ \t]*(?P<fence>```|~~~).*?^[ \t]*(?P=fence)[^\n]*$
    | <!--.*?--> | <(?P<tag>pre|script|style)\b.*?</(?P=tag)>
    | (?P<intro>^(?P<indent>[ \t]*+)(?:[^\n]*::|\.\.[ ](?:code|sourcecode|parsed-literal|productionlist|doctest|math
        |raw|table|csv-table)[\w-]*::[^\n]*)$)(?:\n(?:(?P=indent)[ \t]+\S[^\n]*|[ \t]*$))+
    | ^[ \t]*(?:>>>|\.\.\.[ \t]|\$[ \t]|\||\+[-=]|\.\.[ \t]|:[\w -]+:|!\[|</?[A-Za-z][^>\n]*>[ \t]*$)[^\n]*
    | ^[ \t]*(?:[-*+•]|\d{1,3}[.)]|\(?[a-z][.)])[ \t]+                        # the bullet of a list item
    | ^[ \t]*\[(?:\^[^\]\n]{1,40}|\d{1,3}|[a-z*])\]:?[ \t]+                      # the mark of a note
    """
)
_BLOCK = re.compile(r"(?:[^\n]*\S[^\n]*(?:\n|\Z))+")
_NOTE_MARK = re.compile(
    r"(?<=\S)[ ]?\[\^[^\]\n]{1,40}\](?!\()"  # of Markdown
    r"|(?<=\S)[ ]\[(?:\d{1,3}|\#[\w-]{0,20}|\*)\]_"  # of reStructuredText
    r"|(?:(?<=[^\W\d_]{3})|(?<=[.,;:!?\"”%)]))(?:\[(?:\d{1,3}(?:[,–-]\d{1,3})*|[a-z]|note\ \d{1,2})\])+(?![\w(\[])"
)
# Those of the sentence before.
_NOTES_BEFORE = re.compile(r"\A(?:\[(?:\^[^\]\n]{1,40}|\d{1,3}(?:[,–-]\d{1,3})*|[a-z])\]\s*)+")
# How a sentence begins that is not understood without its neighbours.
DEPENDENT_START = re.compile(
    r"(?i)^(?:it|its|this|these|that|those|they|he|she|his|her|their|such|however|but|and|or|so|thus|then|also"
    r"|therefore|otherwise|for example|for instance|in this case|note that|here|see|both|by the way|previously|another"
    r"|of course|as (?:discussed|mentioned|noted|described|shown|seen)|strictly speaking|additional information"
    r"|(?:changed|new|deprecated) (?:in|since)|the (?:same|following|above|latter|former|result|difference))\b"
)
_STOPS = (".", "!", "?", "…", "。", "！", "？")
_FURNITURE = re.compile(
    r"\b(?:cookies?|all rights reserved|subscribe|newsletter|sign (?:in|up)|log ?in|privacy policy|terms of (?:use|service)"
    r"|click here|enable javascript|advertisement|copyright|skip to|table of contents|read more|follow us)\b|©"
    r"| \| |:=|\\\\|\{\{",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: `quote` is an exact slice of the text, `text` the same words on one line without marks of notes."""

    text: str
    quote: str
    heading: str  # the nearest heading above it
    position: int  # how many sentences of the text come before it
    terms: frozenset[str]
    pairs: frozenset[tuple[str, str]]


@lru_cache(maxsize=512)
def sentences(text: str) -> tuple[Sentence, ...]:
    """Every prose sentence of a text, in order; code, tables, headings and page furniture are left out."""
    text = _NOT_PROSE.sub(_blank, text[:CHARS_MAX])
    headings = [(match.start(), match[1] or match[2]) for match in _HEADING.finditer(text)]
    text = _HEADING.sub(_blank, text)
    prose: list[Sentence] = []
    for block in _BLOCK.finditer(text):
        place = bisect(headings, (block.start(), ""))
        heading = headings[place - 1][1] if place else ""
        for first, last in pairwise(sentence_breaks(block[0])):
            quote = _NOTES_BEFORE.sub("", block[0][first:last].strip())
            line = _NOTE_MARK.sub("", " ".join(quote.split()))
            if _stands_alone(line, quote):
                prose.append(Sentence(line, quote, heading, len(prose), frozenset(terms(line)), pairs(line)))
    return tuple(prose)


def _blank(match: re.Match[str]) -> str:
    """Empty lines in place of a match, so that all else keeps its place."""
    intro = match.groupdict().get("intro") or ""
    return intro + "\n" * (len(match[0]) - len(intro))


def _stands_alone(line: str, quote: str) -> bool:
    letters = sum(character.isalpha() or character == " " for character in line)
    first = next((character for character in line if character.isalnum()), "")
    return (
        _WORDS_MIN <= len(words(line)) <= _WORDS_MAX
        and line.rstrip("\"'”’»)]*_`」』").endswith(_STOPS)
        and not line.endswith(("...", "as follows."))
        and (not first.islower() or line[0] in "\"'`“‘«*")  # else it is the rest of a sentence
        and letters >= 0.8 * len(line)
        and not re.search(r"\S {3,}\S", quote)
        and line.count("(") == line.count(")")
        and not line.startswith("(")
        and line.count("**") % 2 == 0
        and not _FURNITURE.search(line)
    )
