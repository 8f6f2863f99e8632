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
    compose,
    import_optional,
)
from chiron_workers.documents.docx_numbering import Numbering
from chiron_workers.documents.docx_words import W, script_styles, table_lines, words_of
from chiron_workers.documents.file_properties import stated_authors, stated_title
from chiron_workers.documents.spacing import set_line

WRAPPER_TAGS = {f"{W}{name}" for name in ("sdt", "sdtContent", "ins", "moveTo", "smartTag", "customXml")}
HEADING_STYLES = ("heading", "title")
NOTE_RELATIONS = ("/footnotes", "/endnotes")


def read_docx(data: bytes, *, name: str) -> Document:
    """The text of a Word document: headings, paragraphs, list items, table rows (cells separated by bars), notes.

    Tracked insertions are included; tracked deletions and text that is struck out are not.

    Raises:
        UnreadableError: It is broken, or the package python-docx is not installed.
    """
    with _open_docx(data) as document:
        properties = document.core_properties
        text = compose(_Reader(document).blocks(), title=stated_title(properties.title), name=name)
        return replace(text, authors=stated_authors(properties.author))


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
        self._scripts = script_styles(self._styles)
        self._numbering = Numbering(self._part("/numbering"))

    def blocks(self) -> Iterator[Block]:
        yield from self._below(self._document.element.body)
        for kind in NOTE_RELATIONS:
            notes = self._part(kind)
            for note in () if notes is None else notes:
                if note.get(f"{W}type") is None:  # Notes with a type only draw the line above the others.
                    yield Block(f"[{note.get(f'{W}id')}] {set_line(words_of(note, self._scripts))}")

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
                yield Block("\n".join(table_lines(element, self._scripts)))
            elif element.tag in WRAPPER_TAGS:
                yield from self._below(element)

    def _paragraph(self, element: Any) -> Block:
        text = words_of(element, self._scripts)
        style_reference = element.find(f"{W}pPr/{W}pStyle")
        style = self._styles.get(style_reference.get(f"{W}val")) if style_reference is not None else None
        if style is not None and (style.name or "").lower().startswith(HEADING_STYLES):
            return Block(set_line(text), is_heading=True)
        list_properties = element.find(f"{W}pPr/{W}numPr")
        if list_properties is None and style is not None:
            list_properties = style.element.find(f"{W}pPr/{W}numPr")
        return Block(self._numbering.mark(list_properties) + text if text.strip() else "")
