"""The blocks of a small page, where the words around its main text are too few to tell it by."""

from copy import deepcopy
from typing import Any

from chiron_workers.documents.document import Block
from chiron_workers.documents.html_blocks import tree_blocks

SMALL_CHARS_MAX = 2_000
# Of less main text trafilatura gives the bare words of the page, without headings and tables.
MAIN_CHARS_MIN = 250
OUTSIDE = (
    "//nav | //aside | //footer | //form | //button | //select | //script | //style | //noscript | //svg | //iframe"
    " | //object | //textarea | //*[@aria-hidden='true'] | //*[@role='navigation'] | //head | //comment()"
    " | //processing-instruction() | //*[contains(@class, 'cookie') or contains(@id, 'cookie')]"
)


def page_blocks(tree: Any, main: Any) -> list[Block]:
    """The blocks of a page's main text, as trafilatura found it; of a small page, all but its navigation.

    `main` is None where it found none; then all of the page but its navigation counts, however long.
    """
    main_text = "" if main is None else "".join(main.itertext())
    if len(main_text.strip()) >= MAIN_CHARS_MIN and not _is_bare(main):
        return list(tree_blocks(main))
    whole = list(tree_blocks(_without_navigation(tree)))
    if main is None or len(main_text) / 10 < _chars(whole) <= SMALL_CHARS_MAX:
        return whole
    return list(tree_blocks(main))


def _is_bare(main: Any) -> bool:
    """Whether it has nothing but paragraphs, and lines in them for what were blocks of the page."""
    return all(element.tag == "p" and not len(element) for element in main) and any(
        "\n" in (element.text or "") for element in main
    )


def _chars(blocks: list[Block]) -> int:
    return sum(len(block.text) for block in blocks)


def _without_navigation(tree: Any) -> Any:
    page = deepcopy(tree)
    for element in page.xpath(OUTSIDE):
        _remove(element)
    for element in list(page.iter("ul", "ol")):
        if _is_of_links(element):
            _remove(element)
    return page


def _is_of_links(items: Any) -> bool:
    """Whether all words of a list are links, but for the numbers of its items."""
    words = "".join("".join(items.itertext()).split())
    links = "".join("".join(text.split()) for link in items.iter("a") for text in link.itertext())
    return bool(links) and len(words) - len(links) <= 3 * len(items)


def _remove(element: Any) -> None:
    """Take an element out of its tree, but not the words behind it."""
    parent, previous = element.getparent(), element.getprevious()
    if parent is None:
        return
    if previous is None:
        parent.text = (parent.text or "") + (element.tail or "")
    else:
        previous.tail = (previous.tail or "") + (element.tail or "")
    element.tail = None
    parent.remove(element)
