"""What stands in a page beside its words: formulas in scripts, labelled icons, and notes in the midst of a sentence."""

import re
from itertools import islice
from typing import Any

from chiron_workers.documents.html_hidden import replace_element, words_before
from chiron_workers.documents.mathml import formula_text, set_apart
from chiron_workers.documents.omissions import Mark, Omissions
from chiron_workers.documents.scripts import note_mark

CELLS = ("td", "th")
ICON_TAGS = ("i", "span", "b", "em", "div")
ICON_CLASS = re.compile(
    r"\bicons?\b|\bicon-|-icon\b|\bfa[srlbd]?\b|\bfa-|\bglyphicon|\bbi-|\bmdi\b|\bcodicon|\bdashicons",
    re.IGNORECASE,
)
ANSWER_CLASS = re.compile(
    r"(?:^|[\s_-])(?:yes|no|tick|check(?:ed|mark)?|cross|times|xmark|x|true|false|ok|ban|included|excluded|supported|unsupported"
    r"|available|unavailable|thumbs)(?:$|[\s_-])",
    re.IGNORECASE,
)
SPACER = re.compile(r"spacer|blank|pixel|transparent|clear\b", re.IGNORECASE)
LISTS = ("ul", "ol")
ICONS_MAX = 3  # of an item of a list
OTHER_CONTENT = ("img", "svg", "input", "object", "iframe", "math")  # with a writer of its own
LABELLED = "//*[@aria-label][self::i or self::span or self::b or self::em or (self::div and @role='img')]"
UNSEEN_SIGNS = re.compile(r"[\s\u200b\ue000-\uf8ff]*")  # Icons are letters of private use.
LABEL_CHARS_MAX = 200
DRAWN_FORMULA = re.compile(r"\bMathJax(?:_Preview|_Display|_SVG|_CHTML)?(?:_Display)?\b|\bmjx-")
# KaTeX without its MathML, and what versions 2 and 3 of MathJax draw.
DRAWINGS = (
    "//mjx-container | //span["
    + " or ".join(
        f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')"
        for name in ("katex", "katex-html", "MathJax", "MathJax_SVG", "MathJax_CHTML", "mjx-chtml")
    )
    + "]"
)
DATA_MARKS = re.compile(r"%?\s*(?:<!\[CDATA\[|\]\]>)")
LATEXML_NOTE = "//*[contains(concat(' ', @class, ' '), ' ltx_note ')]"
NOTE_BLOCKS = (
    *("p", "li", "td", "th", "dd", "figcaption", "caption", "h1", "h2", "h3", "h4", "h5", "h6"),
    *("blockquote", "div", "section", "article", "body"),
)
PARAGRAPHS = ("p", "h1", "h2", "h3", "h4", "h5", "h6")
MARGIN_NOTE = (
    "//*[self::span or self::small or self::aside]["
    + " or ".join(
        f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')"
        for name in ("sidenote", "marginnote", "side-note", "margin-note")
    )
    + "]"
)
MARGIN_SWITCH = "//label[contains(@class, 'margin-toggle')] | //input[contains(@class, 'margin-toggle')]"


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
        words = (
            _mathml(source, omissions) if _kind(script).startswith("math/mml") else " ".join(source.split())
        )
        words = words or (omissions.mark(Mark.FORMULA) if source else "")
        replace_element(script, set_apart(words, before=words_before(script), behind=script.tail or ""))


def write_drawn_formulas(tree: Any, omissions: Omissions) -> None:
    """Put a mark in the place of each formula that is drawn of parts, or is a picture, and has no MathML beside it."""
    for drawing in tree.xpath(DRAWINGS):
        if drawing.getparent() is None or drawing.find(".//math") is not None or not _is_drawn(drawing):
            continue
        source = drawing.get("data-mathml") or ""
        words = _mathml(source, omissions) if source else ""
        words = words or omissions.mark(Mark.FORMULA)
        replace_element(drawing, set_apart(words, before=words_before(drawing), behind=drawing.tail or ""))
    for image in tree.xpath("//img[contains(@class, 'mwe-math')]"):
        formula = next(image.iterancestors("span"), None)
        if formula is not None and formula.find(".//math") is not None:
            replace_element(image, "")


