"""What calamine does not tell of a sheet in an xlsx file: formats, errors, formulas without a value, what is hidden, comments.

The XML is searched for the few signs that matter, as parsing all of it takes longer than calamine takes to read the cells.
"""

import html
import re
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice
from posixpath import dirname, join, normpath
from typing import Any

from chiron_workers.documents.document import import_optional
from chiron_workers.documents.office_package import READ_ERRORS
from chiron_workers.documents.omissions import Omission, Omissions
from chiron_workers.documents.tables.cell_formats import BUILT_IN, CellFormat, parse_format
from chiron_workers.documents.tables.places import TAG_CHARS_MAX, Place, cell_place, column_number
from chiron_workers.documents.tables.sheet_words import is_struck, read_words

SHEET_BYTES_MAX = 100_000_000
PART_BYTES_MAX = 20_000_000  # styles, comments, drawings
# Of an archive or a part that is broken, encrypted, too large or missing.
ARCHIVE_ERRORS = (*READ_ERRORS, struct.error, KeyError, OverflowError, StopIteration)
FORMATTED_CELLS_MAX = 500_000
HIDDEN_COLUMNS_MAX = 1_000
DRAWN_TEXT = "text of a drawing"
HEAD_BYTES = 2_000
NS = "{*}"
# All are bounded: without an end, a tag would be searched through the whole file from each of its beginnings.
VALUE = re.compile(
    rb"[^<]{0,99}(?:<(?:\w+:)?f\b[^>]{0,500}(?:/>|>[^<]{0,9000}</(?:\w+:)?f>))?[^<]{0,99}<(?:\w+:)?v>([^<]{1,20})<"
)
EMPTY_FORMULA = re.compile(
    rb"<(?:\w+:)?f\b[^>]{0,500}?(?:/>|>[^<]{0,9000}</(?:\w+:)?f>)\s{0,99}"
    rb"(?:<(?:\w+:)?v\s?/>|<(?:\w+:)?v>\s{0,99}</(?:\w+:)?v>)?\s{0,99}</(?:\w+:)?c>"
)
HIDDEN_ROW = re.compile(rb'<(?:\w+:)?row\b(?=[^>]{0,500}\shidden="(?:1|true)")[^>]{0,500}\sr="(\d{1,7})"')
HIDDEN_COLUMN = re.compile(rb'<(?:\w+:)?col\b(?=[^>]{0,500}\shidden="(?:1|true)")[^>]{0,500}>')
# A page has numbers and names of its own there: &P, &D, &"Arial,Bold", &12, &K000000. What is left are words.
HEADER_OR_FOOTER = re.compile(
    rb"<(?:\w+:)?(?:odd|even|first)(Header|Footer)(?:\s[^>]{0,99})?>([^<]{1,2000})</"
)
HEADER_CODE = re.compile(r'&(?:"[^"]*"|K[0-9A-F+-]{5,6}|[0-9]{1,3}|[A-Z&])')
PAGE_NUMBER = re.compile(r"(?:(?:page|seite|p\.|of|von|de|sur|[-–/|])\s*)*", re.IGNORECASE)
# Parts of a sheet that have no words of their own, and what others are called.
SILENT_PARTS = frozenset(
    {
        "table",
        "printerSettings",
        "hyperlink",
        "vmlDrawing",
        "queryTable",
        "customProperty",
        "slicer",
        "timeline",
    }
)
PARTS = {
    "pivotTable": "pivot table", "oleObject": "embedded object", "package": "embedded object", "control": "form field",
    "ctrlProp": "form field", "image": "picture",
}  # fmt: skip
SPAN = re.compile(rb'\s(min|max)="(\d{1,5})"')


@dataclass(frozen=True, slots=True)
class SheetDetails:
    """Of one sheet. Rows and columns are counted from 0; `is_stale` if its formulas wait to be calculated.

    `texts` are those of cells that calamine joins without a sign: raised digits, and nothing for what is struck out.
    """

    formats: dict[Place, CellFormat] = field(default_factory=dict)
    errors: dict[Place, str] = field(default_factory=dict)
    texts: dict[Place, str] = field(default_factory=dict)
    empty_formulas: tuple[Place, ...] = ()
    hidden_rows: tuple[int, ...] = ()
    hidden_columns: tuple[int, ...] = ()
    left_out: tuple[Omission, ...] = ()
    is_stale: bool = False


