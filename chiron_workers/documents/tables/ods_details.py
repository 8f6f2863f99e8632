"""What calamine does not tell of a sheet in an OpenDocument file: units, errors, raised digits, merges, hidden rows, comments."""

import html
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from io import BytesIO
from typing import Any

from chiron_workers.documents.document import import_optional
from chiron_workers.documents.omissions import Omission, Omissions
from chiron_workers.documents.scripts import lower_words, raise_words
from chiron_workers.documents.tables.cell_formats import CellFormat, fixed_format, fixed_text, parse_format
from chiron_workers.documents.tables.places import Place, cell_name
from chiron_workers.documents.tables.sheet_details import (
    ARCHIVE_ERRORS,
    DRAWN_TEXT,
    FORMATTED_CELLS_MAX,
    HIDDEN_COLUMNS_MAX,
    NO_DETAILS,
    PART_BYTES_MAX,
    SHEET_BYTES_MAX,
    SheetDetails,
)

OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
# Without one of these a sheet has nothing that calamine does not tell; to parse all cells again takes as long as to read them.
SIGNS = re.compile(
    rb'value-type="(?:percentage|currency|error)"|-spanned="|visibility="|<office:annotation|<draw:|formula="|text-line-through'
    # A number with other signs than digits, or zeros before it; a date of two parts; a text with elements in it.
    rb'|value-type="float"[^>]{0,300}>\s{0,99}<text:p[^>]{0,99}>(?:[-0-9.,\s]{0,40}[^-0-9.,\s<]|-?0[0-9])'
    rb'|value-type="date"[^>]{0,300}>\s{0,99}<text:p[^>]{0,99}>[^\s./,:<-]{1,20}(?:[\s./,:-]{1,5}[^\s./,:<-]{1,20})?<'
    rb"|<text:(?:span|line-break|tab|a|ruby)[\s/>]"
)
ERROR = re.compile(r"#[A-Z0-9/]{1,20}[!?]?|Err:[0-9]{3}")
SHOWN_NUMBER = re.compile(
    r"(?P<prefix>[^0-9]{0,40}?)(?P<sign>[-−+]?)(?P<digits>[0-9][0-9.,'’\s]{0,60}?)(?P<suffix>[^0-9]{0,40})"
)
DATE_PART = re.compile(r"[^\s./,:-]+")
DATE_PARTS = 3
SHOWN_CHARS_MAX = 100
PAGE_EDGE = re.compile(rb"<style:((header|footer)(?:-left|-first)?)(?:\s[^>]{0,500})?>")
PAGE_FIELD = re.compile(rb"<text:(?:page-|sheet-|file-|title|date|time)")
TAG = re.compile(rb"<[^>]{0,500}>")
EDGE_BYTES_MAX = 10_000
ROW_TAGS = (f"{TABLE}table-row",)
CELL_TAGS = (f"{TABLE}table-cell", f"{TABLE}covered-table-cell")
REPEATS_MAX = 2_000
PERCENT = parse_format("0%")


def read_ods_details(data: bytes, name: str) -> tuple[SheetDetails, tuple[tuple[Place, Place], ...]]:
    """The details of a sheet, and its merged ranges; none where there are none, and where the file cannot be read."""
    details, ranges = _read_content(data, name)
    return replace(details, left_out=(*details.left_out, *_page_edges(data))), ranges


def _page_edges(data: bytes) -> tuple[Omission, ...]:
    """The words in headers and footers of pages, without lines that number the pages or name the sheet."""
    omissions = Omissions()
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive, archive.open("styles.xml") as stream:
            xml = stream.read(PART_BYTES_MAX)
    except ARCHIVE_ERRORS:
        return ()
    for match in PAGE_EDGE.finditer(xml):
        end = xml.find(b"</style:" + match[1], match.end(), match.end() + EDGE_BYTES_MAX)
        for line in xml[match.end() : end].split(b"</text:p>") if b'display="false"' not in match[0] else ():
            words = " ".join(html.unescape(TAG.sub(b" ", line).decode(errors="replace")).split())
            if words and not PAGE_FIELD.search(line):
                omissions.add(f"page {match[2].decode()}", place=f"“{words}”")
    return omissions.all()


