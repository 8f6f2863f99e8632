"""What a person sees in a sheet and the values of its cells do not say, in sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta

from chiron_workers.documents.omissions import Omission, Omissions, merged
from chiron_workers.documents.tables.cell_formats import CellFormat
from chiron_workers.documents.tables.header import Header
from chiron_workers.documents.tables.places import cell_name, column_name
from chiron_workers.documents.tables.sheets import Sheet, cell_text, is_shown_by_format

NAMED_MAX = 5  # rows, columns and cells of a note


def sheet_notes(sheet: Sheet, header: Header) -> tuple[str, ...]:
    """The notes on a sheet whose values are read as a table."""
    return (*_formats(sheet, header), *_durations(sheet, header), *_gaps(sheet), *_state(sheet))


def text_notes(sheet: Sheet, hidden_sheets: Sequence[str]) -> tuple[str, ...]:
    """The notes on a sheet that is read as text, which shows formats and errors by itself."""
    names = [name for name in hidden_sheets if name != sheet.name]
    notes = [f"Hidden in the workbook: the sheet{'s' * (len(names) > 1)} {_listed(names)}."] if names else []
    return (*_state(sheet), *notes)


def sheet_omissions(sheet: Sheet) -> tuple[Omission, ...]:
    """What a sheet has and its text lacks: formulas replaced by a mark, comments, pictures, charts."""
    formulas = Omissions()
    for place in sheet.details.empty_formulas:
        formulas.add("formula without a value", place=f"sheet {sheet.name}, {cell_name(place)}")
    of_sheet = (
        Omission(
            omission.kind, omission.count, ", ".join(filter(None, [f"sheet {sheet.name}", omission.place]))
        )
        for omission in sheet.details.left_out
    )
    return merged([formulas.all(), tuple(of_sheet)])


def _formats(sheet: Sheet, header: Header) -> Iterator[str]:
    """An example for each way in which numbers of a column are shown."""
    examples: dict[tuple[int, int, object], tuple[CellFormat, float | date, int]] = {}
    for (row, column), cell_format in sheet.details.formats.items():
        if row < header.last_row or row >= len(sheet.rows) or column >= len(sheet.rows[row]):
            continue
        value = sheet.rows[row][column]
        if is_shown_by_format(value):
            way = (
                id(cell_format.section(value))
                if isinstance(value, int | float) and len(cell_format.sections) > 1
                else 0
            )
            _, first, count = examples.get((column, id(cell_format), way), (cell_format, value, 0))
            examples[column, id(cell_format), way] = cell_format, first, count + 1
    kinds: dict[tuple[int, object], tuple[str, int]] = {}
    for (column, *_), (cell_format, value, count) in examples.items():
        shown, text = cell_format.shown(value), cell_text(value)
        if shown == text:
            continue
        if shown is None:
            key: object = cell_format.code
            sentence = f"{text} is shown by `{cell_format.code}`, which is not read"
        else:
            # Formats that differ in their rounding alone are one kind.
            section = (
                cell_format.section(value) if isinstance(value, int | float) else cell_format.sections[0]
            )
            key, sentence = (
                replace(section, condition=None) if section else None,
                f"{text} is shown as {shown}",
            )
        example, cells = kinds.get((column, key), (sentence, 0))
        kinds[column, key] = example, cells + count
    for n, ((column, _), (example, count)) in enumerate(kinds.items()):
        if n == 4 * NAMED_MAX:
            yield f"{len(kinds) - n:,} more formats are not named here; file_reader shows cells with them."
            return
        yield f"{_column(header, column)}: {example} ({count:,} cell{'s' * (count > 1)} with this format)."


def _durations(sheet: Sheet, header: Header) -> Iterator[str]:
    if timedelta not in {type(cell) for row in sheet.rows for cell in row}:
        return
    columns = dict.fromkeys(
        column
        for row in sheet.rows[header.last_row :]
        for column, cell in enumerate(row)
        if isinstance(cell, timedelta)
    )
    if columns:
        names = _listed([_column(header, column) for column in columns])
        yield f"Durations in hours and minutes, as text such as 30:15: {names}."


def _gaps(sheet: Sheet) -> Iterator[str]:
    details = sheet.details
    if details.errors:
        cells = _listed([f"{cell_name(place)} {error}" for place, error in details.errors.items()])
        yield f"Errors are null here: {cells}."


def _state(sheet: Sheet) -> Iterator[str]:
    details, width = sheet.details, max(map(len, sheet.rows), default=0)
    rows = [row for row in details.hidden_rows if row < len(sheet.rows)]
    columns = [column for column in details.hidden_columns if column < width]
    if sheet.is_hidden:
        yield f"The sheet {sheet.name!r} is hidden in the workbook."
    if rows:
        yield f"Hidden in the sheet, and read here: row{'s' * (len(rows) > 1)} {_listed([str(row + 1) for row in rows])}."
    if columns:
        names = _listed(list(map(column_name, columns)))
        yield f"Hidden in the sheet, and read here: column{'s' * (len(columns) > 1)} {names}."
    if sheet.merged_ranges:
        ranges = [f"{cell_name(first)}:{cell_name(last)}" for first, last in sheet.merged_ranges]
        yield f"Merged cells, whose value is repeated in each: {_listed(ranges)}."
    if details.is_stale:
        yield "The workbook waits to be calculated: values of formulas may be missing or old."


def _column(header: Header, column: int) -> str:
    name = header.names[column] if column < len(header.names) else ""
    return f'"{" ".join(name.split())}"' if name.strip() else f"column {column_name(column)}"


def _listed(names: Sequence[str]) -> str:
    labels = ", ".join(names[:NAMED_MAX])
    return labels if len(names) <= NAMED_MAX else f"{labels} and {len(names) - NAMED_MAX:,} more"
