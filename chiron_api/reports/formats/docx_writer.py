"""A Word document that is written from top to bottom, into a file: kept as objects, a long one would fill the memory.

10,000 findings with two passages each take 0.7 s and 19 MB like this, and 19 s and 284 MB as paragraphs of python-docx.
"""

import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from io import BytesIO
from typing import BinaryIO

from chiron_api.reports.charts import Chart
from chiron_api.reports.formats.docx_chart import CONTENT_TYPE, RELATIONSHIP, chart_xml, drawing_xml

STYLES = {
    1: "Heading1",
    2: "Heading2",
    "title": "Title",
    "bullet": "ListBullet",
    "quote": "Quote",
    "goal": "IntenseQuote",
    "caption": "Caption",
    "small": "BodyText3",
}
# What Word calls the styles, with size of letters, space before and space behind in points.
LOOKS = {
    "Normal": (10, 0, 3),
    "Title": (20, 0, 4),
    "Heading 1": (14, 14, 4),
    "Heading 2": (11, 7, 1),
    "Caption": (10, 6, 2),
    "Quote": (8.5, 0, 3),
    "List Bullet": (10, 0, 2),
    "Body Text 3": (8.5, 0, 2),
}
# A cell is a text, or texts each with the bookmark to which it leads, if any.
Cell = str | tuple[tuple[str, str], ...]
CELL_SIZE = 16  # of letters, in half points
MARGIN_CM = 2
TABLE_STYLE = "LightList-Accent1"
# The first column stands out, rows alternate; older programs read these bits, newer ones the attributes beside them.
LOOK_WITH_HEAD, LOOK_WITHOUT_HEAD = "04A0", "0480"
HYPERLINK = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"
BODY = "word/document.xml"
BLUE, GREY = "0B57A4", "576071"
TWIPS_PER_CM = 567
TABLE_TWIPS = 9_600


