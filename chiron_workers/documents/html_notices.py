"""Notices of a page: that it was retracted, is out of date, is paid for, is satire. They change what the page says.

The search for the main text takes banners, asides and footers for decoration. A notice is recognised by its words or by its
element's name, and stays in the text: in its place within the main text, else at the beginning or the end.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from chiron_workers.documents.document import Block, one_line
from chiron_workers.documents.html_images import BLOCKS, TEXT_BLOCKS
from chiron_workers.evidence.quotes.notice_words import NOTICE

NOTICE_CHARS_MAX = 400
CANDIDATES_MAX = 1_000  # of a page
LEVELS_MAX = 10  # from the words of a notice up to its outermost element
ANCESTORS_MAX = 40  # of an element, which are looked at
ELEMENTS_MAX = 400  # in a notice
NAME_CHARS_MAX = 300  # of an element's class, id and role
NOTICES_MAX = 12  # of a page, beside those in its main text
PROSE_CHARS_MIN = 120  # of a paragraph with which the text of a page has begun
AROUND = {
    "a", "aside", "b", "center", "details", "div", "em", "figure", "font", "footer", "header", "i", "p", "section", "small",
    "span", "strong",
}  # fmt: skip
OUTER = {"html", "body", "main", "article"}
HEADINGS = ("h1", "h2", "h3")
APART = {"nav", "form", "head", "script", "style", "select", "button", "template"}
NAMES = re.compile(
    r"(?<![a-z])(?:notices?|alerts?|warnings?|caution|admonition|callout|ambox|hatnote|banner|retract\w*|errat\w*|corrections?"
    r"|corrected|deprecat\w*|obsolete|outdated|supersed\w*|archived|draft|sponsor\w*|advertorial|paid-?(?:content|post)|disclaimer"
    r"|satire|withdrawn|last-?(?:mod|updat|review)\w*)(?![a-z])",
    re.IGNORECASE,
)
TITLES = "//title/text() | //meta[@property='og:site_name']/@content"
ROLES = {"alert", "note", "status"}
OTHERS = re.compile(
    r"cookie|consent|gdpr|privacy|newsletter|subscri|sign[ -]?(?:in|up)\b|log[ -]?in\b|register|captcha|javascript|browser"
    r"|ad-?block|breadcrumb|download the app|donat",
    re.IGNORECASE,
)


# They tell of other pages.
ELSEWHERE = re.compile(
    r"related|sidebar|recommend|trending|most-|teaser|\bcards?\b|\bcomments?\b|menu|\bnav|breadcrumb|promo",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Notice:
    """The words of a notice, and whether they stand before the text of its page."""

    text: str
    is_before: bool


def keep_notices(tree: Any) -> list[Notice]:
    """Make the notices of a page plain paragraphs, which a search for the main text does not take out; in their order."""
    candidates = islice(_signed(tree), CANDIDATES_MAX)
    blocks = dict.fromkeys(block for block in map(_block_around, candidates) if block is not None)
    before = _before_text(tree)
    notices = [
        Notice(one_line(words), is_before=True) for words in tree.xpath(TITLES) if NOTICE.search(words)
    ]
    for block in blocks:
        words = one_line(" ".join(block.itertext()))
        is_inner = any(ancestor in blocks for ancestor in islice(block.iterancestors(), ANCESTORS_MAX))
        if not is_inner and not OTHERS.search(words) and next(block.iter("form"), None) is None:
            notices.append(Notice(words, block in before))
            _make_plain(block)
    return notices


def with_notices(blocks: Iterable[Block], notices: Sequence[Notice]) -> list[Block]:
    """The blocks of a page with those of its notices that are not among them: in front or behind."""
    content = list(blocks)
    text = " ".join(one_line(block.text) for block in content) if notices else ""
    missing = [notice for notice in notices if notice.text not in text][:NOTICES_MAX]
    return [
        *(Block(notice.text) for notice in missing if notice.is_before),
        *content,
        *(Block(notice.text) for notice in missing if not notice.is_before),
    ]


def _signed(tree: Any) -> Iterable[Any]:
    """The elements that say or are named so, in the order of the page; none in what tells of other pages."""
    from lxml.etree import iterwalk  # type: ignore[import-untyped]

    walk = iterwalk(tree, events=("start",))
    for _, element in walk:
        if element.tag in OUTER:
            continue
        names = _names(element)
        if element.tag in APART or (names and ELSEWHERE.search(names)):
            walk.skip_subtree()  # One look at an element serves for all that is in it.
            continue
        is_named = bool(names) and (NAMES.search(names) or element.get("role") in ROLES)
        own_words = (element.text, *(child.tail for child in element))
        says_so = any(
            words and len(words) <= NOTICE_CHARS_MAX and not words.isspace() and NOTICE.search(words)
            for words in own_words
        )
        is_linked = says_so and any(ancestor.tag == "a" for ancestor in _and_around(element))
        if (is_named and not OTHERS.search(names)) or (says_so and not is_linked):
            yield element


def _and_around(element: Any) -> Iterator[Any]:
    """An element and those that it stands in."""
    yield element
    yield from islice(element.iterancestors(), ANCESTORS_MAX)


def _names(element: Any) -> str:
    names = (element.get(name, "")[:NAME_CHARS_MAX] for name in ("class", "id", "role"))
    return " ".join(filter(None, names))


def _block_around(element: Any) -> Any | None:
    """The largest element around one that says no more than a notice does; None where that is too much."""
    block = None
    for outer in islice(_and_around(element), LEVELS_MAX):
        is_around = block is None or outer.tag in AROUND
        if outer.tag in OUTER or not is_around or not _is_short(outer):
            break
        if block is not None and next(outer.iter(*HEADINGS, "table"), None) is not None:
            break
        block = outer
    return block


def _is_short(element: Any) -> bool:
    if next(islice(element.iter(), ELEMENTS_MAX, None), None) is not None:
        return False
    chars = 0
    for words in element.itertext():
        chars += len(words.strip())
        if chars > NOTICE_CHARS_MAX:
            return False
    return chars > 0


def _before_text(tree: Any) -> set[Any]:
    """The elements before the first paragraph of prose, and before the first heading."""
    elements = set[Any]()
    for element in tree.iter():
        elements.add(element)
        if element.tag in TEXT_BLOCKS and len("".join(element.itertext()).strip()) >= PROSE_CHARS_MIN:
            break
    return elements


def _make_plain(element: Any) -> None:
    element.attrib.clear()
    if element.tag in ("td", "th", "tr", "tbody", "li", "dt", "dd") or element.tag.startswith("h"):
        return
    has_blocks = any(
        child.tag in BLOCKS | TEXT_BLOCKS | {"table", "tr"} for child in element.iterdescendants()
    )
    element.tag = "div" if has_blocks else "p"