def _read_content(data: bytes, name: str) -> tuple[SheetDetails, tuple[tuple[Place, Place], ...]]:
    etree = import_optional("lxml.etree")
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive, archive.open("content.xml") as stream:
            xml = stream.read(SHEET_BYTES_MAX + 1)
        if len(xml) > SHEET_BYTES_MAX or not SIGNS.search(xml):
            return NO_DETAILS, ()
        styles = _Styles()
        for _, element in etree.iterparse(
            BytesIO(xml),
            events=("end",),
            tag=(f"{TABLE}table", f"{STYLE}style"),
            resolve_entities=False,
            no_network=True,
        ):
            if element.tag == f"{STYLE}style":
                styles.add(element)
            elif element.get(f"{TABLE}name") == name:
                return _details(element, styles)
    except (*ARCHIVE_ERRORS, etree.XMLSyntaxError):
        pass
    return NO_DETAILS, ()


@dataclass(slots=True)
class _Styles:
    """The names of styles that say more than how words look."""

    raised: set[str] = field(default_factory=set)
    lowered: set[str] = field(default_factory=set)
    struck: set[str] = field(default_factory=set)

    def add(self, style: Any) -> None:
        name = style.get(f"{STYLE}name") or ""
        for properties in style.iterchildren(f"{STYLE}text-properties"):
            position = (properties.get(f"{STYLE}text-position") or "").split(" ")[0]
            if position == "super" or (position[:-1].isdigit() and position != "0%"):
                self.raised.add(name)
            elif position == "sub" or position.startswith("-"):
                self.lowered.add(name)
            lines = (properties.get(f"{STYLE}text-line-through-{kind}") for kind in ("style", "type"))
            if any(line not in (None, "none") for line in lines):
                self.struck.add(name)


def _details(table: Any, styles: _Styles) -> tuple[SheetDetails, tuple[tuple[Place, Place], ...]]:
    details = SheetDetails(hidden_columns=tuple(_hidden_columns(table)))
    formulas, ranges, invisible_rows = list[Place](), list[tuple[Place, Place]](), list[int]()
    omissions = _omissions(table)
    for row, element in _rows(table):
        if element.get(f"{TABLE}visibility") in ("collapse", "filter"):
            invisible_rows.append(row)
        for column, cell in _cells(element):
            place = row, column
            if (error := _error(cell)) is not None:
                details.errors[place] = error
            elif len(details.formats) < FORMATTED_CELLS_MAX and (cell_format := _format(cell)):
                details.formats[place] = cell_format
            if cell.get(f"{TABLE}style-name") in styles.struck and len(cell):
                omissions.add("cell that is struck out", place=cell_name(place))
                details.texts[place] = ""
            elif cell.get(f"{OFFICE}value-type") == "string" and any(
                len(part) for part in cell.iterchildren(f"{TEXT}p")
            ):
                details.texts[place] = _CellWords(styles, omissions, place).text(cell)
            width, height = (_number(cell, f"number-{name}-spanned") for name in ("columns", "rows"))
            if width * height > 1:
                ranges.append((place, (row + height - 1, column + width - 1)))
            if cell.get(f"{TABLE}formula") and cell.get(f"{OFFICE}value-type") is None and not len(cell):
                formulas.append(place)
    return replace(
        details, empty_formulas=tuple(formulas), hidden_rows=tuple(invisible_rows), left_out=omissions.all()
    ), tuple(ranges)  # fmt: skip


def _omissions(table: Any) -> Omissions:
    omissions = Omissions()
    for kind, tag in (
        ("comment", f"{OFFICE}annotation"),
        ("picture", f"{DRAW}image"),
        ("embedded object", f"{DRAW}object"),
        ("form field", f"{DRAW}control"),
    ):
        if count := sum(1 for _ in table.iter(tag)):
            omissions.add(kind, count=count)
    for shape in table.iter(f"{DRAW}*"):
        words = " ".join(" ".join(part.itertext()) for part in shape.iterchildren(f"{TEXT}p"))
        if words.strip():
            omissions.add(DRAWN_TEXT, place=f"“{' '.join(words.split())}”")
    return omissions


def _hidden_columns(table: Any) -> Iterator[int]:
    number = 0
    for column in table.iter(f"{TABLE}table-column"):
        repeats = _number(column, "number-columns-repeated")
        if column.get(f"{TABLE}visibility") in ("collapse", "filter"):
            yield from range(number, min(number + repeats, HIDDEN_COLUMNS_MAX))
        number += repeats


