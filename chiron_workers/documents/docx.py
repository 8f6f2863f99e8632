from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from chiron_workers.documents.document import (
    Block,
    Document,
    compose,
    one_line,
)
from chiron_workers.documents.docx_elements import RELATION, W
from chiron_workers.documents.docx_numbering import Numbering
from chiron_workers.documents.docx_package import Package
from chiron_workers.documents.docx_styles import Styles, is_on
from chiron_workers.documents.docx_tables import table_lines
from chiron_workers.documents.docx_words import P
from chiron_workers.documents.docx_writer import BLOCKS, Writer, next_beginning
from chiron_workers.documents.file_properties import stated_authors, stated_title
from chiron_workers.documents.omissions import Omissions
from chiron_workers.documents.spacing import set_line

NOTE_PARTS = ("footnotes", "endnotes")
EDGES = {"header": "[Header]", "footer": "[Footer]"}
PLACE_CHARS_MAX = 60
PROPERTIES = ("{http://purl.org/dc/elements/1.1/}title", "{http://purl.org/dc/elements/1.1/}creator")


def read_docx(data: bytes, *, name: str) -> Document:
    """The text of a Word document: headers, headings, paragraphs, list items, table rows (cells separated by bars),
    text boxes behind their paragraphs, notes, footers.

    Tracked insertions are included; tracked deletions, hidden text and text that is struck out are counted.

    Raises:
        UnreadableError: There is no text of a Word document in it; the message says why.
    """
    omissions = Omissions()
    package = Package(data, omissions)
    title, author = _properties(package.properties())
    text = compose(_Reader(package, omissions).blocks(), title=stated_title(title), name=name)
    return replace(
        text,
        authors=stated_authors(author),
        left_out=omissions.all(),
    )


def _properties(root: Any | None) -> Iterator[str]:
    for tag in PROPERTIES:
        element = root.find(tag) if root is not None else None
        yield one_line(element.text or "") if element is not None else ""


class _Reader:
    def __init__(self, package: Package, omissions: Omissions) -> None:
        self._package = package
        self._root = package.document()
        self._styles = Styles(package.part("styles"))
        self._numbering = Numbering(package.part("numbering"))
        self._writer = Writer(self._styles, omissions)
        # Words of a paragraph whose mark is deleted, or of an initial, begin the next one.
        self._beginning = ""

    def blocks(self) -> Iterator[Block]:
        yield from self._edges("header")
        self._writer.begin_part(self._root)
        body = self._root.find(f"{W}body")
        yield from self._body([] if body is None else body)
        for kind in NOTE_PARTS:
            notes = self._package.part(kind)
            if notes is None:
                continue
            self._writer.begin_part(notes)
            for note in notes.iter(f"{W}footnote", f"{W}endnote"):
                if note.get(f"{W}type") is None:  # Notes with a type only draw the line above the others.
                    self._writer.place = f"note {note.get(f'{W}id')}"
                    yield Block(f"[{note.get(f'{W}id')}] {set_line(' '.join(self._writer.lines(note)))}")
                    yield from self._floats()
        yield from self._edges("footer")

    def _body(self, body: Any) -> Iterator[Block]:
        heading = ""
        for number, part in enumerate(self._writer.below(body, BLOCKS), 1):
            self._writer.place = f"below “{heading}”" if heading else f"paragraph {number}"
            if isinstance(part, str) or part.tag != P:
                yield from self._rest()
            if isinstance(part, str):
                yield Block(part)
            elif part.tag == P:
                block = self._paragraph(part)
                if block.is_heading and block.text:
                    heading = block.text[:PLACE_CHARS_MAX]
                yield block
            else:
                yield Block("\n".join(table_lines(part, self._writer)))
            yield from self._floats()
        yield from self._rest()

    def _rest(self) -> Iterator[Block]:
        """What would begin a next paragraph, where none follows."""
        if self._beginning:
            yield Block(self._beginning)
            self._beginning = ""

    def _floats(self) -> Iterator[Block]:
        if self._writer.floats:
            texts, self._writer.floats = self._writer.floats, []
            yield from map(Block, texts)

    def _paragraph(self, element: Any) -> Block:
        text = self._beginning + self._writer.words(element)
        self._beginning = ""
        properties = element.find(f"{W}pPr")
        if properties is None:
            return Block(text)
        beginning = next_beginning(element, text)
        if beginning is not None:
            self._beginning = beginning
            return Block("")
        reference = properties.find(f"{W}pStyle")
        style_id = reference.get(f"{W}val", "") if reference is not None else ""
        if self._styles.is_heading(style_id):
            return Block(set_line(text), is_heading=True)
        list_properties = properties.find(f"{W}numPr")
        if list_properties is None:
            list_properties = self._styles.numbering(style_id)
        return Block(self._numbering.mark(list_properties) + text if text.strip() else "")

    def _edges(self, kind: str) -> Iterator[Block]:
        """The headers or footers that are shown on some page, each text once."""
        texts = dict[str, None]()
        for id_ in dict.fromkeys(self._edge_ids(kind)):
            root = self._package.related(id_)
            if root is None:
                continue
            self._writer.place = kind
            self._writer.begin_part(root, is_edge=True)
            lines = [set_line(line) for line in self._writer.lines(root)]
            boxes, self._writer.floats = self._writer.floats, []
            for text in chain(lines, map(set_line, boxes)):
                # Numbers of pages alone say nothing.
                if any(map(str.isalpha, text)):
                    texts[text] = None
        for text in texts:
            yield Block(f"{EDGES[kind]} {text}")

    def _edge_ids(self, kind: str) -> Iterator[str]:
        sections = [
            section
            for section in self._root.iter(f"{W}sectPr")
            if section.getparent().tag != f"{W}sectPrChange"
        ]
        references = [
            (section, reference)
            for section in sections
            for reference in section.findall(f"{W}{kind}Reference")
        ]
        if not references:
            return
        settings = self._package.part("settings")
        has_even = settings is not None and is_on(settings.find(f"{W}evenAndOddHeaders"))
        for section, reference in references:
            pages = reference.get(f"{W}type", "default")
            if (pages == "first" and not is_on(section.find(f"{W}titlePg"))) or (
                pages == "even" and not has_even
            ):
                continue
            yield reference.get(f"{RELATION}id", "")
