"""The rows of a Word table, with what was deleted left out and merged cells repeated."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from chiron_workers.documents.docx_elements import DELETION, W
from chiron_workers.documents.docx_styles import is_on
from chiron_workers.documents.spacing import set_line

if TYPE_CHECKING:
    from chiron_workers.documents.docx_writer import Writer

SPAN_MAX = 100
ROWS, CELLS = frozenset((f"{W}tr",)), frozenset((f"{W}tc",))
INNER_TABLE = f"{W}tbl"


def table_lines(table: Any, writer: "Writer") -> Iterator[str]:
    """The rows of a table, each a line: merged cells stand in each row and column that they reach over."""
    above: list[str | None] = []
    for row in writer.below(table, ROWS):
        if isinstance(row, str):
            yield set_line(row)
            continue
        if row.find(f"{W}trPr/{W}del") is not None:
            writer.leave_out(DELETION.kind)
            continue
        if is_on(row.find(f"{W}trPr/{W}hidden")):
            writer.leave_out("hidden row")
            continue
        above, count = _row(row, above, writer)
        cells = [words for words in above if words is not None]
        # A cell that reaches over the whole table stands once.
        yield (cells[-1] if cells else "") if count == 1 else " | ".join(cells)


def _row(row: Any, above: list[str | None], writer: "Writer") -> tuple[list[str | None], int]:
    """The words of a row by their columns, None for cells that were deleted, and how many cells stand in it."""
    line: list[str | None] = [""] * _number(row.find(f"{W}trPr/{W}gridBefore"), 0)
    count = 0
    for cell in writer.below(row, CELLS):
        count += 1
        if isinstance(cell, str):
            line.append(set_line(cell))
            continue
        width = _number(cell.find(f"{W}tcPr/{W}gridSpan"), 1)
        if cell.find(f"{W}tcPr/{W}cellDel") is not None:
            writer.leave_out(DELETION.kind)
            line += [None] * width
            continue
        words = set_line(_cell(cell, writer))
        if _continues(cell, "vMerge") and len(line) < len(above):
            words = above[len(line)] or ""
        elif _continues(cell, "hMerge") and line:
            words = line[-1] or ""
        line += [words] * width
    return line, count


def _cell(cell: Any, writer: "Writer") -> str:
    # A table in a cell has its own marks, so that its cells are not taken for those of the outer one.
    if cell.find(f".//{INNER_TABLE}") is None:
        return " ".join(writer.lines(cell))
    parts = list[str]()
    for part in writer.parts_of(cell):
        if isinstance(part, str):
            parts.append(part)
        else:
            parts.append("; ".join(line.replace(" | ", ", ") for line in table_lines(part, writer)))
    return " ".join(part for part in parts if part.strip())


def _continues(cell: Any, merge: str) -> bool:
    element = cell.find(f"{W}tcPr/{W}{merge}")
    return element is not None and element.get(f"{W}val", "continue") == "continue"


def _number(element: Any | None, default: int) -> int:
    words = element.get(f"{W}val", "") if element is not None else ""
    return max(0, min(int(words), SPAN_MAX)) if words.isascii() and words.isdigit() else default
