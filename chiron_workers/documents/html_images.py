"""Images of a page as their texts, and figures with their captions as paragraphs."""

import re
from typing import Any

from chiron_workers.documents.html_hidden import replace_element
from chiron_workers.documents.scripts import image_text

MATH_IMAGE = re.compile(r"\b(?:tex\b(?!-)|latex|math|mwe-math)", re.IGNORECASE)
FILE_NAME = re.compile(r"\S+\.(?:png|jpe?g|gif|svg|webp)", re.IGNORECASE)
TEXT_BLOCKS = {"p", "li", "td", "th", "dd", "dt", "blockquote", "caption", "figcaption"}
BLOCKS = {"p", "div", "ol", "ul", "section", "article", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6"}
INLINE = {"a", "span", "b", "i", "em", "strong", "font"}
AROUND = {"nav", "header", "footer", "aside", "button"}


def open_figures(tree: Any) -> None:
    """Make figures, which would be left out, divisions, and captions paragraphs."""
    for element in list(tree.iter("source", "figure", "picture", "figcaption")):
        if element.tag == "source":  # The parser does not know that it is empty, and puts the image into it.
            element.drop_tag()
            continue
        for image in element.iter("img"):
            image.set("data-figure", "1")
        element.tag = "p" if element.tag == "figcaption" and not _has_blocks(element) else "div"


def write_images(tree: Any) -> None:
    """Write out the text of each image that belongs to the text of its page."""
    for element in list(tree.iter("img")):
        alt = (element.get("alt") or "").strip()
        is_formula = bool(MATH_IMAGE.search(element.get("class", "")))
        if not alt or FILE_NAME.fullmatch(alt):
            continue
        words = alt if is_formula else image_text(alt)
        if is_formula or _is_in_line(element):
            replace_element(element, words)
        elif element.get("data-figure"):
            element.tag, element.text = "p", words
        elif not any(map(_leads_elsewhere, element.iterancestors())):
            _set_apart(element, words)


def _leads_elsewhere(element: Any) -> bool:
    """Whether what stands in an element belongs to other pages: a link, but for one to the image itself, or navigation."""
    return element.tag in AROUND or (element.tag == "a" and not FILE_NAME.search(element.get("href", "")))


def _is_in_line(image: Any) -> bool:
    """Whether an image stands among words, so that its own are a part of a sentence or a cell."""
    parent = image.getparent()
    has_words = (image.tail or "").strip() or (parent is not None and (parent.text or "").strip())
    return bool(has_words) or any(ancestor.tag in TEXT_BLOCKS for ancestor in image.iterancestors())


def _set_apart(image: Any, words: str) -> None:
    place = image
    while (parent := place.getparent()) is not None and parent.tag in INLINE and len(parent) == 1:
        place = parent
    for child in list(place):
        place.remove(child)
    place.tag, place.text = "p", words


def _has_blocks(element: Any) -> bool:
    return any(child.tag in BLOCKS for child in element.iterdescendants())
