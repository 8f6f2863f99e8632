"""The blocks of a page's main text; of a small page, where trafilatura gives bare words, those of the page itself."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

from chiron_workers.documents.document import Block
from chiron_workers.documents.html_blocks import tree_blocks

# Of less main text trafilatura gives the bare words of the page, without headings and tables.
MAIN_CHARS_MIN = 250
BARE_CHARS_MAX = 20_000
SMALL_CHARS_MAX = 2_000  # of the page, around bare words that are fewer
WORDS_SHARE_MIN = 0.9  # of the bare words, that stand in the page and not in its data
# How many letters each part of the page must have, as a share of those of the bare words, which hold buttons and footers too.
WIDENED_SHARE_MAX = 1.5
PARTS = {"//article[not(ancestor::article)]": 0.9, "//main": 0.9, "/*": 0.1}
LISTS = ("ul", "ol")
MARK_CHARS_MAX = 3  # of a list item
OUTSIDE = (
    "//nav | //aside | //footer | //form[not(.//p | .//table | .//h1 | .//h2)] | //head | //*[@role='navigation']"
    " | //*[contains(@class, 'cookie') or contains(@id, 'cookie')] | //*[@aria-hidden='true']"
    " | //button | //select | //textarea | //script | //style | //noscript | //svg | //iframe | //object"
)


def page_blocks(tree: Any, main: Any) -> Iterable[Block]:
    """The blocks of a page's main text, as trafilatura found it; of a small page, all but its navigation.

    Args:
        tree: The page; its navigation is taken out of it.
        main: The body that trafilatura made. None where it found no text; then all of the page but its navigation counts.
    """
    if main is None:
        _take_out_navigation(tree)
        return tree_blocks(tree)
    if not _is_bare(tree, main) or not _is_of_page(tree, main):
        return tree_blocks(main)
    _take_out_navigation(tree)
    letters = _letters(main.itertext())
    for path, share_min in PARTS.items():
        letters_max = SMALL_CHARS_MAX if letters < MAIN_CHARS_MIN else letters * WIDENED_SHARE_MAX
        blocks = _blocks_up_to(tree.xpath(path), letters_max)
        size = _letters(block.text for block in blocks)
        if letters * share_min <= size <= letters_max:
            return blocks
    return tree_blocks(main)


def _is_bare(tree: Any, main: Any) -> bool:
    """Whether the main text is what trafilatura falls back to: paragraphs alone, of what may have been any block."""
    import trafilatura

    size = len("".join(main.itertext()).strip())
    if size < MAIN_CHARS_MIN:
        return True
    if size > BARE_CHARS_MAX or any(element.tag != "p" or len(element) for element in main):
        return False
    bare, *_ = trafilatura.baseline(tree)
    return [paragraph.text for paragraph in bare] == [paragraph.text for paragraph in main]


def _is_of_page(tree: Any, main: Any) -> bool:
    """Whether the words of the main text are shown on the page; else they come from data that it carries."""
    words = set(" ".join(main.itertext()).split())
    shown_words = set(" ".join(tree.xpath("//text()[not(parent::script)]")).split())
    return len(words & shown_words) >= WORDS_SHARE_MIN * len(words)


def _blocks_up_to(parts: Iterable[Any], letters_max: float) -> list[Block]:
    """The blocks of all parts; no more of them than it takes to see that there are more letters than these."""
    blocks, letters = list[Block](), 0
    for block in chain.from_iterable(map(tree_blocks, parts)):
        blocks.append(block)
        letters += _letters([block.text])
        if letters > letters_max:
            break
    return blocks


def _letters(texts: Iterable[str]) -> int:
    return sum(len("".join(text.split())) for text in texts)


def _take_out_navigation(tree: Any) -> None:
    for element in (*tree.xpath(OUTSIDE), *_lists_of_links(tree)):
        element.clear(keep_tail=True)


def _lists_of_links(tree: Any) -> list[Any]:
    """The lists whose words are links, but for the numbers of their items."""
    from lxml import etree  # type: ignore[import-untyped]

    lists = list[Any]()
    # Letters so far, those of links among them, and in how many links the next ones stand.
    words = links = depth = 0
    before = list[tuple[int, int]]()  # both counts where each open list began
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        if event == "start" and element.tag in LISTS:
            before.append((words, links))
        elif event == "end" and element.tag in LISTS:
            words_before, links_before = before.pop()
            other_letters = words - words_before - (links - links_before)
            if links > links_before and other_letters <= MARK_CHARS_MAX * len(element):
                lists.append(element)
        if element.tag == "a":
            depth += 1 if event == "start" else -1
        size = _letters([(element.text if event == "start" else element.tail) or ""])
        words += size
        links += size if depth else 0
    return lists
