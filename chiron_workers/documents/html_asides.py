"""What stands in a page beside its words: formulas in scripts, labelled icons, and notes in the midst of a sentence."""

import re
from typing import Any

from chiron_workers.documents.html_hidden import replace_element
from chiron_workers.documents.mathml import math_text
from chiron_workers.documents.omissions import Mark, Omissions
from chiron_workers.documents.scripts import note_mark

CELLS = ("td", "th")
ICON_TAGS = ("i", "span", "b", "em", "div")
ICON_CLASS = re.compile(r"\bicons?\b|\bicon-|-icon\b|\bfa[srlbd]?\b|\bfa-|\bglyphicon|\bbi-|\bmdi\b|\bcodicon|\bdashicons", re.IGNORECASE)
UNSEEN_SIGNS = re.compile(r"[\s\u200b\ue000-\uf8ff]*")  # Icons are letters of private use.
LABEL_CHARS_MAX = 200
DRAWN_FORMULA = re.compile(r"\bMathJax(?:_Preview|_Display|_SVG|_CHTML)?(?:_Display)?\b|\bmjx-")
DATA_MARKS = re.compile(r"%?\s*(?:<!\[CDATA\[|\]\]>)")
LATEXML_NOTE = "//*[contains(concat(' ', @class, ' '), ' ltx_note ')]"
NOTE_BLOCKS = ("p", "li", "td", "th", "dd", "figcaption", "caption", "h1", "h2", "h3", "h4", "h5", "h6")


def write_formula_scripts(tree: Any, omissions: Omissions) -> None:
    """Write the formulas that MathJax draws from scripts, in the words of their source, and take out what it has drawn."""
    for script in [element for element in tree.iter("script") if _kind(element).startswith("math/")]:
        before = script.getprevious()
        while before is not None and not (before.tail or "").strip() and DRAWN_FORMULA.search(before.get("class") or ""):
            drawing, before = before, before.getprevious()
            replace_element(drawing, "")
        source = DATA_MARKS.sub("", script.text or "").strip()
        words = _mathml(source) if _kind(script).startswith("math/mml") else " ".join(source.split())
        replace_element(script, words or (omissions.mark(Mark.FORMULA) if source else ""))


def _kind(script: Any) -> str:
    return (script.get("type") or "").strip().lower()


def _mathml(source: str) -> str:
    from lxml import etree, html  # type: ignore[import-untyped]

    try:
        return math_text(html.fragment_fromstring(source)).strip()
    except (etree.ParserError, ValueError, AssertionError):
        return ""


def write_icons(tree: Any, omissions: Omissions) -> None:
    """Write the labels of icons, which are elements without words; one in a cell that has no label leaves a mark."""
    for cell in tree.iter(*CELLS):
        icons = [element for element in cell.iter(*ICON_TAGS) if not len(element)]
        if UNSEEN_SIGNS.fullmatch("".join(cell.itertext())) and cell.find(".//img") is None and cell.find(".//svg") is None:
            label = _label(cell) or " ".join(filter(None, map(_label, cell.iterdescendants(*ICON_TAGS, "a"))))
            if label:
                replace_children(cell, label)
            elif any(ICON_CLASS.search(icon.get("class") or "") for icon in icons):
                replace_children(cell, omissions.mark(Mark.SIGN))
    for element in tree.xpath("//i[@aria-label] | //span[@aria-label] | //b[@aria-label] | //em[@aria-label] | //div[@role='img'][@aria-label]"):
        is_empty = not len(element) and UNSEEN_SIGNS.fullmatch(element.text or "")
        if is_empty and element.get("aria-hidden") != "true" and (label := _label(element)):
            element.text = label


def replace_children(element: Any, words: str) -> None:
    """Put words in the place of all that is in an element, which stays."""
    for child in list(element):
        element.remove(child)
    element.text = words


def _label(element: Any) -> str:
    if element.get("aria-hidden") == "true" and element.get("title") is None:
        return ""
    label = element.get("aria-label") or element.get("title") or ""
    return " ".join(label.split())[:LABEL_CHARS_MAX]


def move_notes(tree: Any) -> None:
    """Move notes that LaTeXML puts into the midst of sentences behind their paragraphs; their marks stay."""
    from lxml import etree

    for note in tree.xpath(LATEXML_NOTE):
        content = next(iter(note.xpath(".//*[contains(@class, 'ltx_note_content')]")), None)
        block = next(note.iterancestors(*NOTE_BLOCKS), None)
        if content is None or block is None:
            continue
        marks = content.xpath(".//*[contains(@class, 'ltx_note_mark') or contains(@class, 'ltx_tag_note')]")
        outer_marks = note.xpath("./*[contains(@class, 'ltx_note_mark')]")
        mark = note_mark("".join((outer_marks or marks)[0].itertext())) if outer_marks or marks else "[note]"
        for element in marks:
            if element.getparent() is not None:
                replace_element(element, "")
        paragraph = etree.Element("p")
        paragraph.text = f"{mark} {(content.text or '').lstrip()}"
        paragraph.extend(list(content))
        replace_element(note, mark)
        if block.tag in ("p", "h1", "h2", "h3", "h4", "h5", "h6"):
            while (after := block.getnext()) is not None and after.get("data-note"):
                block = after
            paragraph.set("data-note", "1")
            block.addnext(paragraph)
        else:
            block.append(paragraph)