class Paper:
    """The document. What is written goes to its end; texts must hold no characters that XML refuses."""

    def __init__(self, title: str, made_at: datetime) -> None:
        from docx import Document
        from docx.shared import Cm, Pt

        self._document = Document()  # brings the styles, and what a document needs around its body
        self._body = tempfile.TemporaryFile("w+b")  # noqa: SIM115  # closed by `save`
        self._is_in_paragraph = False
        self._bookmarks = self._links = self._charts = 0
        properties = self._document.core_properties
        properties.title, properties.author, properties.comments = title[:255], "Chiron", ""
        properties.created = properties.modified = made_at.replace(tzinfo=None)
        section = self._document.sections[0]
        section.page_width, section.page_height = Cm(21), Cm(29.7)
        section.top_margin = section.bottom_margin = Cm(MARGIN_CM)
        section.left_margin = section.right_margin = Cm(MARGIN_CM)
        self._document.styles["Normal"].font.name = "Calibri"
        for name, (size, before, behind) in LOOKS.items():
            style = self._document.styles[name]
            style.font.size = Pt(size)
            style.paragraph_format.space_before, style.paragraph_format.space_after = Pt(before), Pt(behind)
            style.paragraph_format.line_spacing = 1.08
        self._document.styles["Quote"].paragraph_format.left_indent = Cm(0.5)

    def begin(
        self, style: int | str | None = None, *, keep: bool = False, page: bool = False, indent_cm: float = 0
    ) -> None:
        """Begin a paragraph: on a new page, kept with the next one, or indented."""
        self._end()
        self._is_in_paragraph = True
        self._write(
            "<w:p><w:pPr>"
            + (f'<w:pStyle w:val="{STYLES[style]}"/>' if style is not None else "")
            + "<w:keepNext/>" * keep
            + "<w:pageBreakBefore/>" * page
            + (f'<w:ind w:left="{round(indent_cm * TWIPS_PER_CM)}"/>' if indent_cm else "")
            + "</w:pPr>"
        )

    def say(self, text: str, *, bold: bool = False, colour: str = "") -> None:
        """Write on in the paragraph."""
        self._write(_run(text, bold=bold, colour=colour))

    def paragraph(
        self,
        text: str,
        style: int | str | None = None,
        *,
        colour: str = "",
        bold: bool = False,
        keep: bool = False,
    ) -> None:
        """A paragraph of one text; of style "title", 1 or 2 it is a heading."""
        self.begin(style, keep=keep)
        self.say(text, colour=colour, bold=bold)

    def inward(self, text: str, bookmark: str) -> None:
        """A link to a bookmark of the document."""
        self._write(
            f'<w:hyperlink w:anchor="{bookmark}">{_run(text, colour=BLUE, is_underlined=True)}</w:hyperlink>'
        )

    def outward(self, text: str, target: str) -> None:
        """A link to an address."""
        self._links += 1
        name = f"rIdLink{self._links}"
        self._document.part.rels.add_relationship(HYPERLINK, target, name, is_external=True)
        self._write(f'<w:hyperlink r:id="{name}">{_run(text, colour=BLUE, is_underlined=True)}</w:hyperlink>')

    def bookmark(self, name: str) -> None:
        """A place that links can lead to."""
        self._bookmarks += 1
        number = self._bookmarks
        self._write(f'<w:bookmarkStart w:id="{number}" w:name="{name}"/><w:bookmarkEnd w:id="{number}"/>')

    def chart(self, chart: Chart) -> None:
        """A chart in a paragraph of its own."""
        from docx.opc.packuri import PackURI
        from docx.opc.part import Part

        self._charts += 1
        name = PackURI(f"/word/charts/chart{self._charts}.xml")
        blob = chart_xml(chart).encode()
        part = Part(name, CONTENT_TYPE, blob, self._document.part.package)
        relationship = self._document.part.relate_to(part, RELATIONSHIP)
        self.begin(keep=True)
        self._write(drawing_xml(chart, relationship, self._charts))

    def table(
        self, columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, widths: Sequence[int] = ()
    ) -> None:
        """A table as wide as the text; without a line of names where `columns` are empty.

        Args:
            widths: Of the columns, in hundredths of the table; equal ones where there are none.
        """
        self._end()
        has_head = any(columns)
        look = LOOK_WITH_HEAD if has_head else LOOK_WITHOUT_HEAD
        twips = [TABLE_TWIPS * width // 100 for width in widths] or [TABLE_TWIPS // len(columns)] * len(
            columns
        )
        grid = "".join(f'<w:gridCol w:w="{width}"/>' for width in twips)
        self._write(
            f'<w:tbl><w:tblPr><w:tblStyle w:val="{TABLE_STYLE}"/><w:tblW w:w="{sum(twips)}" w:type="dxa"/>'
            '<w:tblLayout w:type="fixed"/>'
            f'<w:tblLook w:val="{look}" w:firstRow="{int(has_head)}" w:firstColumn="1" w:noVBand="1"/></w:tblPr>'
            f"<w:tblGrid>{grid}</w:tblGrid>"
        )
        if has_head:
            self._write(_row(columns, twips, "<w:cantSplit/><w:tblHeader/>"))
        for row in rows:
            self._write(_row(row, twips, "<w:cantSplit/>"))
        self._write("</w:tbl>")
        self.begin()

    def save(self, file: BinaryIO) -> None:
        """Write the document to a file that is open for writing, once."""
        self._end()
        around = BytesIO()
        self._document.save(around)
        with (
            self._body,
            zipfile.ZipFile(around) as parts,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as document,
        ):
            for part in parts.infolist():
                if part.filename != BODY:
                    document.writestr(part.filename, parts.read(part))
                    continue
                # The layout of pages stands last.
                before, layout, after = parts.read(part).rpartition(b"<w:sectPr")
                with document.open(BODY, "w", force_zip64=True) as out:
                    out.write(before)
                    self._body.seek(0)
                    shutil.copyfileobj(self._body, out)
                    out.write(layout + after)

    def _end(self) -> None:
        if self._is_in_paragraph:
            self._write("</w:p>")
            self._is_in_paragraph = False

    def _write(self, xml: str) -> None:
        self._body.write(xml.encode())


def _run(
    text: str, *, bold: bool = False, colour: str = "", is_underlined: bool = False, size: int = 0
) -> str:
    look = (
        "<w:b/>" * bold
        + (f'<w:color w:val="{colour}"/>' if colour else "")
        + (f'<w:sz w:val="{size}"/>' if size else "")
        + '<w:u w:val="single"/>' * is_underlined
    )
    return f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def _row(cells: Sequence[Cell], twips: Sequence[int], properties: str) -> str:
    parts = (
        f'<w:tc><w:tcPr><w:tcW w:w="{width}" w:type="dxa"/></w:tcPr>'
        f'<w:p><w:pPr><w:spacing w:before="20" w:after="20"/></w:pPr>{_cell_runs(cell)}</w:p></w:tc>'
        for cell, width in zip(cells, twips, strict=True)
    )
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(parts)}</w:tr>"


def _cell_runs(cell: Cell) -> str:
    if isinstance(cell, str):
        return _run(cell, size=CELL_SIZE)
    return "".join(
        f'<w:hyperlink w:anchor="{bookmark}">{_run(text, colour=BLUE, size=CELL_SIZE)}</w:hyperlink>'
        if bookmark
        else _run(text, size=CELL_SIZE)
        for text, bookmark in cell
        if text
    )
