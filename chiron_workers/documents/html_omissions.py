"""What a page holds and its text does not: marks for what has no words, and a list of the passages that are not in the text."""

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from chiron_workers.documents.html_elements import (
    BESIDE,
    ELEMENTS,
    EMPTY,
    EMPTY_MARKS,
    MARKS,
    OTHER_NAMES,
    OUTSIDE,
    SILENT,
    UNKNOWN,
)
from chiron_workers.documents.html_hidden import WORDS_TAG, replace_element
from chiron_workers.documents.html_images import AROUND, BLOCKS, MATH_IMAGE, TEXT_BLOCKS
from chiron_workers.documents.omissions import Mark, Omissions
from chiron_workers.documents.scripts import image_text
from chiron_workers.documents.spacing import unmark_gaps

WORD = re.compile(r"\w+")
SMALL_PX = 2.0  # a picture that counts who opens the page
PIXELS = re.compile(r"\s*(\d{1,5}(?:\.\d*)?)\s*(?:px)?\s*")
BUTTONS = {"submit", "button", "reset", "image"}
SECRET_INPUTS = {
    "password",
    "file",
    "checkbox",
    "radio",
    "range",
    "color",
}  # Nobody sees their value as words.
BOXES = {"checkbox": ("[ ]", "[x]"), "radio": ("( )", "(x)")}  # without and with a tick, as in lists of tasks
PLACE_WORDS = 8
MARK_TEXTS = {mark.text for mark in Mark}  # They are counted where they are put.
SURE_CHARS_MIN = 4  # of a passage that says where in the text the next one is
AHEAD_CHARS = 5_000  # behind the last passage, in which the next one is looked for
SEARCHED_CHARS_MAX = 20_000_000  # in all, for those that stand elsewhere
SHARE_MIN = 0.5  # of the pairs of neighbouring words, from which on a passage is in the text


@dataclass(frozen=True, slots=True)
class PageWords:
    """The words of a page between its tags, in order; `kinds` has those that stand beside its text, None for unseen ones."""

    texts: list[str]
    kinds: dict[str, str | None]


def write_marks(tree: Any, omissions: Omissions) -> None:
    """Put marks in the place of elements without words, and keep the words of those that would be taken out with them."""
    links, marked_elements = _Links(), set[Any]()
    for element in list(tree.iter()):
        tag = element.tag
        if not isinstance(tag, str) or element.getparent() is None or element in marked_elements:
            continue
        if tag in EMPTY:
            element.drop_tag()  # The parser does not know that it is empty, and puts what stands behind it into it.
        elif tag in MARKS:
            if tag not in EMPTY_MARKS:
                marked_elements.update(element.iterdescendants())
            _write_mark(element, MARKS[tag], omissions, links)
        elif tag in OTHER_NAMES:
            if tag in ("meter", "progress") and not "".join(element.itertext()).strip():
                element.text = " of ".join(filter(None, (element.get("value"), element.get("max"))))
            element.tag = OTHER_NAMES[tag]
        elif tag not in ELEMENTS and tag != WORDS_TAG:
            _write_unknown(element, omissions)


def mark_images(tree: Any, omissions: Omissions) -> None:
    """Put marks in the place of the images without a text that stand in the text of the page, and count the others."""
    links = _Links()
    for image in list(tree.iter("img")):
        if links.are_around(image) or _is_small(image):
            continue
        if MATH_IMAGE.search(image.get("class", "")):
            replace_element(image, omissions.mark(Mark.FORMULA, place=_name(image)))
            continue
        if image.get("alt") is not None and not image.get("alt").strip():  # decoration, as the page says
            omissions.add(Mark.PICTURE.value, place=_name(image))
        elif image.get("data-figure") or _is_among_words(image):
            replace_element(image, omissions.mark(Mark.PICTURE, place=_name(image)))
        elif image.getparent() is not None:
            omissions.add(Mark.PICTURE.value, place=_name(image))


def page_words(tree: Any) -> PageWords:
    """The words of a page, to be compared with the text that is made of it."""
    kinds: dict[str, str | None] = {}
    for element in tree.iter(*BESIDE):
        if next(element.iterancestors(element.tag), None) is not None:
            continue  # Its words are among those of the outer one.
        kinds |= dict.fromkeys(element.itertext(), BESIDE[element.tag])
    for element in tree.iter(*SILENT):
        kinds |= dict.fromkeys(element.itertext())
    return PageWords(list(tree.itertext()), kinds)


def list_lost(words: PageWords, title: str, text: str, omissions: Omissions) -> None:
    """List the passages of a page, each between two tags, that are not in its text."""
    content, at = _Content(f"{title}\n{text}"), 0
    for between_tags in words.texts:
        passage = between_tags.strip()
        if not passage or passage in MARK_TEXTS:
            continue
        # Most stand right behind the one before.
        place = text.find(passage, at, at + AHEAD_CHARS)
        if place >= 0:
            at = place + len(passage) if len(passage) >= SURE_CHARS_MIN else at
        elif not content.has(passage) and (kind := words.kinds.get(between_tags, OUTSIDE)) is not None:
            omissions.add(kind, place=_beginning(passage))


