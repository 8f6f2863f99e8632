"""The authors that the head of a page, its data or its marked names state; words of the text are not searched."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from chiron_workers.documents.authors import NAMES_MAX, author_names, names_in, unique_names
from chiron_workers.documents.json_ld import is_work, things_of

METAS_MAX = 3_000  # a physics paper has an element for each of its authors
CHARS_MAX = 2_000
# An element for each author, of pages of publications and libraries; then lines that may name several.
NAME_METAS = (
    "citation_author",
    "bepress_citation_author",
    "dc.creator",
    "dc.creator.personalname",
    "dcterms.creator",
    "eprints.creators_name",
)
LINE_METAS = (
    "citation_authors",
    "author",
    "article:author",
    "parsely-author",
    "sailthru.author",
    "byl",
    "authors",
)
AUTHOR_ELEMENTS = (
    "//*[@itemprop='author' and not(.//*[@itemprop='name']) and not(ancestor::*[contains(@class, 'comment')])]"
    " | //*[@itemprop='author']//*[@itemprop='name' and not(ancestor::*[contains(@class, 'comment')])]"
    " | //a[contains(concat(' ', @rel, ' '), ' author ')]"
)
ELEMENTS_MAX = 100
ACCOUNTS = frozenset(
    {"admin", "administrator", "root", "webmaster", "user", "guest", "author", "unknown", "anonymous"}
)


def page_authors(tree: Any) -> tuple[str, ...]:
    """The authors that a page states, by the first of its metadata that names any; empty where trafilatura may look on."""
    metas = _metas(tree)
    for name in NAME_METAS:
        if names := unique_names(chain.from_iterable(words.split(";") for words in metas.get(name, ()))):
            return names
    if names := unique_names(chain.from_iterable(_json_ld_authors(tree))):
        return names
    for name in LINE_METAS:
        if names := _without_accounts(unique_names(chain.from_iterable(map(names_in, metas.get(name, ()))))):
            return names
    marked_texts = (
        element.get("content") or element.text_content()
        for element in tree.xpath(AUTHOR_ELEMENTS)[:ELEMENTS_MAX]
    )
    return unique_names(chain.from_iterable(names_in(text[:CHARS_MAX]) for text in marked_texts))


def found_authors(line: str, source: str) -> tuple[str, ...]:
    """The authors that trafilatura has found in a page, where that parted them at commas.

    Args:
        line: Its names, parted by semicolons, and perhaps in other letters than the page's.
        source: The page as it came.
    """
    names = [name.strip() for name in line.split(";") if name.strip()][:ELEMENTS_MAX]
    if len(names) > 1 and (match := re.search(r"\s*,\s*".join(map(re.escape, names)), source, re.IGNORECASE)):
        return names_in(match[0])
    return _without_accounts(unique_names(names))


def _without_accounts(names: Iterable[str]) -> tuple[str, ...]:
    """Names without those of a server's accounts, which say nothing of persons."""
    return tuple(name for name in names if name.casefold() not in ACCOUNTS)


def _metas(tree: Any) -> dict[str, list[str]]:
    """The contents of each name of the head, by the name in small letters."""
    contents: dict[str, list[str]] = {}
    for element in islice(tree.iter("meta"), METAS_MAX):
        name = (element.get("name") or element.get("property") or "").strip().lower()
        content = (element.get("content") or "")[:CHARS_MAX]
        if name and content.strip() and len(contents.setdefault(name, [])) < NAMES_MAX:
            contents[name].append(content)
    return contents


def _json_ld_authors(tree: Any) -> Iterator[tuple[str, ...]]:
    # Questions and comments of others stand beside the work, and a picture's author did not write it.
    for thing in filter(is_work, things_of(tree)):
        if names := author_names(thing.get("author") or thing.get("creator")):
            yield names
            return
