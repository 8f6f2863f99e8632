"""The sentences of a fetched text that stand for themselves: prose only, each with its exact place in the text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from chiron_workers.evidence.quotes.sentences import sentence_breaks
from chiron_workers.offline.researcher.words import pairs, terms, words

CHARS_MAX = 400_000  # of one text; what lies beyond is not read
_WORDS_MIN, _WORDS_MAX = 5, 70

_FENCE = re.compile(
    r"^[ \t]*(```|~~~).*?^[ \t]*\1[^\n]*$|<!--.*?-->|<(pre|script|style)\b.*?</\2>", re.S | re.M
)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---[ \t]*$", re.S | re.M)
_BLOCK = re.compile(r"(?:[^\n]*\S[^\n]*(?:\n|\Z))+")
_LITERAL = re.compile(
    r"[ \t]*\.\. (?:code|code-block|sourcecode|parsed-literal|productionlist|doctest|math|raw|table|csv-table)::"
)
_UNDERLINE = re.compile(r"^[ \t]*([=\-~^*#+`'\":._])\1{2,}[ \t]*$")
_MARKDOWN_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(.*?)[ \t#]*$")
_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)]|\(?[a-z][.)])[ \t]+", re.M)
_NOT_PROSE_LINE = re.compile(r"^[ \t]*(?:>>>|\.\.\.[ \t]|\$[ \t]|\||\+[-=]|\.\.[ \t]|:[\w -]+:|!\[)")
_TAG_LINE = re.compile(r"[ \t]*</?[A-Za-z][^>]*>[ \t]*$")
_STOPS = (".", "!", "?", "…", "。", "！", "？")
_BOILERPLATE = re.compile(
    r"\b(?:cookies?|all rights reserved|subscribe|newsletter|sign (?:in|up)|log ?in|privacy policy|terms of (?:use|service)"
    r"|click here|enable javascript|advertisement|copyright|skip to|table of contents|read more|follow us)\b|©",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: `quote` is an exact slice of the text, `text` the same words on one line."""

    text: str
    quote: str
    heading: str  # the nearest heading above it
    position: int  # how many sentences of the text come before it
    terms: frozenset[str]
    pairs: frozenset[tuple[str, str]]


@lru_cache(maxsize=512)
def sentences(text: str) -> tuple[Sentence, ...]:
    """Every prose sentence of a text, in order; code, tables, headings and page furniture are left out."""
    text = text[:CHARS_MAX]
    prose: list[Sentence] = []
    for heading, start, end in _prose_blocks(text):
        for first, last in pairwise(sentence_breaks(text[start:end])):
            quote = text[start + first : start + last].strip()
            line = " ".join(quote.split())
            if _stands_alone(line, quote):
                prose.append(Sentence(line, quote, heading, len(prose), frozenset(terms(line)), pairs(line)))
    return tuple(prose)


def _prose_blocks(text: str) -> Iterator[tuple[str, int, int]]:
    """(heading, start, end) of each paragraph and list item."""
    code_spans = [match.span() for pattern in (_FENCE, _FRONT_MATTER) for match in pattern.finditer(text)]
    heading, literal_indent = "", None
    for block in _BLOCK.finditer(text):
        start, end = block.span()
        if any(first < end and start < last for first, last in code_spans):
            continue
        indent = len(block[0]) - len(block[0].lstrip(" \t"))
        if literal_indent is not None and indent > literal_indent:
            continue
        is_literal = block[0].rstrip().endswith("::") or _LITERAL.match(block[0])
        literal_indent = indent if is_literal else None
        block_heading, heading_chars = _heading(block[0])
        heading = block_heading or heading
        yield from ((heading, first, last) for first, last in _items(text, start + heading_chars, end))


def _heading(block: str) -> tuple[str, int]:
    """The heading that opens a block, and how many characters of the block it takes."""
    lines = block.splitlines(keepends=True)
    if markdown := _MARKDOWN_HEADING.match(lines[0].rstrip("\n")):
        return markdown[1], len(lines[0])
    for title in (0, 1):
        is_framed = title == 0 or _UNDERLINE.match(lines[0].rstrip("\n"))
        if is_framed and len(lines) > title + 1 and _UNDERLINE.match(lines[title + 1].rstrip("\n")):
            return lines[title].strip(), sum(len(line) for line in lines[: title + 2])
    return "", 0


def _items(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A block, or each list item in it without its bullet; blocks with code or table lines give nothing."""
    lines = [span for span in _lines(text, start, end) if not _TAG_LINE.match(text[slice(*span)])]
    prose = [span for span in lines if not _NOT_PROSE_LINE.match(text[slice(*span)])]
    if len(prose) * 2 < len(lines) or not prose:
        return
    for first, last in _joined(prose):
        yield from _without_bullets(text, first, last)


def _without_bullets(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Each list item without its bullet, or the whole where there is none."""
    bullets = list(_ITEM.finditer(text, start, end))
    edges = [start, *(bullet.start() for bullet in bullets), end]
    texts = {bullet.start(): bullet.end() for bullet in bullets}
    yield from ((texts.get(first, first), last) for first, last in pairwise(edges))


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop + 1
        yield start, stop
        start = stop


def _joined(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Neighbouring lines joined again."""
    begin, stop = spans[0]
    for first, last in spans[1:]:
        if first != stop:
            yield begin, stop
            begin = first
        stop = last
    yield begin, stop


def _stands_alone(line: str, quote: str) -> bool:
    count = len(words(line))
    letters = sum(character.isalpha() or character == " " for character in line)
    return (
        _WORDS_MIN <= count <= _WORDS_MAX
        and line.rstrip("\"'”’»)]*_`」』").endswith(_STOPS)
        and not line.endswith(("...", "as follows."))
        and _begins_as_sentence(line)
        and letters >= 0.8 * len(line)
        and not any(mark in line for mark in (" | ", ":=", "\\\\", "{{"))
        and not re.search(r"\S {3,}\S", quote)
        and line.count("(") == line.count(")")
        and not _BOILERPLATE.search(line)
    )


def _begins_as_sentence(line: str) -> bool:
    """A sentence starts with a capital, a digit or something quoted; scripts without case start as they like."""
    first = next((character for character in line if character.isalnum()), "")
    return not first.islower() or line[0] in "\"'`“‘«*"
