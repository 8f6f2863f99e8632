import zipfile
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
    one_line,
    parse_date,
)
from chiron_workers.documents.docx_numbering import Numbering
from chiron_workers.documents.optional import import_optional

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
WRAPPERS = {f"{W}{name}" for name in ("sdt", "sdtContent", "ins", "moveTo", "smartTag", "customXml")}
SIGNS = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "\u2011"}
REFERENCES = {f"{W}footnoteReference", f"{W}endnoteReference"}
# How it looks, what a deletion left behind, and what stands in for a text box in old programs.
SILENT = {f"{W}pPr", f"{W}rPr", f"{W}del", f"{W}moveFrom", f"{COMPATIBILITY}Fallback"}
HEADINGS = ("heading", "title")
NOTES = ("/footnotes", "/endnotes")


def read_docx(data: bytes, *, name: str) -> Document:
    """The words of a Word document: headings, paragraphs, list items, table rows (cells between bars), notes.

    Of tracked changes what was inserted is there, and what was deleted is not.

    Raises:
        UnreadableError: It is broken, or the package python-docx is not installed.
    """
    with _opened(data) as document:
        about = document.core_properties
        found = compose(_Reader(document).blocks(), title=about.title or "", name=name)
        return replace(found, author=author_name(about.author), published_at=parse_date(about.created))


@contextmanager
def _opened(data: bytes) -> Iterator[Any]:
    docx, etree = import_optional("docx"), import_optional("lxml.etree")
    broken = (
        zipfile.BadZipFile,
        docx.opc.exceptions.OpcError,
        etree.XMLSyntaxError,
        AttributeError,  # this and the next two: parts that are missing or are not what they are called
        KeyError,
        ValueError,
        EOFError,
        NotImplementedError,  # a compression that nobody uses
    )
    try:
        yield docx.Document(BytesIO(data))
    except broken:
        raise UnreadableError("it is no whole Word document") from None


class _Reader:
    def __init__(self, document: Any) -> None:
        self._document = document
        self._styles = {style.style_id: style for style in document.styles}
        self._numbering = Numbering(self._part("/numbering"))

    def blocks(self) -> Iterator[Block]:
        yield from self._below(self._document.element.body)
        for kind in NOTES:
            notes = self._part(kind)
            for note in () if notes is None else notes:
                if note.get(f"{W}type") is None:  # the others draw the line above the notes
                    yield Block(f"[{note.get(f'{W}id')}] {one_line(_text(note))}")

    def _part(self, kind: str) -> Any | None:
        for relation in self._document.part.rels.values():
            if relation.reltype.endswith(kind) and not relation.is_external:
                from docx.oxml.parser import parse_xml  # it resolves no entities

                return parse_xml(relation.target_part.blob)
        return None

    def _below(self, parent: Any) -> Iterator[Block]:
        for element in parent:
            if element.tag == f"{W}p":
                yield self._paragraph(element)
            elif element.tag == f"{W}tbl":
                yield Block("\n".join(_row(row) for row in element.iter(f"{W}tr")))
            elif element.tag in WRAPPERS:
                yield from self._below(element)

    def _paragraph(self, element: Any) -> Block:
        text = _text(element)
        named = element.find(f"{W}pPr/{W}pStyle")
        style = self._styles.get(named.get(f"{W}val")) if named is not None else None
        if style is not None and (style.name or "").lower().startswith(HEADINGS):
            return Block(one_line(text), is_heading=True)
        listed = element.find(f"{W}pPr/{W}numPr")
        if listed is None and style is not None:
            listed = style.element.find(f"{W}pPr/{W}numPr")
        return Block(self._numbering.mark(listed) + text if text.strip() else "")


def _row(row: Any) -> str:
    cells = (_cell(cell) for cell in row.iter(f"{W}tc"))
    return " | ".join(cells)


def _cell(cell: Any) -> str:
    return one_line(" ".join(_text(paragraph) for paragraph in cell.iter(f"{W}p")))


def _text(element: Any) -> str:
    words: list[str] = []
    waiting = [element]
    while waiting:
        found = waiting.pop()
        if found.tag == f"{W}t":
            words.append(found.text or "")
        elif found.tag in SIGNS:
            words.append(SIGNS[found.tag])
        elif found.tag in REFERENCES:
            words.append(f"[{found.get(f'{W}id')}]")
        elif found.tag not in SILENT:
            if found.tag == f"{W}p" and words and found is not element:
                words.append("\n")
            waiting.extend(reversed(found))
    return "".join(words)