class _Content:
    """The text of a page, in which passages are looked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._chars_left = SEARCHED_CHARS_MAX

    def has(self, passage: str) -> bool:
        """Whether a passage, or most of it, stands there; also one without words."""
        passage = " ".join(unmark_gaps(passage).split())
        words = WORD.findall(passage)
        if not words[1:]:
            return not words or words[0] in self._words
        if self._chars_left > 0:
            self._chars_left -= len(self._text)
            if passage in self._text:
                return True
        pairs_in_text = sum(pair in self._pairs for pair in pairwise(words))
        return self._words.issuperset(words) and pairs_in_text >= SHARE_MIN * (len(words) - 1)

    @cached_property
    def _words(self) -> set[str]:
        return set(WORD.findall(self._text))

    @cached_property
    def _pairs(self) -> set[tuple[str, str]]:
        return set(pairwise(WORD.findall(self._text)))


def _beginning(passage: str) -> str:
    words = unmark_gaps(passage).split(maxsplit=PLACE_WORDS)
    return f"“{' '.join(words[:PLACE_WORDS])}{' …' if words[PLACE_WORDS:] else ''}”"


def _write_mark(element: Any, mark: Mark, omissions: Omissions, links: "_Links") -> None:
    if element.get("aria-hidden") == "true" or _is_small(element) or element.get("type") == "hidden":
        return
    words = _shown_words(element)
    if words is not None:
        _put(element, words)
    elif element.get("type", "").lower() in BUTTONS and element.tag == "input":
        omissions.add(BESIDE["button"], place=_name(element))
    elif links.are_around(element) or (mark is Mark.FIELD and not _is_in_text(element)):
        omissions.add(mark.value, place=_name(element))
    else:
        _put(element, omissions.mark(mark, place=_name(element)))


def _put(element: Any, words: str) -> None:
    if element.tag in EMPTY_MARKS and (element.text or len(element)):
        element.text = words + (element.text or "")
        element.drop_tag()
    else:
        replace_element(element, words)


def _shown_words(element: Any) -> str | None:
    """The words that an element shows without a writer of its own: the label of a drawing, what a field holds."""
    words = ""
    match element.tag:
        case "svg":
            title = element.find("{*}title")
            label = element.get("aria-label") or (title.text if title is not None else "") or ""
            words = image_text(label)
        case "input" if element.get("type", "").lower() in BOXES and _is_in_text(element):
            words = BOXES[element.get("type", "").lower()][element.get("checked") is not None]
        case "input" if element.get("type", "text").lower() not in SECRET_INPUTS | BUTTONS:
            words = element.get("value", "")
        case "textarea":
            words = "".join(element.itertext())
        case "select":
            options = [option for option in element.iter("option") if option.get("selected") is not None]
            words = ", ".join("".join(option.itertext()).strip() for option in options)
    return words.strip() or None


def _write_unknown(element: Any, omissions: Omissions) -> None:
    has_words = any(not text.isspace() for text in element.itertext())
    place = f"<{element.tag}>"
    if not has_words and not len(element):
        replace_element(element, omissions.mark(Mark.UNKNOWN, place=place))
        return
    omissions.add(UNKNOWN, place=place)
    has_blocks = any(child.tag in BLOCKS | TEXT_BLOCKS for child in element.iterdescendants())
    element.tag = "span" if not has_blocks and _is_in_text(element) else "div"
    element.text = f" {element.text or ''}"
    if len(element):
        element[-1].tail = f"{element[-1].tail or ''} "
    else:
        element.text += " "


def _is_in_text(element: Any) -> bool:
    return any(ancestor.tag in TEXT_BLOCKS for ancestor in element.iterancestors())


def _is_among_words(image: Any) -> bool:
    parent = image.getparent()
    has_words = (image.tail or "").strip() or (parent is not None and (parent.text or "").strip())
    return bool(has_words) or _is_in_text(image)


class _Links:
    """What elements stand in: navigation, or a link that has words, which they decorate."""

    def __init__(self) -> None:
        self._has_words: dict[Any, bool] = {}

    def are_around(self, element: Any) -> bool:
        return any(
            ancestor.tag in AROUND or (ancestor.tag == "a" and self._is_worded(ancestor))
            for ancestor in element.iterancestors()
        )

    def _is_worded(self, link: Any) -> bool:
        if link not in self._has_words:
            self._has_words[link] = any(not text.isspace() for text in link.itertext())
        return self._has_words[link]


def _is_small(element: Any) -> bool:
    sizes = [PIXELS.fullmatch(element.get(name, "")) for name in ("width", "height")]
    return any(size is not None and float(size[1]) <= SMALL_PX for size in sizes)


def _name(element: Any) -> str:
    source = element.get("src") or element.get("data") or ""
    file = source.partition("?")[0].rstrip("/").rpartition("/")[2] if not source.startswith("data:") else ""
    return f"<{element.tag}> {file}".strip()
