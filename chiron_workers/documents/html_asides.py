"""What stands in a page beside its words: formulas in scripts, labelled icons, and notes in the midst of a sentence."""

import re
from typing import Any

from chiron_workers.documents.html_hidden import replace_element
from chiron_workers.documents.mathml import math_text
from chiron_workers.documents.omissions import Mark, Omissions
from chiron_workers.documents.scripts import note_mark

CELLS = ("td", "th")
ICON_TAGS = ("i", "span", "b", "em", "div")
ICON_CLASS = re.compile(
    r"\bicons?\b|\bicon-|-icon\b|\bfa[srlbd]?\b|\bfa-|\bglyphicon|\bbi-|\bmdi\b|\bcodicon|\bdashicons",
    re.IGNORECASE,
)
OTHER_CONTENT = ("img", "svg", "input", "object", "iframe", "math")  # with a writer of its own
LABELLED = "//*[@aria-label][self::i or self::span or self::b or self::em or (self::div and @role='img')]"
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
        while (
            before is not None
            and not (before.tail or "").strip()
            and DRAWN_FORMULA.search(before.get("class") or "")
        ):
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
        if UNSEEN_SIGNS.fullmatch(cell.text or "") and _is_without_words(cell):
            icons = list(cell.iterdescendants(*ICON_TAGS))
            label = _label(cell) or " ".join(filter(None, map(_label, cell.iterdescendants(*ICON_TAGS, "a"))))
            if label:
                _replace_children(cell, label)
            elif any(not len(icon) and ICON_CLASS.search(icon.get("class") or "") for icon in icons):
                _replace_children(cell, omissions.mark(Mark.SIGN))
    for element in tree.xpath(LABELLED):
        is_empty = not len(element) and UNSEEN_SIGNS.fullmatch(element.text or "")
        if is_empty and element.get("aria-hidden") != "true" and (label := _label(element)):
            element.text = label


def _is_without_words(cell: Any) -> bool:
    has_content = any(next(cell.iter(tag), None) is not None for tag in OTHER_CONTENT)
    return not has_content and UNSEEN_SIGNS.fullmatch("".join(cell.itertext())) is not None


def _replace_children(element: Any, words: str) -> None:
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