@dataclass(frozen=True, slots=True)
class _CellWords:
    """Writes the text of a cell whose words are set in several ways."""

    styles: _Styles
    omissions: Omissions
    place: Place

    def text(self, cell: Any) -> str:
        return "\n".join(self._words(paragraph, "") for paragraph in cell.iterchildren(f"{TEXT}p"))

    def _words(self, element: Any, before: str) -> str:
        words = element.text or ""
        for child in element:
            words += self._child(child, before + words) + (child.tail or "")
        return words

    def _child(self, child: Any, before: str) -> str:
        tag = child.tag if isinstance(child.tag, str) else ""
        if tag == f"{TEXT}s":
            return " " * min(_number(child, "c", space=TEXT), SHOWN_CHARS_MAX)
        if tag in (f"{TEXT}line-break", f"{TEXT}tab"):
            return "\n" if tag.endswith("break") else "\t"
        if not tag.startswith(TEXT):  # a comment or a drawing, which is listed
            return ""
        if tag == f"{TEXT}ruby-text":
            return f"({self._words(child, '')})"
        words, style = self._words(child, before), child.get(f"{TEXT}style-name")
        if style in self.styles.struck:
            self.omissions.add("passage that is struck out", place=cell_name(self.place))
            return ""
        if style in self.styles.raised:
            return raise_words(words, before=before)
        return lower_words(words) if style in self.styles.lowered else words


def _rows(table: Any) -> Iterator[tuple[int, Any]]:
    """The rows with their numbers; a row that is repeated more often than any person repeats one counts a few times."""
    number = 0
    for element in table.iter(*ROW_TAGS):
        repeats = _number(element, "number-rows-repeated")
        for n in range(min(repeats, REPEATS_MAX)):
            yield number + n, element
        number += repeats


def _cells(row: Any) -> Iterator[tuple[int, Any]]:
    number = 0
    for element in row.iterchildren(*CELL_TAGS):
        repeats = _number(element, "number-columns-repeated")
        for n in range(min(repeats, REPEATS_MAX) if len(element) else 1):  # an empty cell shows nothing
            yield number + n, element
        number += repeats


def _number(element: Any, name: str, *, space: str = TABLE) -> int:
    words = element.get(f"{space}{name}") or "1"
    return max(1, int(words)) if words.isascii() and words.isdigit() else 1


def _error(cell: Any) -> str | None:
    """The name of an error that a formula gave: its value is 0 or an empty text then."""
    is_error = any(value == "error" for key, value in cell.attrib.items() if key.endswith("}value-type"))
    if not is_error and not cell.get(f"{TABLE}formula"):
        return None
    text = _shown_text(cell)
    return text if ERROR.fullmatch(text) else "#ERROR!" if is_error and not text else None


def _format(cell: Any) -> CellFormat | None:
    kind, currency = cell.get(f"{OFFICE}value-type"), cell.get(f"{OFFICE}currency")
    if kind == "percentage":
        return PERCENT
    if kind == "currency" and currency:
        return fixed_format(suffix=f" {currency}")
    text = _shown_text(cell) if kind in ("float", "date", "currency") else ""
    if not text or len(text) > SHOWN_CHARS_MAX:
        return None
    if kind == "date":
        return fixed_text(text) if len(DATE_PART.findall(text)) < DATE_PARTS else None
    return _number_format(text, cell.get(f"{OFFICE}value") or "")


def _number_format(text: str, value: str) -> CellFormat | None:
    """What a sheet shows beside a number, by its shown text; the text itself where it is another number."""
    if not (match := SHOWN_NUMBER.fullmatch(text)):
        return None if _as_number(text) == _as_number(value) else fixed_text(text)
    digits = re.sub(r"[\s'’]", "", match["digits"])
    points = (digits.replace(",", ""), digits.replace(".", "").replace(",", "."))
    numbers = [number for words in points if (number := _as_number(words)) is not None]
    exact = _as_number(value)
    if exact is None or not any(_is_rounded(abs(exact), number) for number in numbers):
        return fixed_text(text)
    prefix, suffix = (
        match[part].replace("-", "").replace("−", "").strip("()") for part in ("prefix", "suffix")
    )
    zeros = len(re.split("[.,]", digits)[0]) if re.match("0[0-9]", digits) else 0
    return (
        fixed_format(prefix.lstrip(), suffix.rstrip(), digits_min=zeros)
        if prefix.strip() or suffix.strip() or zeros
        else None
    )


def _as_number(words: str) -> Decimal | None:
    try:
        number = Decimal(words.replace(",", "."))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _is_rounded(exact: Decimal, shown: Decimal) -> bool:
    exponent = shown.as_tuple().exponent
    return isinstance(exponent, int) and abs(exact - shown) <= Decimal(5).scaleb(exponent - 1)


def _shown_text(cell: Any) -> str:
    return " ".join("".join(part.itertext()) for part in cell.iterchildren(f"{TEXT}p")).strip()
