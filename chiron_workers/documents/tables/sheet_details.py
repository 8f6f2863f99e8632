"""What calamine does not tell of a sheet in an xlsx file: formats, errors, formulas without a value, what is hidden, comments.

The XML is searched for the few signs that matter, as parsing all of it takes longer than calamine takes to read the cells.
"""

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO
from itertools import islice
from posixpath import dirname, join, normpath
from typing import Any

from chiron_workers.documents.document import import_optional
from chiron_workers.documents.omissions import Omission, Omissions
from chiron_workers.documents.tables.cell_formats import BUILT_IN, CellFormat, parse_format

SHEET_BYTES_MAX = 100_000_000
PART_BYTES_MAX = 20_000_000  # styles, comments, drawings
# Of an archive or a part that is broken, encrypted, too large or not there.
ARCHIVE_ERRORS = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    EOFError,
    KeyError,
    OSError,
    OverflowError,
    RuntimeError,
    StopIteration,
    ValueError,
)
FORMATTED_CELLS_MAX = 500_000
HIDDEN_COLUMNS_MAX = 1_000
DRAWN_TEXT = "text of a drawing"
TAG_CHARS_MAX = 500
HEAD_BYTES = 2_000
NS = "{*}"
REFERENCE = re.compile(rb'\sr="([A-Z]{1,3})(\d{1,7})"')
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
SPAN = re.compile(rb'\s(min|max)="(\d{1,5})"')
Place = tuple[int, int]  # row and column, counted from 0


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
        styles = self._styles() if "xl/styles.xml" in self._names else {}
        has_prefixes = b":worksheet" in xml[:HEAD_BYTES]
        has_formulas = b"<f" in xml or (has_prefixes and b":f" in xml)
        has_hidden = b"hidden=" in xml
        calculation = workbook.find(f"{NS}calcPr")
        is_stale = calculation is not None and calculation.get("fullCalcOnLoad") in ("1", "true")
        return SheetDetails(
            formats=dict(_formats(xml, styles)),
            errors=dict(_errors(xml)) if b't="e"' in xml else {},
            empty_formulas=tuple(_empty_formulas(xml)) if has_formulas else (),
            hidden_rows=tuple(int(row[1]) - 1 for row in HIDDEN_ROW.finditer(xml)) if has_hidden else (),
            hidden_columns=tuple(_hidden_columns(xml)) if has_hidden else (),
            left_out=self._left_out(path),
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

    def _styles(self) -> dict[bytes, CellFormat]:
        """The formats that show more than digits, by the number of the style in a cell."""
        tree = self._tree("xl/styles.xml")
        codes = dict(BUILT_IN)
        for element in tree.iter(f"{NS}numFmt"):
            codes[int(element.get("numFmtId") or 0)] = element.get("formatCode") or ""
        formats = {
            number: cell_format for number, code in codes.items() if (cell_format := parse_format(code))
        }
        cells = tree.find(f"{NS}cellXfs")
        return {
            str(n).encode(): formats[number]
            for n, style in enumerate(() if cells is None else cells)
            if (number := int(style.get("numFmtId") or 0)) in formats
        }

    def _left_out(self, path: str) -> tuple[Omission, ...]:
        omissions = Omissions()
        for _, kind, target in self._relations(path):
            if target not in self._names:
                continue
            if kind in ("comments", "threadedComment"):
                tag = b"comment" if kind == "comments" else b"threadedComment"
                count = len(re.findall(rb"<(?:\w+:)?" + tag + rb"\b", self._part(target)))
                omissions.add("comment", count=count)
            elif kind == "drawing":
                for _, part_kind, _ in self._relations(target):
                    if part_kind in ("chart", "image", "diagramData"):
                        omissions.add(
                            {"image": "picture", "diagramData": "diagram"}.get(part_kind, part_kind)
                        )
            elif kind in ("pivotTable", "oleObject", "control"):
                omissions.add(
                    {"pivotTable": "pivot table", "oleObject": "embedded object"}.get(kind, "form field")
                )
        return omissions.all()

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
            yield (int(match[2]) - 1, _column(match[1])), styles[match[3]]
        return
    for match in islice(re.finditer(rb'\ss="(' + numbers + rb')"', xml), FORMATTED_CELLS_MAX):
        if place := _place(xml, match.start()):
            yield place, styles[match[1]]


def _errors(xml: bytes) -> Iterator[tuple[Place, str]]:
    for match in re.finditer(rb'\st="e"', xml):
        end = xml.find(b">", match.end(), match.end() + TAG_CHARS_MAX)
        place, value = _place(xml, match.start()), VALUE.match(xml, end + 1) if end > 0 else None
        if place and value:
            yield place, value[1].decode(errors="replace")


def _empty_formulas(xml: bytes) -> Iterator[Place]:
    for match in EMPTY_FORMULA.finditer(xml):
        start = xml.rfind(b"<", max(0, match.start() - TAG_CHARS_MAX), match.start())
        # A formula whose value is an empty text has one.
        if b't="str"' not in xml[start : match.start()] and (place := _place(xml, start + 1)):
            yield place


def _place(xml: bytes, within: int) -> Place | None:
    """Row and column of the cell within whose tag a place lies."""
    start = xml.rfind(b"<", max(0, within - TAG_CHARS_MAX), within)
    end = xml.find(b">", within, within + TAG_CHARS_MAX)
    if start < 0 or end < 0:
        return None
    tag = xml[start:end]
    name = tag.split(None, 1)[0]
    reference = REFERENCE.search(tag)
    if reference is None or name.rpartition(b":")[2].lstrip(b"<") != b"c":
        return None
    return int(reference[2]) - 1, _column(reference[1])


@lru_cache(maxsize=1_000)
def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number - 1


def _hidden_columns(xml: bytes) -> Iterator[int]:
    for match in HIDDEN_COLUMN.finditer(xml):
        ends = {name: int(number) for name, number in SPAN.findall(match[0])}
        # What is hidden up to the last column of all is what lies beside the table.
        yield from range(ends.get(b"min", 1) - 1, min(ends.get(b"max", 0), HIDDEN_COLUMNS_MAX))


def cell_name(place: Place) -> str:
    """The name of a cell, such as B7."""
    return f"{column_name(place[1])}{place[0] + 1}"


def column_name(column: int) -> str:
    """The letters of a column, counted from 0."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(65 + letter) + letters
    return letters
