from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from io import BytesIO
from typing import Any

from chiron_workers.documents.document import UnreadableError, clean, import_optional
from chiron_workers.documents.omissions import Omission

CELLS_MAX = 5_000_000
MIDNIGHT = time()

Cell = int | float | str | bool | date | datetime | time | timedelta | None


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet of a workbook from row 1 on; cells keep their types, an empty cell is None. `left_out` is what is in no row."""

    name: str
    rows: list[list[Cell]]
    left_out: tuple[Omission, ...] = ()


def sheet_names(data: bytes) -> tuple[str, ...]:
    """The names of a workbook's sheets (xlsx, xlsb, xls, ods), in order. Raises UnreadableError."""
    return tuple(_workbook(data).sheet_names)


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
        return Sheet(
            sheet_name, [[_cell(value) for value in row] for row in sheet.to_python(skip_empty_area=False)]
        )
    except calamine.CalamineError:
        raise UnreadableError(f"its sheet {sheet_name!r} is broken") from None


def _workbook(data: bytes) -> Any:
    calamine = import_optional("python_calamine")
    try:
        return calamine.CalamineWorkbook.from_filelike(BytesIO(data))
    except calamine.PasswordError:
        raise UnreadableError("it is encrypted and needs a password") from None
    except (calamine.CalamineError, OSError, ValueError):
        raise UnreadableError("it is no whole workbook") from None


def _cell(value: Any) -> Cell:
    if isinstance(value, str):
        return clean(value) or None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)  # Spreadsheets store integers as floats.
    return value  # type: ignore[no-any-return]


def cell_text(value: Cell) -> str:
    """Format a cell as text: dates as ISO 8601, booleans in lower case, an empty cell as an empty string."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ") if value.time() != MIDNIGHT else value.date().isoformat()
    return value.isoformat() if isinstance(value, date | time) else str(value)
