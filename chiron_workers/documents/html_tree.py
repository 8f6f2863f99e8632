"""An HTML tree rewritten so that its words alone say what its marks say, before the main text is taken out of it."""

import re
from typing import Any

from chiron_workers.documents.html_tables import rewrite_tables
from chiron_workers.documents.mathml import math_text
from chiron_workers.documents.scripts import (
    RAISED_CHARS_MAX,
    image_text,
    list_mark,
    lower_words,
    note_mark,
    raise_words,
)
from chiron_workers.documents.spacing import has_gaps, join_wraps, mark_gaps

WORDS_TAG = "written-words"
DELETED_TAGS = ("del", "s", "strike")
STRUCK = re.compile(r"text-decoration[^;]*line-through", re.IGNORECASE)
NOTE = re.compile(r"note-?ref|\bfn-?ref|\bsdfootnote(?:anc|sym)|\bcite[-_]ref", re.IGNORECASE)
RAISED_NOTE = re.compile(r"\breference\b|\bfootnote\b|\bcitation\b", re.IGNORECASE)
MATH_IMAGE = re.compile(r"\b(?:tex|latex|math|mwe-math)", re.IGNORECASE)
FILE_NAME = re.compile(r"\S+\.(?:png|jpe?g|gif|svg|webp)", re.IGNORECASE)
TEXT_BLOCKS = {"p", "li", "td", "th", "dd", "dt", "blockquote", "caption", "figcaption"}
BLOCKS = {"p", "div", "ol", "ul", "section", "article", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6"}
VERBATIM = {"pre", "textarea", "script", "style"}
LIST_KINDS = {"1", "a", "A", "i", "I"}
NOTE_CHARS_MAX = 5
LIST_NUMBER_MAX = 1_000_000


def rewrite(tree: Any, text: str) -> None:
    """Rewrite a parsed page in place; `text` is its source.

    Deleted text goes, inserted text stays. Raised and lowered words, formulas, quotation marks, numbers of list items,
    texts of images and merged cells are written out.
    """
    from lxml.etree import strip_tags  # type: ignore[import-untyped]

    _take_out_deletions(tree)
    _write_formulas(tree)
    _write_scripts(tree)
    _write_quotation_marks(tree)
    _write_times(tree)
    _open_figures(tree)
    _write_images(tree)
    strip_tags(tree, WORDS_TAG)
    _number_lists(tree)
    rewrite_tables(tree)
    _set_white_space(tree, text)


def replace_element(element: Any, words: str) -> None:
    """Put words in the place of all that is in an element; its tag goes with all others at once."""
    for child in list(element):
        element.remove(child)
    element.attrib.clear()
    element.tag, element.text = WORDS_TAG, words


def _take_out_deletions(tree: Any) -> None:
    for element in list(tree.iter(*DELETED_TAGS)):
        replace_element(element, "")
    for element in tree.xpath("//*[contains(@style, 'line-through')]"):
        if STRUCK.search(element.get("style")):
            replace_element(element, "")


def _write_formulas(tree: Any) -> None:
    for element in list(tree.iter("math")):
        wrapper = element.getparent()
        if (
            wrapper is not None
            and "display:" in wrapper.get("style", "")
            and "math" in wrapper.get("class", "")
        ):
            del wrapper.attrib["style"]  # It is hidden only where a picture of it is shown.
        replace_element(element, math_text(element))


def _write_scripts(tree: Any) -> None:
    for element in list(tree.iter("sup", "sub")):
        words = "".join(element.itertext())
        if element.tag == "sub":
            replace_element(element, lower_words(words))
        elif _is_note(element, words):
            replace_element(element, note_mark(words))
        else:
            replace_element(element, raise_words(words, before=_words_before(element)))
    for element in tree.xpath("//a[@class or @role or @*[name()='epub:type']]"):
        words = "".join(element.itertext())
        if 0 < len(words) <= NOTE_CHARS_MAX and not words.startswith("[") and _is_named(element, NOTE):
            replace_element(element, note_mark(words))


def _is_note(element: Any, words: str) -> bool:
    """Whether a raised text leads to a note: it is one link, or is called a reference."""
    links = list(element.iter("a"))
    parent = element.getparent()
    is_linked = bool(links) and "".join("".join(link.itertext()) for link in links).strip(" []") != ""
    is_whole_link = (
        parent is not None and parent.tag == "a" and "".join(parent.itertext()).strip() == words.strip()
    )
    is_named = _is_named(element, NOTE) or _is_named(element, RAISED_NOTE)
    return len(words) <= RAISED_CHARS_MAX and (is_linked or is_whole_link or is_named)


def _is_named(element: Any, pattern: re.Pattern[str]) -> bool:
    return any(pattern.search(element.get(name, "")) for name in ("class", "role", "epub:type"))


def _words_before(element: Any) -> str:
    previous, parent = element.getprevious(), element.getparent()
    if previous is None:
        words = parent.text if parent is not None else ""
    else:
        words = previous.tail or (previous.text if previous.tag == WORDS_TAG else "")
    return (words or "")[-20:]


def _write_quotation_marks(tree: Any) -> None:
    for element in list(tree.iter("q")):
        replace_inline(element, "“", "”")


def replace_inline(element: Any, before: str, after: str) -> None:
    """Take an element's tag away, and put words before and after what is in it."""
    if len(element):
        element[-1].tail = (element[-1].tail or "") + after
    else:
        element.text = (element.text or "") + after
    element.text = before + (element.text or "")
    element.drop_tag()


def _write_times(tree: Any) -> None:
    # The element stays, as the date of the page is read from it, but its words would go with it.
    for element in list(tree.iter("time")):
        if any(ancestor.tag in TEXT_BLOCKS for ancestor in element.iterancestors()):
            words = "".join(element.itertext())
            tail = element.tail or ""
            for child in list(element):
                element.remove(child)
            element.text, element.tail = None, words + tail


def _write_images(tree: Any) -> None:
    for element in list(tree.iter("img")):
        alt = (element.get("alt") or "").strip()
        is_formula = bool(MATH_IMAGE.search(element.get("class", "")))
        if not alt or FILE_NAME.fullmatch(alt) or (is_formula and "mwe-math" in element.get("class", "")):
            continue
        words = alt if is_formula else image_text(alt)
        if is_formula or any(ancestor.tag in TEXT_BLOCKS for ancestor in element.iterancestors()):
            replace_element(element, words)
        elif element.get("data-figure"):
            element.tag, element.text = "p", words


def _open_figures(tree: Any) -> None:
    """Make figures, which would be left out, divisions, and captions paragraphs."""
    for element in list(tree.iter("source", "figure", "picture", "figcaption")):
        if element.tag == "source":  # The parser does not know that it is empty, and puts the image into it.
            element.drop_tag()
            continue
        for image in element.iter("img"):
            image.set("data-figure", "1")
        element.tag = "p" if element.tag == "figcaption" and not _has_blocks(element) else "div"


def _has_blocks(element: Any) -> bool:
    return any(child.tag in BLOCKS for child in element.iterdescendants())


def _number_lists(tree: Any) -> None:
    for element in list(tree.iter("ol")):
        items = [child for child in element if child.tag == "li"]
        is_reversed = element.get("reversed") is not None
        number = _integer(element.get("start"), len(items) if is_reversed else 1)
        for item in items:
            number = _integer(item.get("value"), number)
            kind = item.get("type") or element.get("type") or "1"
            _mark_item(item, list_mark(number, kind if kind in LIST_KINDS else "1") + " ")
            number += -1 if is_reversed else 1


def _mark_item(item: Any, mark: str) -> None:
    place = item
    while not (place.text or "").strip() and len(place) and place[0].tag in BLOCKS - {"ol", "ul"}:
        place = place[0]
    place.text = mark + (place.text or "").lstrip()


def _integer(words: str | None, default: int) -> int:
    try:
        number = int(words or "")
    except ValueError:
        return default
    return number if abs(number) <= LIST_NUMBER_MAX else default


def _set_white_space(tree: Any, text: str) -> None:
    """Keep the gaps within numbers, and join lines that were wrapped within text of a script without spaces."""
    if not has_gaps(text) and join_wraps(text) == text:
        return
    for element in tree.iter():
        if not isinstance(element.tag, str):
            continue
        if element.text and element.tag not in VERBATIM:
            element.text = join_wraps(mark_gaps(element.text))
        if element.tail:
            element.tail = join_wraps(mark_gaps(element.tail))
