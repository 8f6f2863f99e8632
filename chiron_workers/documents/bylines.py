"""The authors that the head of a page, its data or its marked names state; words of the text are not searched."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from chiron_workers.documents.authors import NAMES_MAX, author_names, names_in, unique_names
from chiron_workers.documents.json_ld import things_of

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


def page_authors(tree: Any) -> tuple[str, ...]:
    """The authors that a page states, by the first of its metadata that names any; empty where trafilatura may look on."""
    metas = _metas(tree)
    for name in NAME_METAS:
        if names := unique_names(chain.from_iterable(words.split(";") for words in metas.get(name, ()))):
            return names
    if names := unique_names(chain.from_iterable(_json_ld_authors(tree))):
        return names
    for name in LINE_METAS:
        if names := unique_names(chain.from_iterable(map(names_in, metas.get(name, ())))):
            return names
    marked_texts = (
        element.get("content") or element.text_content()
        for element in tree.xpath(AUTHOR_ELEMENTS)[:ELEMENTS_MAX]
    )
    return unique_names(chain.from_iterable(names_in(text[:CHARS_MAX]) for text in marked_texts))


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
    for thing in things_of(tree):
        # Questions and comments of others stand beside the work, and a picture's author did not write it.
        if names := author_names(thing.get("author") or thing.get("creator")) if _is_work(thing) else ():
            yield names
            return


def _is_work(thing: dict[str, Any]) -> bool:
    kinds = str(thing.get("@type"))
    return not any(
        word in kinds for word in ("Image", "Comment", "Answer", "WebSite", "Video", "Audio", "Review")
    )
