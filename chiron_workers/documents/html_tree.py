"""An HTML tree rewritten so that its words alone say what its marks say, before the main text is taken out of it."""

import re
from itertools import islice
from typing import Any

from chiron_workers.documents.html_asides import (
    move_notes,
    write_drawn_formulas,
    write_formula_scripts,
    write_icons,
)
from chiron_workers.documents.html_elements import STRUCK as DELETED_TAGS
from chiron_workers.documents.html_hidden import WORDS_TAG, replace_element, take_out_hidden, words_before
from chiron_workers.documents.html_images import BLOCKS, TEXT_BLOCKS, open_figures, write_images
from chiron_workers.documents.html_omissions import mark_images, write_marks
from chiron_workers.documents.html_tables import rewrite_tables
from chiron_workers.documents.mathml import formula_text, set_apart
from chiron_workers.documents.omissions import Mark, Omissions
from chiron_workers.documents.scripts import (
    RAISED_CHARS_MAX,
    list_mark,
    lower_words,
    note_mark,
    quotation_marks,
    raise_words,
)
from chiron_workers.documents.spacing import has_gaps, join_wraps, mark_gaps

STRUCK = re.compile(r"text-decoration[^;]*line-through", re.IGNORECASE)
NOTE = re.compile(r"note-?ref|\bfn-?ref|\bsdfootnote(?:anc|sym)|\bcite[-_]ref", re.IGNORECASE)
RAISED_NOTE = re.compile(r"\breference\b|\bfootnote\b|\bcitation\b", re.IGNORECASE)
VERBATIM = {"pre", "textarea", "script", "style"}
LIST_KINDS = {"1", "a", "A", "i", "I"}
QUOTED_BLOCKS = {"p", "pre", "div", "li", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6"}
NOTE_CHARS_MAX = 5
LIST_NUMBER_MAX = 1_000_000


def rewrite(tree: Any, text: str) -> Omissions:
    """Rewrite a parsed page in place, and say what is left out of it; `text` is its source.

    Deleted and hidden text goes, inserted text stays. Raised and lowered words, formulas, quotation marks, numbers of
    list items, texts of images and merged cells are written out. What has no words leaves a mark.
    """
    from lxml.etree import strip_tags  # type: ignore[import-untyped]

    omissions = Omissions()
    _take_out_deletions(tree, omissions)
    write_formula_scripts(tree, omissions)
    _write_formulas(tree, omissions)
    move_notes(tree)
    write_icons(tree, omissions)
    take_out_hidden(tree, omissions)
    write_marks(tree, omissions)
    _write_scripts(tree)
    _write_quotation_marks(tree)
    _write_times(tree)
    open_figures(tree)
    write_images(tree)
    mark_images(tree, omissions)
    strip_tags(tree, WORDS_TAG)
    _number_lists(tree)
    _mark_block_quotes(tree)
    rewrite_tables(tree)
    _set_white_space(tree, text)
    return omissions


def _take_out_deletions(tree: Any, omissions: Omissions) -> None:
    for element in list(tree.iter(*DELETED_TAGS)):
        _take_out_deletion(element, DELETED_TAGS[element.tag], omissions)
    for element in tree.xpath("//*[contains(@style, 'line-through')]"):
        if STRUCK.search(element.get("style")):
            _take_out_deletion(element, DELETED_TAGS["del"], omissions)


def _take_out_deletion(element: Any, kind: str, omissions: Omissions) -> None:
    if any(not text.isspace() for text in element.itertext()):
        omissions.add(kind)
    replace_element(element, "")


def _write_formulas(tree: Any, omissions: Omissions) -> None:
    write_drawn_formulas(tree, omissions)
    for element in list(tree.iter("math")):
        wrapper = element.getparent()
        if (
            wrapper is not None
            and "display:" in wrapper.get("style", "")
            and "math" in wrapper.get("class", "")
        ):
            del wrapper.attrib["style"]  # It is hidden only where a picture of it is shown.
        _take_out_pictures_of(element)
        is_empty = not len(element) and not (element.text or "").strip()
        words = formula_text(element, omissions)
        words = words if words.strip() or is_empty else omissions.mark(Mark.FORMULA)
        replace_element(element, set_apart(words, before=words_before(element), behind=element.tail or ""))


def _take_out_pictures_of(formula: Any) -> None:
    """Take out what draws a formula for the eye alone, beside its markup."""
    for ancestor in islice(formula.iterancestors("span", "mjx-container"), 2):
        for picture in ancestor.xpath("./*[@aria-hidden='true']"):
            if picture.find(".//math") is None:
                replace_element(picture, "")


def _write_scripts(tree: Any) -> None:
    superscripts = [(element, "".join(element.itertext())) for element in tree.iter("sup")]
    # A note begins with its mark as it stands in the text, where alone it may be known as one by its link.
    marks = {words.strip() for element, words in superscripts if _is_note(element, words)}
    for element in list(tree.iter("sup", "sub")):
        words = "".join(element.itertext())
        if element.tag == "sub":
            replace_element(element, lower_words(words))
        elif _is_note(element, words) or (words.strip() in marks and _begins_block(element)):
            replace_element(element, note_mark(words) + (" " if _begins_block(element) else ""))
        else:
            replace_element(element, raise_words(words, before=words_before(element)))
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


def _begins_block(element: Any) -> bool:
    while element.getprevious() is None and (parent := element.getparent()) is not None:
        if (parent.text or "").strip():
            return False
        if parent.tag in TEXT_BLOCKS | BLOCKS:
            return True
        element = parent
    return False


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


def _mark_block_quotes(tree: Any) -> None:
    """Put marks before each paragraph of a block quote: nothing else tells whose words they are."""
    from lxml.etree import iterwalk

    for source in list(tree.iter("footer")):  # It says who is quoted, and footers are taken out.
        if next(source.iterancestors("blockquote"), None) is not None:
            source.tag = "p"
    depth = 0
    for event, block in iterwalk(tree, events=("start", "end"), tag=("blockquote", *QUOTED_BLOCKS)):
        if block.tag == "blockquote":
            depth += 1 if event == "start" else -1
        if event == "end" or depth == 0:
            continue
        has_blocks = next(block.iterdescendants(*BLOCKS, *TEXT_BLOCKS), None) is not None
        words = block.text if has_blocks else "".join(block.itertext())
        if (words or "").strip():
            block.text = quotation_marks(depth) + (block.text or "").lstrip()


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
