"""Tables of HTML with every cell in its column: merged cells repeated, captions before them."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

SPAN_MAX = 100
COPIED_CHARS_MAX = 300  # of a merged cell; a longer one stands once
COPIES_MAX = 20_000  # in one page


def rewrite_tables(tree: Any) -> None:
    """Repeat merged cells in all rows and columns that they reach over, and move captions before their tables."""
    copies_left = COPIES_MAX
    for table in list(tree.iter("table")):
        if table.get("role") in ("presentation", "none"):
            continue
        _move_caption(table)
        copies_left -= _repeat_merged_cells(list(_rows(table)), copies_left)
        for cell in table.iter("td", "th"):
            _clear_spans(cell)  # Where there were too many to repeat, nobody else shall try.


def _move_caption(table: Any) -> None:
    caption = table.find("caption")
    if caption is None or table.getparent() is None:
        return
    caption.tail = None
    if not "".join(caption.itertext()).strip():
        table.remove(caption)
        return
    caption.tag = "p"
    table.addprevious(caption)


def _rows(table: Any) -> Iterator[Any]:
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from child.iterchildren("tr")


def _repeat_merged_cells(rows: list[Any], copies_left: int) -> int:
    """How many cells were added."""
    width = max((sum(_span(cell, "colspan") for cell in _cells(row)) for row in rows), default=0)
    copies = 0
    # A cell from above, and in how many more rows it stands, by its column.
    spans: dict[int, tuple[Any, int]] = {}
    for row in rows:
        cells, column, below = list(_cells(row)), 0, dict[int, tuple[Any, int]]()
        is_band = len(cells) == 1 and not spans and _span(cells[0], "colspan") >= width > 1
        line: list[Any] = []
        while cells or column in spans:
            if column in spans:
                source, rows_left = spans.pop(column)
                cell, columns = _copy(source), 1
            else:
                cell = source = cells.pop(0)
                rows_left, columns = _span(cell, "rowspan"), 1 if is_band else _span(cell, "colspan")
                _clear_spans(cell)
            for offset in range(columns):
                line.append(cell if offset == 0 else _copy(source))
                if rows_left > 1:
                    below[column + offset] = source, rows_left - 1
            column += columns
        if copies + len(line) > copies_left:
            return copies
        copies += len(line) - len(list(_cells(row)))
        for cell in _cells(row):
            row.remove(cell)
        row.extend(line)
        spans = below
    return copies


def _cells(row: Any) -> list[Any]:
    return [cell for cell in row if cell.tag in ("td", "th")]


def _span(cell: Any, name: str) -> int:
    words = (cell.get(name) or "").strip()
    number = int(words) if words.isascii() and words.isdigit() and len(words) < 6 else 1
    if number == 0 and name == "rowspan":
        return SPAN_MAX
    return max(1, min(number, SPAN_MAX))


def _clear_spans(cell: Any) -> None:
    for name in ("colspan", "rowspan"):
        cell.attrib.pop(name, None)


def _copy(cell: Any) -> Any:
    is_long = len("".join(cell.itertext())) > COPIED_CHARS_MAX or cell.find(".//table") is not None
    copy = cell.makeelement(cell.tag) if is_long else deepcopy(cell)
    copy.tail = None
    _clear_spans(copy)
    return copy
