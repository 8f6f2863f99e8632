"""What calamine does not tell of a sheet in an OpenDocument file: percentages, currencies, merges, hidden rows, comments."""

import re
import zipfile
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from chiron_workers.documents.document import import_optional
from chiron_workers.documents.omissions import Omissions
from chiron_workers.documents.tables.cell_formats import CellFormat, fixed_format, parse_format
from chiron_workers.documents.tables.sheet_details import (
    ARCHIVE_ERRORS,
    FORMATTED_CELLS_MAX,
    NO_DETAILS,
    SHEET_BYTES_MAX,
    Place,
    SheetDetails,
)

OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
# Without one of these a sheet has nothing that calamine does not tell; to parse all cells again takes as long as to read them.
SIGNS = re.compile(
    rb'value-type="(?:percentage|currency)"|-spanned="|visibility="|<office:annotation|<draw:|formula="'
)
ROW_TAGS = (f"{TABLE}table-row",)
CELL_TAGS = (f"{TABLE}table-cell", f"{TABLE}covered-table-cell")
REPEATS_MAX = 2_000
PERCENT = parse_format("0%")


def read_ods_details(data: bytes, name: str) -> tuple[SheetDetails, tuple[tuple[Place, Place], ...]]:
    """The details of a sheet, and its merged ranges; none where there are none, and where the file cannot be read."""
    etree = import_optional("lxml.etree")
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive, archive.open("content.xml") as stream:
            xml = stream.read(SHEET_BYTES_MAX + 1)
        if len(xml) > SHEET_BYTES_MAX or not SIGNS.search(xml):
            return NO_DETAILS, ()
        tables = etree.iterparse(
            BytesIO(xml), events=("end",), tag=f"{TABLE}table", resolve_entities=False, no_network=True
        )
        table = next((table for _, table in tables if table.get(f"{TABLE}name") == name), None)
        return (NO_DETAILS, ()) if table is None else _details(table)
    except (*ARCHIVE_ERRORS, etree.XMLSyntaxError):
        return NO_DETAILS, ()


def _details(table: Any) -> tuple[SheetDetails, tuple[tuple[Place, Place], ...]]:
    formats: dict[Place, CellFormat] = {}
    formulas, ranges, invisible_rows = list[Place](), list[tuple[Place, Place]](), list[int]()
    omissions = Omissions()
    for kind, tag in (
        ("comment", f"{OFFICE}annotation"),
        ("picture", f"{DRAW}image"),
        ("embedded object", f"{DRAW}object"),
    ):
        if count := sum(1 for _ in table.iter(tag)):
            omissions.add(kind, count=count)
    for row, element in _rows(table):
        if element.get(f"{TABLE}visibility") in ("collapse", "filter"):
            invisible_rows.append(row)
        for column, cell in _cells(element):
            if (cell_format := _format(cell)) and len(formats) < FORMATTED_CELLS_MAX:
                formats[row, column] = cell_format
            width, height = (_number(cell, f"number-{name}-spanned") for name in ("columns", "rows"))
            if width * height > 1:
                ranges.append(((row, column), (row + height - 1, column + width - 1)))
            if cell.get(f"{TABLE}formula") and cell.get(f"{OFFICE}value-type") is None and not len(cell):
                formulas.append((row, column))
    details = SheetDetails(
        formats, empty_formulas=tuple(formulas), hidden_rows=tuple(invisible_rows), left_out=omissions.all()
    )
    return details, tuple(ranges)


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


def _number(element: Any, name: str) -> int:
    words = element.get(f"{TABLE}{name}") or "1"
    return max(1, int(words)) if words.isascii() and words.isdigit() else 1


def _format(cell: Any) -> CellFormat | None:
    kind, currency = cell.get(f"{OFFICE}value-type"), cell.get(f"{OFFICE}currency")
    if kind == "percentage":
        return PERCENT
    return fixed_format(suffix=f" {currency}") if kind == "currency" and currency else None
