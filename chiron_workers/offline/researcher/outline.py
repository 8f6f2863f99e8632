"""How a document is divided: its title, and the headings in it with what stands below each."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from chiron_workers.offline.researcher.words import COMMON_WORDS, words

TITLE_CHARS_MAX = 120
# Of Markdown, and of reStructuredText.
_HEADING = re.compile(
    r"""(?mx)
    ^[ ]{0,3}(?P<hashes>\#{1,6})[ \t]+(?P<marked>\S.*?)[ \t\#]*$
    | ^(?!\.\.\.|>>>)(?P<underlined>\S.*)\n(?P<sign>[=\-~^*+`'":._\#])(?P=sign){2,}[ \t]*$
    """
)
# Of a page that was made of either: the sign is a link to the heading.
_LINKED_HEADING = re.compile(
    r"(?m)^(?:(?P<number>\d{1,3}(?:\.\d{1,3}){0,5})\.?[ \t]+)?(?P<linked>[^\n¶]{1,120}?)[ \t]*¶[ \t]*$"
)
# Of a text without markup: a short line alone that ends as no sentence does.
_BARE_HEADING = re.compile(r"(?:\A|(?<=\n\n))(?P<bare>[A-Z\"'“`][^\n]{1,79}[^\s.!?:;,…—–-])(?=\n\n|\s*\Z)")
_CODE_BLOCK = re.compile(r"(?ms)^[ \t]*(?P<fence>```|~~~).*?^[ \t]*(?P=fence)[^\n]*$")
_MARKUP = re.compile(r"[`*]+|¶")
# What stands before or after the title of a chapter in the title of its page.
_NUMBER = re.compile(r"^\s*(?:(?:chapter|section|part|appendix)\s+)?\d+(?:\.\d+)*[.:)]?\s+", re.IGNORECASE)
_SITE = re.compile(r"\s+(?:[|·•]|[-–—]{1,3})\s+\S.*$")
_SIGNS = re.compile(r"[¶#]+\s*$")
# Headings that name no matter.
_GENERIC = re.compile(
    r"(?:introduction|overview|contents|table of contents|index|summary|abstract|conclusions?|appendix|appendices|notes?"
    r"|footnotes?|references|bibliography|further reading|see also|examples?|change ?log|copyright|license|what now\??"
    r"|glossary|other|acknowledge?ments|about|preface|foreword|home|welcome|readme|untitled)",
    re.IGNORECASE,
)
_BARE_LEVEL, _LEVEL_MAX = 2, 9  # of headings that show no level


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, and the text from there to the next heading of its level or above."""

    title: str
    text: str


def page_title(title: str) -> str:
    """The title of a chapter without its number and the name of its book."""
    return _SIGNS.sub("", _SITE.sub("", _NUMBER.sub("", " ".join(title.split())))).strip()[:TITLE_CHARS_MAX]


def is_telling(title: str) -> bool:
    """Whether a title names a matter: `Introduction` names none."""
    return any(sign.isalpha() for sign in title) and not _GENERIC.fullmatch(title.strip())


def sections(text: str) -> list[Section]:
    """The parts that a document is divided into first, in their order; none where it shows no headings."""
    headings = list(_headings(text))
    levels = sorted({level for level, _, _ in headings})
    if not levels:
        return []
    first_level = levels[0]
    if sum(level == first_level for level, _, _ in headings) == 1:  # it is the document's own title
        first_level = levels[1] if len(levels) > 1 else _LEVEL_MAX + 1
    marks = [heading for heading in headings if heading[0] <= first_level]
    ends = [start for _, _, start in marks[1:]] + [len(text)]
    return [
        Section(title, text[start:end])
        for (level, title, start), end in zip(marks, ends, strict=True)
        if level == first_level and is_telling(title)
    ]


def _headings(text: str) -> Iterator[tuple[int, str, int]]:
    """Level, title and beginning of each heading; signs below a title mean levels in the order they come."""
    links = list(_LINKED_HEADING.finditer(text))
    for match in links:
        level = match["number"].count(".") + 1 if match["number"] else _LEVEL_MAX
        yield level, _plain(match["linked"]), match.start()
    if links:
        return
    marked_headings = list(_marked_headings(text))
    if marked_headings:
        yield from marked_headings
        return
    for match in _BARE_HEADING.finditer(text):
        title = _plain(match["bare"])
        if is_telling(title) and words(title)[-1] not in COMMON_WORDS:
            yield 1 if match.start() == 0 else _BARE_LEVEL, title, match.start()


def _marked_headings(text: str) -> Iterator[tuple[int, str, int]]:
    signs: list[str] = []
    text = _CODE_BLOCK.sub(lambda match: " " * len(match[0]), text)
    for match in _HEADING.finditer(text):
        if match["hashes"]:
            yield len(match["hashes"]), _plain(match["marked"]), match.start()
            continue
        if match["sign"] not in signs:
            signs.append(match["sign"])
        yield signs.index(match["sign"]) + 1, _plain(match["underlined"]), match.start()


def _plain(title: str) -> str:
    return _NUMBER.sub("", " ".join(_MARKUP.sub("", title).split()))[:TITLE_CHARS_MAX].strip()
