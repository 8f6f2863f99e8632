"""The words of a Word paragraph or table, with what its marks mean: raised, lowered, deleted, merged, in a picture."""

from collections.abc import Iterator, Mapping
from typing import Any

from chiron_workers.documents.document import one_line
from chiron_workers.documents.mathml import math_text
from chiron_workers.documents.scripts import image_text, lower_words, raise_words
from chiron_workers.documents.spacing import set_line

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MATHS = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
TEXT_OF_TAGS = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "\u2011"}
REFERENCE_TAGS = {f"{W}footnoteReference", f"{W}endnoteReference"}
# Formatting, deleted text, and the copy of a text box that is for old versions of Word.
SKIPPED_TAGS = {f"{W}pPr", f"{W}rPr", f"{W}del", f"{W}moveFrom", f"{COMPATIBILITY}Fallback"}
STRUCK_TAGS = (f"{W}strike", f"{W}dstrike", f"{W}vanish")
PLAIN, STRUCK = "", "struck"
SPAN_MAX = 100
OFF = ("0", "false", "off", "none")


def script_styles(styles: Mapping[str, Any]) -> dict[str, str]:
    """Which character styles raise, lower or strike out, by their ids."""
    places = {style_id: run_place(style.element.find(f"{W}rPr"), {}) for style_id, style in styles.items()}
    return {style_id: place for style_id, place in places.items() if place}


def run_place(properties: Any | None, styles: Mapping[str, str]) -> str:
    """Where a run with these properties stands: superscript, subscript, struck; empty for on the line."""
    if properties is None:
        return PLAIN
    if any(_is_on(properties.find(tag)) for tag in STRUCK_TAGS):
        return STRUCK
    align = properties.find(f"{W}vertAlign")
    if align is not None:
        place = align.get(f"{W}val", "")
        return place if place in ("superscript", "subscript") else PLAIN
    style = properties.find(f"{W}rStyle")
    return styles.get(style.get(f"{W}val", ""), PLAIN) if style is not None else PLAIN


def words_of(element: Any, styles: Mapping[str, str]) -> str:
    """The text of an element, deleted text left out, raised and lowered text and formulas written out."""
    pieces: list[list[str]] = []  # each of one place, which comes first

    def add(words: str, place: str) -> None:
        if pieces and pieces[-1][0] == place:
            pieces[-1].append(words)
        else:
            pieces.append([place, words])

    stack: list[tuple[Any, str]] = [(element, PLAIN)]
    while stack:
        node, place = stack.pop()
        if node.tag == f"{W}t":
            add(node.text or "", place)
        elif node.tag in TEXT_OF_TAGS:
            add(TEXT_OF_TAGS[node.tag], place)
        elif node.tag in REFERENCE_TAGS:
            add(f"[{node.get(f'{W}id')}]", PLAIN)
        elif node.tag == f"{MATHS}oMath":
            add(math_text(node), PLAIN)
        elif node.tag == f"{PICTURE}docPr":
            add(image_text(node.get("descr", "")), PLAIN)
        elif node.tag not in SKIPPED_TAGS:
            if node.tag == f"{W}r":
                place = run_place(node.find(f"{W}rPr"), styles)
            if node.tag == f"{W}p" and pieces and node is not element:
                add("\n", PLAIN)
            if place != STRUCK:
                stack.extend((child, place) for child in reversed(node))
    return _written(pieces)


def _written(pieces: list[list[str]]) -> str:
    text = ""
    for place, *words in pieces:
        piece = "".join(words)
        if place == "superscript":
            text += raise_words(piece, before=text[-20:])
        elif place == "subscript":
            text += lower_words(piece)
        else:
            text += piece
    return text


def table_lines(table: Any, styles: Mapping[str, str]) -> Iterator[str]:
    """The rows of a table, each a line: merged cells stand in each row and column that they reach over."""
    above: list[str] = []
    for row in outermost(table, f"{W}tr"):
        if row.find(f"{W}trPr/{W}del") is not None:
            continue
        line = [""] * _number(row.find(f"{W}trPr/{W}gridBefore"), 0)
        cells = list(outermost(row, f"{W}tc"))
        for cell in cells:
            words = set_line(" ".join(words_of(part, styles) for part in outermost(cell, f"{W}p")))
            merge = cell.find(f"{W}tcPr/{W}vMerge")
            if (
                merge is not None
                and merge.get(f"{W}val", "continue") == "continue"
                and len(line) < len(above)
            ):
                words = above[len(line)]
            line += [words] * _number(cell.find(f"{W}tcPr/{W}gridSpan"), 1)
        above = line
        # A cell that reaches over the whole table stands once.
        yield line[-1] if len(cells) == 1 else " | ".join(line)


def outermost(parent: Any, tag: str) -> Iterator[Any]:
    """The elements of a tag below another one that lie in no other of that tag: a table in a cell is read once."""
    stack = list(reversed(parent))
    while stack:
        element = stack.pop()
        if element.tag == tag:
            yield element
        else:
            stack.extend(reversed(element))


def _number(element: Any | None, default: int) -> int:
    words = element.get(f"{W}val", "") if element is not None else ""
    return max(0, min(int(words), SPAN_MAX)) if words.isascii() and words.isdigit() else default


def _is_on(element: Any | None) -> bool:
    return element is not None and one_line(element.get(f"{W}val", "1")).lower() not in OFF
