import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from io import BytesIO
from typing import Any, TypeGuard

from chiron_workers.documents.document import UnreadableError, clean, import_optional
from chiron_workers.documents.omissions import Mark, Omission, Omissions
from chiron_workers.documents.tables.cell_formats import duration_text
from chiron_workers.documents.tables.ods_details import read_ods_details
from chiron_workers.documents.tables.places import Place
from chiron_workers.documents.tables.sheet_details import NO_DETAILS, SheetDetails, read_details

CELLS_MAX = 5_000_000
MIDNIGHT = time()
XLSX_PART = b"xl/workbook.xml"
ODS_MIMETYPE, ODS_HEAD_BYTES = b"application/vnd.oasis.opendocument.spreadsheet", 200
ODS_DURATION = re.compile(r"(-?)PT(\d{1,9})H(\d{1,2})M(\d{1,2}(?:[.,]\d{1,9})?)S")
# Formats of xls and xlsb are not read.
OLD_DETAILS = SheetDetails(left_out=(Omission("set of cell formats (such as % and currencies)", 1),))

Cell = int | float | str | bool | date | datetime | time | timedelta | None


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet of a workbook from row 1 on; cells keep their types, an empty cell is None.

    Each cell of a merged range has the value of the range. An error and a formula without a value are None; `details` has them.
    """

    name: str
    rows: list[list[Cell]]
    details: SheetDetails = NO_DETAILS
    merged_ranges: tuple[tuple[Place, Place], ...] = ()
    is_hidden: bool = False

    def shown_rows(self) -> list[list[str]]:
        """The rows as the sheet shows them: `7.5%` for 0.075 where that is its format, errors by their names."""
        rows = [[cell_text(cell) for cell in row] for row in self.rows]
        details = self.details
        for (row, column), cell_format in details.formats.items():
            if row < len(rows) and column < len(rows[row]):
                value = self.rows[row][column]
                if is_shown_by_format(value) and (text := cell_format.shown(value)) is not None:
                    rows[row][column] = text
        texts = {**details.errors, **dict.fromkeys(details.empty_formulas, Mark.FORMULA.text)}
        for (row, column), text in texts.items():
            if row < len(rows) and column < len(rows[row]) and not rows[row][column]:
                rows[row][column] = text
        return rows


def sheet_names(data: bytes) -> tuple[str, ...]:
    """The names of a workbook's sheets (xlsx, xlsb, xls, ods), in order. Raises UnreadableError."""
    return tuple(_workbook(data).sheet_names)


def hidden_sheets(data: bytes) -> tuple[str, ...]:
    """The names of the sheets that a workbook does not show."""
    return tuple(sheet.name for sheet in _workbook(data).sheets_metadata if not _is_visible(sheet))


def unread_sheets(data: bytes) -> tuple[Omission, ...]:
    """The sheets of a workbook that have no cells: those of a chart, and of old macros and dialogs."""
    omissions = Omissions()
    for sheet in _workbook(data).sheets_metadata:
        kind = str(sheet.typ).rpartition(".")[2].removesuffix("Sheet").lower()
        if kind != "work":
            omissions.add(
                f"sheet with a {kind}" if kind != "vba" else "sheet with a macro", place=f"sheet {sheet.name}"
            )
    return omissions.all()


def read_sheet(data: bytes, name: str = "") -> Sheet:
    """Read one sheet of a workbook; the first if `name` is empty.

    Raises:
        UnreadableError: It is broken or encrypted, has no such sheet, or the sheet has more than 5,000,000 cells.
    """
    calamine = import_optional("python_calamine")
    workbook = _workbook(data)
    names = workbook.sheet_names
    sheet_name = name or (names[0] if names else "")
    if sheet_name not in names:
        raise UnreadableError(
            f"it has no sheet {name!r}; its sheets are {', '.join(map(repr, names)) or 'none'}"
        )
    try:
        sheet = workbook.get_sheet_by_name(sheet_name)
        if sheet.total_height * sheet.total_width > CELLS_MAX:
            raise UnreadableError(f"its sheet {sheet_name!r} has more than {CELLS_MAX:,} cells")
        rows = [[_cell(value) for value in row] for row in sheet.to_python(skip_empty_area=False)]
        ranges = tuple(sheet.merged_cell_ranges or ())
        is_hidden = any(
            entry.name == sheet_name and not _is_visible(entry) for entry in workbook.sheets_metadata
        )
    except calamine.CalamineError:
        raise UnreadableError(f"its sheet {sheet_name!r} is broken") from None
    details = read_details(data, sheet_name) if XLSX_PART in data else NO_DETAILS
    if ODS_MIMETYPE in data[:ODS_HEAD_BYTES]:
        details, ranges = read_ods_details(data, sheet_name)
        rows = [[_ods_duration(cell) for cell in row] for row in rows]
    elif details is NO_DETAILS:
        details = OLD_DETAILS
    for (row, column), text in {**details.texts, **dict.fromkeys(details.errors, "")}.items():
        if row < len(rows) and column < len(rows[row]):
            rows[row][column] = clean(text) or None
    _repeat_merged(rows, ranges)
    return Sheet(sheet_name, rows, details, ranges, is_hidden)


def _workbook(data: bytes) -> Any:
    calamine = import_optional("python_calamine")
    try:
        return calamine.CalamineWorkbook.from_filelike(BytesIO(data))
    except calamine.PasswordError:
        raise UnreadableError("it is encrypted and needs a password") from None
    except (calamine.CalamineError, OSError, ValueError):
        raise UnreadableError("it is no whole workbook") from None


def _is_visible(sheet: Any) -> bool:
    return str(sheet.visible).endswith("Visible")


def _ods_duration(cell: Cell) -> Cell:
    if not isinstance(cell, str) or not (match := ODS_DURATION.fullmatch(cell)):
        return cell
    duration = timedelta(
        hours=int(match[2]), minutes=int(match[3]), seconds=float(match[4].replace(",", "."))
    )
    return -duration if match[1] else duration


def _repeat_merged(rows: list[list[Cell]], ranges: tuple[tuple[Place, Place], ...]) -> None:
    cells_left = CELLS_MAX
    for (top, left), (bottom, right) in ranges:
        if top >= len(rows) or left >= len(rows[top]) or (value := rows[top][left]) is None:
            continue
        for row in rows[top : bottom + 1]:
            end = min(right + 1, len(row))
            row[left:end] = [value] * (end - left)
            cells_left -= end - left
        if cells_left <= 0:
            return


def _cell(value: Any) -> Cell:
    if isinstance(value, str):
        # Of a sheet with a million cells nearly all have nothing to clean.
        return value if value.isascii() and value.isprintable() and value else clean(value) or None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)  # Spreadsheets store integers as floats.
    return value  # type: ignore[no-any-return]


def is_shown_by_format(value: Cell) -> TypeGuard[float | date]:
    """Whether a value is a number or a date, which the format of its cell shows in its own way."""
    return isinstance(value, int | float | date) and not isinstance(value, bool)


def cell_text(value: Cell) -> str:
    """Format a cell as text: dates as ISO 8601, durations as hours and minutes, booleans in lower case, an empty cell as an
    empty string."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, timedelta):
        return duration_text(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ") if value.time() != MIDNIGHT else value.date().isoformat()
    return value.isoformat() if isinstance(value, date | time) else str(value)
