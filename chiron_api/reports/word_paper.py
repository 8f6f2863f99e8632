"""A Word document that is written from top to bottom: python-docx's own ways look through all of it for each paragraph."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from datetime import datetime

STYLES = {
    1: "Heading1",
    2: "Heading2",
    "title": "Title",
    "bullet": "ListBullet",
    "quote": "Quote",
    "goal": "IntenseQuote",
}
TABLE_STYLE = "LightList-Accent1"
HYPERLINK = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"
BLUE, GREY = "0B57A4", "576071"
TWIPS_PER_CM = 567
# The first column stands out, rows alternate; older programs read these bits, newer ones the attributes beside them.
LOOK_WITH_HEAD, LOOK_WITHOUT_HEAD = "04A0", "0480"


class Paper:
    """The document. What is written goes to its end; texts must be fit for XML."""

    def __init__(self, title: str, made_at: "datetime") -> None:
        from docx import Document
        from docx.oxml import OxmlElement
        from docx.oxml.ns import qn
        from docx.shared import Cm, Pt

        self._element, self._qn = OxmlElement, qn
        self._document = Document()
        self._last = self._document.element.body[-1]  # how the page is laid out stands at the end
        self._bookmarks = self._links = 0
        self._paragraph: Any = None
        properties = self._document.core_properties
        properties.title, properties.author, properties.comments = title[:255], "Chiron", ""
        properties.created = properties.modified = made_at.replace(tzinfo=None)
        section = self._document.sections[0]
        section.page_width, section.page_height = Cm(21), Cm(29.7)
        section.left_margin = section.right_margin = Cm(2.2)
        normal = self._document.styles["Normal"]
        normal.font.name, normal.font.size = "Calibri", Pt(11)
        normal.paragraph_format.space_after = Pt(6)
        self._document.styles["Quote"].paragraph_format.left_indent = Cm(0.8)

    def heading(self, text: str, level: int | str) -> None:
        """A heading: "title", 1 or 2."""
        self.begin(level)
        self.say(text)

    def begin(
        self, style: int | str | None = None, *, keep: bool = False, page: bool = False, indent_cm: float = 0
    ) -> None:
        """Begin a paragraph: on a new page, kept with the next one, or indented."""
        self._paragraph = self._element("w:p")
        self._last.addprevious(self._paragraph)
        properties = self._add(self._paragraph, "w:pPr")
        if style is not None:
            self._add(properties, "w:pStyle", val=STYLES[style])
        if keep:
            self._add(properties, "w:keepNext")
        if page:
            self._add(properties, "w:pageBreakBefore")
        if indent_cm:
            self._add(properties, "w:ind", left=str(round(indent_cm * TWIPS_PER_CM)))

    def say(self, text: str, *, bold: bool = False, colour: str = "") -> None:
        """Write on in the paragraph."""
        self._run(self._paragraph, text, bold=bold, colour=colour)

    def paragraph(
        self, text: str, style: int | str | None = None, *, colour: str = "", bold: bool = False
    ) -> None:
        """A paragraph of one text."""
        self.begin(style)
        self.say(text, colour=colour, bold=bold)

    def inward(self, text: str, bookmark: str) -> None:
        """A link to a bookmark of the document."""
        link = self._add(self._paragraph, "w:hyperlink", anchor=bookmark)
        self._run(link, text, colour=BLUE, underlined=True)

    def outward(self, text: str, target: str) -> None:
        """A link to an address."""
        link = self._add(self._paragraph, "w:hyperlink")
        self._links += 1
        name = f"rIdLink{self._links}"
        self._document.part.rels.add_relationship(HYPERLINK, target, name, is_external=True)
        link.set(self._qn("r:id"), name)
        self._run(link, text, colour=BLUE, underlined=True)

    def bookmark(self, name: str) -> None:
        """A place that links can lead to."""
        self._bookmarks += 1
        self._add(self._paragraph, "w:bookmarkStart", id=str(self._bookmarks), name=name)
        self._add(self._paragraph, "w:bookmarkEnd", id=str(self._bookmarks))

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """A table; without a line of names where `columns` are empty."""
        table = self._element("w:tbl")
        self._last.addprevious(table)
        properties = self._add(table, "w:tblPr")
        self._add(properties, "w:tblStyle", val=TABLE_STYLE)
        self._add(properties, "w:tblW", type="pct", w="5000")
        has_head = any(columns)
        look = LOOK_WITH_HEAD if has_head else LOOK_WITHOUT_HEAD
        self._add(
            properties, "w:tblLook", val=look, firstRow=str(int(has_head)), firstColumn="1", noVBand="1"
        )
        grid = self._add(table, "w:tblGrid")
        for _ in columns:
            self._add(grid, "w:gridCol", w=str(9_400 // len(columns)))
        for n, row in enumerate([columns, *rows] if has_head else rows):
            self._row(table, row, is_head=has_head and n == 0)
        self.begin()

    def save(self, file: Path | BinaryIO) -> None:
        """Write the document to a file, by its name or open for writing."""
        self._document.save(str(file) if isinstance(file, Path) else file)

    def _row(self, table: Any, cells: Sequence[str], *, is_head: bool) -> None:
        row = self._add(table, "w:tr")
        if is_head:
            self._add(self._add(row, "w:trPr"), "w:tblHeader")
        for text in cells:
            cell = self._add(row, "w:tc")
            self._run(self._add(cell, "w:p"), text)

    def _run(
        self, parent: Any, text: str, *, bold: bool = False, colour: str = "", underlined: bool = False
    ) -> None:
        run = self._add(parent, "w:r")
        look = self._add(run, "w:rPr")
        if bold:
            self._add(look, "w:b")
        if colour:
            self._add(look, "w:color", val=colour)
        if underlined:
            self._add(look, "w:u", val="single")
        words = self._add(run, "w:t")
        words.text = text
        words.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")

    def _add(self, parent: Any, tag: str, **attributes: str) -> Any:
        element = self._element(tag)
        for name, value in attributes.items():
            element.set(self._qn(f"w:{name}"), value)
        parent.append(element)
        return element
