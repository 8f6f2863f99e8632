import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from typing import Any

from chiron_workers.documents.document import (
    Block,
    Document,
    UnreadableError,
    author_name,
    compose,
    import_optional,
    one_line,
    parse_date,
)

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
WRAPPER_TAGS = {f"{W}{name}" for name in ("sdt", "sdtContent", "ins", "moveTo", "smartTag", "customXml")}
TEXT_OF_TAGS = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "\u2011"}
REFERENCE_TAGS = {f"{W}footnoteReference", f"{W}endnoteReference"}
# Formatting, deleted text, and the copy of a text box that is for old versions of Word.
SKIPPED_TAGS = {f"{W}pPr", f"{W}rPr", f"{W}del", f"{W}moveFrom", f"{COMPATIBILITY}Fallback"}
HEADING_STYLES = ("heading", "title")
NOTE_RELATIONS = ("/footnotes", "/endnotes")
LIST_LEVELS_MAX = 9  # of Word


def read_docx(data: bytes, *, name: str) -> Document:
    """The text of a Word document: headings, paragraphs, list items, table rows (cells separated by bars), notes.

    Tracked insertions are included, tracked deletions are not.

    Raises:
        UnreadableError: It is broken, or the package python-docx is not installed.
    """
    with _open_docx(data) as document:
        properties = document.core_properties
        text = compose(_Reader(document).blocks(), title=properties.title or "", name=name)
        return replace(
            text, author=author_name(properties.author), published_at=parse_date(properties.created)
        )


@contextmanager
def _open_docx(data: bytes) -> Iterator[Any]:
    docx, etree = import_optional("docx"), import_optional("lxml.etree")
    parse_errors = (
        zipfile.BadZipFile,
        docx.opc.exceptions.OpcError,
        etree.XMLSyntaxError,
        AttributeError,  # This and the next two: a part is missing or is not of the declared type.
        KeyError,
        ValueError,
        EOFError,
        NotImplementedError,  # The compression is one that zipfile does not know.
    )
    try:
        yield docx.Document(BytesIO(data))
    except parse_errors:
        raise UnreadableError("it is no whole Word document") from None


class _Reader:
    def __init__(self, document: Any) -> None:
        self._document = document
        self._styles = {style.style_id: style for style in document.styles}
        self._numbering = _Numbering(self._part("/numbering"))

    def blocks(self) -> Iterator[Block]:
        yield from self._below(self._document.element.body)
        for kind in NOTE_RELATIONS:
            notes = self._part(kind)
            for note in () if notes is None else notes:
                if note.get(f"{W}type") is None:  # Notes with a type only draw the line above the others.
                    yield Block(f"[{note.get(f'{W}id')}] {one_line(_text(note))}")

    def _part(self, kind: str) -> Any | None:
        for relation in self._document.part.rels.values():
            if relation.reltype.endswith(kind) and not relation.is_external:
                from docx.oxml.parser import parse_xml  # It resolves no entities.

                return parse_xml(relation.target_part.blob)
        return None

    def _below(self, parent: Any) -> Iterator[Block]:
        for element in parent:
            if element.tag == f"{W}p":
                yield self._paragraph(element)
            elif element.tag == f"{W}tbl":
                yield Block("\n".join(map(_row, _outermost(element, f"{W}tr"))))
            elif element.tag in WRAPPER_TAGS:
                yield from self._below(element)

    def _paragraph(self, element: Any) -> Block:
        text = _text(element)
        style_reference = element.find(f"{W}pPr/{W}pStyle")
        style = self._styles.get(style_reference.get(f"{W}val")) if style_reference is not None else None
        if style is not None and (style.name or "").lower().startswith(HEADING_STYLES):
            return Block(one_line(text), is_heading=True)
        list_properties = element.find(f"{W}pPr/{W}numPr")
        if list_properties is None and style is not None:
            list_properties = style.element.find(f"{W}pPr/{W}numPr")
        return Block(self._numbering.mark(list_properties) + text if text.strip() else "")


def _row(row: Any) -> str:
    cells = (" ".join(map(_text, _outermost(cell, f"{W}p"))) for cell in _outermost(row, f"{W}tc"))
    return " | ".join(map(one_line, cells))


def _outermost(parent: Any, tag: str) -> Iterator[Any]:
    """The elements of a tag below another one that lie in no other of that tag: a table in a cell is read once."""
    stack = list(reversed(parent))
    while stack:
        element = stack.pop()
        if element.tag == tag:
            yield element
        else:
            stack.extend(reversed(element))


def _text(element: Any) -> str:
    words: list[str] = []
    stack = [element]
    while stack:
        node = stack.pop()
        if node.tag == f"{W}t":
            words.append(node.text or "")
        elif node.tag in TEXT_OF_TAGS:
            words.append(TEXT_OF_TAGS[node.tag])
        elif node.tag in REFERENCE_TAGS:
            words.append(f"[{node.get(f'{W}id')}]")
        elif node.tag not in SKIPPED_TAGS:
            if node.tag == f"{W}p" and words and node is not element:
                words.append("\n")
            stack.extend(reversed(node))
    return "".join(words)


class _Numbering:
    """The bullets and numbers of list items. A Word file holds only their definitions, so they are counted here."""

    def __init__(self, definitions: Any | None) -> None:
        self._formats: dict[tuple[str, int], str] = {}
        self._counts: Counter[tuple[str, int]] = Counter()
        if definitions is None:
            return
        abstract = {
            element.get(f"{W}abstractNumId"): element for element in definitions.iter(f"{W}abstractNum")
        }
        for number in definitions.iter(f"{W}num"):
            definition = abstract.get(_child_value(number, "abstractNumId"))
            for level in () if definition is None else definition.iter(f"{W}lvl"):
                key = (number.get(f"{W}numId", ""), _level(level.get(f"{W}ilvl")))
                self._formats[key] = _child_value(level, "numFmt")

    def mark(self, properties: Any | None) -> str:
        """Return `- ` or `3. `, indented by its level, for a paragraph's numPr element; empty for no list item."""
        if properties is None:
            return ""
        list_id, level = _child_value(properties, "numId"), _level(_child_value(properties, "ilvl"))
        form = self._formats.get((list_id, level), "none")
        if form == "none":
            return ""
        if form == "bullet":
            return "  " * level + "- "
        self._counts[list_id, level] += 1
        for deeper in range(level + 1, LIST_LEVELS_MAX):
            self._counts[list_id, deeper] = 0
        return "  " * level + f"{self._counts[list_id, level]}. "


def _child_value(parent: Any, name: str) -> str:
    element = parent.find(f"{W}{name}")
    return element.get(f"{W}val", "") if element is not None else ""


def _level(text: str | None) -> int:
    return min(int(text), LIST_LEVELS_MAX) if text and text.isascii() and text.isdigit() else 0