NO_DETAILS = SheetDetails()


def read_details(data: bytes, name: str) -> SheetDetails:
    """The details of a sheet of an xlsx file; none of other workbooks, and where its parts cannot be read."""
    etree = import_optional("lxml.etree")
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            return _Package(archive, etree).details(name)
    except (*ARCHIVE_ERRORS, etree.XMLSyntaxError):
        return NO_DETAILS


class _Package:
    def __init__(self, archive: zipfile.ZipFile, etree: Any) -> None:
        self._archive = archive
        self._names = set(archive.namelist())
        self._parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
        self._etree = etree

    def details(self, name: str) -> SheetDetails:
        if "xl/workbook.xml" not in self._names:
            return NO_DETAILS
        workbook = self._tree("xl/workbook.xml")
        path = self._path(workbook, name)
        xml = self._part(path, bytes_max=SHEET_BYTES_MAX)
        styles, struck_styles = self._styles() if "xl/styles.xml" in self._names else ({}, [])
        has_prefixes = b":worksheet" in xml[:HEAD_BYTES]
        has_formulas = b"<f" in xml or (has_prefixes and b":f" in xml)
        has_hidden = b"hidden=" in xml
        calculation = workbook.find(f"{NS}calcPr")
        is_stale = calculation is not None and calculation.get("fullCalcOnLoad") in ("1", "true")
        omissions = self._omissions(path, xml)
        texts = read_words(xml, self._shared_texts(), struck_styles, self._etree, omissions)
        return SheetDetails(
            texts=dict(texts),
            formats=dict(_formats(xml, styles)),
            errors=dict(_errors(xml)) if b't="e"' in xml else {},
            empty_formulas=tuple(_empty_formulas(xml)) if has_formulas else (),
            hidden_rows=tuple(int(row[1]) - 1 for row in HIDDEN_ROW.finditer(xml)) if has_hidden else (),
            hidden_columns=tuple(_hidden_columns(xml)) if has_hidden else (),
            left_out=omissions.all(),
            is_stale=is_stale and has_formulas,
        )

    def _path(self, workbook: Any, name: str) -> str:
        sheet = next(sheet for sheet in workbook.iter(f"{NS}sheet") if sheet.get("name") == name)
        reference = next(value for key, value in sheet.attrib.items() if key.endswith("}id"))
        return next(path for number, _, path in self._relations("xl/workbook.xml") if number == reference)

    def _relations(self, path: str) -> Iterator[tuple[str, str, str]]:
        """The number, the kind and the path of each part that a part names."""
        place = f"{dirname(path)}/_rels/{path.rpartition('/')[2]}.rels"
        for relation in self._tree(place) if place in self._names else ():
            target = relation.get("Target") or ""
            if relation.get("TargetMode") != "External":
                whole = (
                    target.lstrip("/") if target.startswith("/") else normpath(join(dirname(path), target))
                )
                yield relation.get("Id") or "", (relation.get("Type") or "").rpartition("/")[2], whole

    def _shared_texts(self) -> bytes:
        paths = (path for _, kind, path in self._relations("xl/workbook.xml") if kind == "sharedStrings")
        path = next(paths, "")
        return self._part(path, bytes_max=SHEET_BYTES_MAX) if path in self._names else b""

    def _styles(self) -> tuple[dict[bytes, CellFormat], list[bytes]]:
        """The formats that show more than digits, by the number of the style in a cell, and the styles that strike it out."""
        tree = self._tree("xl/styles.xml")
        codes = dict(BUILT_IN)
        for element in tree.iter(f"{NS}numFmt"):
            codes[int(element.get("numFmtId") or 0)] = element.get("formatCode") or ""
        formats = {
            number: cell_format for number, code in codes.items() if (cell_format := parse_format(code))
        }
        fonts, cells = tree.find(f"{NS}fonts"), tree.find(f"{NS}cellXfs")
        struck_fonts = {str(n) for n, font in enumerate(() if fonts is None else fonts) if is_struck(font)}
        styles = [(str(n).encode(), style) for n, style in enumerate(() if cells is None else cells)]
        shown = {
            key: formats[number]
            for key, style in styles
            if (number := int(style.get("numFmtId") or 0)) in formats
        }
        return shown, [key for key, style in styles if style.get("fontId") in struck_fonts]

    def _omissions(self, path: str, xml: bytes) -> Omissions:
        omissions = Omissions()
        for match in HEADER_OR_FOOTER.finditer(xml, max(0, xml.rfind(b"sheetData"))):
            words = " ".join(HEADER_CODE.sub(" ", html.unescape(match[2].decode(errors="replace"))).split())
            if not PAGE_NUMBER.fullmatch(words):
                omissions.add(f"page {match[1].decode().lower()}", place=f"“{words}”")
        if b"legacyDrawingHF" in xml:
            omissions.add("picture")  # of the page, such as a watermark
        for _, kind, target in self._relations(path):
            if target not in self._names or kind in SILENT_PARTS:
                continue
            if kind in ("comments", "threadedComment"):
                tag = b"comment" if kind == "comments" else b"threadedComment"
                count = len(re.findall(rb"<(?:\w+:)?" + tag + rb"\b", self._part(target)))
                omissions.add("comment", count=count)
            elif kind == "drawing":
                self._add_drawings(target, omissions)
            else:
                omissions.add(PARTS.get(kind, "part that is not read"))
        return omissions

    def _add_drawings(self, path: str, omissions: Omissions) -> None:
        for _, kind, _ in self._relations(path):
            if kind in ("chart", "chartEx", "image", "diagramData"):
                omissions.add({"image": "picture", "diagramData": "diagram"}.get(kind, "chart"))
        for shape in self._tree(path).iter(f"{NS}sp", f"{NS}cxnSp"):
            words = " ".join("".join(line.itertext(f"{NS}t")) for line in shape.iter(f"{NS}p"))
            if words.strip():
                omissions.add(DRAWN_TEXT, place=f"“{' '.join(words.split())}”")
            else:
                omissions.add("drawing")

    def _tree(self, path: str) -> Any:
        return self._etree.fromstring(self._part(path), self._parser)

    def _part(self, path: str, *, bytes_max: int = PART_BYTES_MAX) -> bytes:
        with self._archive.open(path) as stream:
            data = stream.read(bytes_max + 1)
        if len(data) > bytes_max:
            raise ValueError(f"{path} is too large")
        return data