def _is_drawn(drawing: Any) -> bool:
    around = islice(drawing.iterancestors("span", "mjx-container"), 2)
    if any(ancestor.find(".//math") is not None for ancestor in around):
        return False
    has_words = any(not text.isspace() for text in drawing.itertext())
    return has_words or len(drawing) > 0 or bool(drawing.get("data-mathml"))


def _kind(script: Any) -> str:
    return (script.get("type") or "").strip().lower()


def _mathml(source: str, omissions: Omissions) -> str:
    from lxml import etree, html  # type: ignore[import-untyped]

    try:
        return formula_text(html.fragment_fromstring(source), omissions).strip()
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
            elif any(not len(icon) and _is_icon(icon) for icon in (cell, *icons)):
                _replace_children(cell, omissions.mark(Mark.SIGN))
        elif _is_plain_picture(cell):
            _replace_children(cell, omissions.mark(Mark.SIGN))
    for items in tree.iter(*LISTS):
        _mark_icons_of(items, omissions)
    for element in tree.xpath(LABELLED):
        is_empty = not len(element) and UNSEEN_SIGNS.fullmatch(element.text or "")
        if is_empty and element.get("aria-hidden") != "true" and (label := _label(element)):
            element.text = f" {label} "


def _is_icon(element: Any) -> bool:
    words = element.get("class") or ""
    return bool(ANSWER_CLASS.search(words) or (element.tag not in CELLS and ICON_CLASS.search(words)))


def _is_plain_picture(cell: Any) -> bool:
    """Whether a cell has nothing but a picture that its page calls decoration, and that tells something all the same."""
    if not UNSEEN_SIGNS.fullmatch("".join(cell.itertext())):
        return False
    content = [element for tag in OTHER_CONTENT for element in cell.iter(tag)]
    pictures = [element for element in content if element.tag == "img" and element.get("alt") == ""]
    return 0 < len(content) == len(pictures) and not any(
        SPACER.search(f"{picture.get('src')} {picture.get('class')}") for picture in pictures
    )


def _mark_icons_of(items: Any, omissions: Omissions) -> None:
    """Put marks in the place of the icons of a list where they differ, as then each says something about its item."""
    icons = [
        icon
        for item in items.iterchildren("li")
        for icon in islice(item.iterdescendants("i", "span"), ICONS_MAX)
        if not len(icon)
        and not (icon.text or "").strip()
        and not _label(icon)
        and ICON_CLASS.search(icon.get("class") or "")
        and ANSWER_CLASS.search(icon.get("class") or "")
    ]
    if len({icon.get("class") for icon in icons}) > 1:
        for icon in icons:
            replace_element(icon, f" {omissions.mark(Mark.SIGN)} ")


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
    """Move notes of LaTeXML and of the margin out of their sentences, behind the paragraphs; their marks stay."""
    from lxml import etree

    last_notes = dict[Any, Any]()  # of each block
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
        _move_note(note, content, block, mark, last_notes)
    for note in tree.xpath(MARGIN_NOTE):
        block = next(note.iterancestors(*NOTE_BLOCKS), None)
        has_words = any(not text.isspace() for text in note.itertext())
        if block is not None and has_words and next(note.iterdescendants(*NOTE_BLOCKS), None) is None:
            content = etree.Element("span")
            content.text = note.text
            content.extend(list(note))
            _move_note(note, content, block, "[note]", last_notes)
    for switch in tree.xpath(MARGIN_SWITCH):
        replace_element(switch, "")


def _move_note(note: Any, content: Any, block: Any, mark: str, last_notes: dict[Any, Any]) -> None:
    from lxml import etree

    paragraph = etree.Element("p")
    paragraph.text = f"{mark} {(content.text or '').lstrip()}"
    paragraph.extend(list(content))
    replace_element(note, mark)
    if block.tag in PARAGRAPHS:
        last_notes.get(block, block).addnext(paragraph)
        last_notes[block] = paragraph
    else:
        block.append(paragraph)