def _formats(xml: bytes, styles: dict[bytes, CellFormat]) -> Iterator[tuple[Place, CellFormat]]:
    if not styles:
        return
    numbers = rb"|".join(styles)
    # As nearly all programs write cells; others are looked at one by one.
    usual = re.compile(rb'<(?:\w+:)?c r="([A-Z]{1,3})(\d{1,7})" s="(' + numbers + rb')"')
    if usual.search(xml):
        for match in islice(usual.finditer(xml), FORMATTED_CELLS_MAX):
            yield (int(match[2]) - 1, column_number(match[1])), styles[match[3]]
        return
    for match in islice(re.finditer(rb'\ss="(' + numbers + rb')"', xml), FORMATTED_CELLS_MAX):
        if place := cell_place(xml, match.start()):
            yield place, styles[match[1]]


def _errors(xml: bytes) -> Iterator[tuple[Place, str]]:
    for match in re.finditer(rb'\st="e"', xml):
        end = xml.find(b">", match.end(), match.end() + TAG_CHARS_MAX)
        place, value = cell_place(xml, match.start()), VALUE.match(xml, end + 1) if end > 0 else None
        if place and value:
            yield place, value[1].decode(errors="replace")


def _empty_formulas(xml: bytes) -> Iterator[Place]:
    for match in EMPTY_FORMULA.finditer(xml):
        start = xml.rfind(b"<", max(0, match.start() - TAG_CHARS_MAX), match.start())
        # A formula whose value is an empty text has one.
        if b't="str"' not in xml[start : match.start()] and (place := cell_place(xml, start + 1)):
            yield place


def _hidden_columns(xml: bytes) -> Iterator[int]:
    for match in HIDDEN_COLUMN.finditer(xml):
        ends = {name: int(number) for name, number in SPAN.findall(match[0])}
        # What is hidden up to the last column of all is what lies beside the table.
        yield from range(ends.get(b"min", 1) - 1, min(ends.get(b"max", 0), HIDDEN_COLUMNS_MAX))
