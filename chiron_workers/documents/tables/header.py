"""Which rows of a table name its columns: titles may stand above them, and they may be two."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

SAMPLE_ROWS = 200  # of the body, whose cells tell what a header is
TITLE_ROWS_MAX = 20
TITLE_CHARS_MAX = 200
UNIT_CHARS_MAX = 12
NUMBER = re.compile(r"[+-]?[0-9][0-9.,  ']*%?|[0-9]{4}-[0-9]{2}-[0-9]{2}.*")
YEAR = re.compile(r"(?:1[5-9]|20|21)[0-9]{2}")
NO_VALUES = frozenset(
    {"", "-", "–", "—", ".", "..", "...", "n/a", "na", "nan", "null", "none", "unknown", "*", "x", ":", "?"}
)
NUMERIC_SHARE_MIN = 0.6  # of the cells of a column that says what its header is not


@dataclass(frozen=True, slots=True)
class Header:
    """The names of the columns, and where they stand: `rows` counts from 1. `titles` are the words above them."""

    names: tuple[str, ...]
    rows: tuple[int, ...] = (1,)
    titles: tuple[str, ...] = ()

    @property
    def last_row(self) -> int:
        """The row behind which the table has its values."""
        return self.rows[-1]

    def note(self) -> str:
        """Where the names were found, in a sentence; empty where the first row has them."""
        if self.rows == (1,):
            return ""
        rows = " and ".join(map(str, self.rows))
        titles = f" Above stands: {'; '.join(self.titles)}." if self.titles else ""
        return f"The names of the columns are those of row{'s' * (len(self.rows) > 1)} {rows}.{titles}"


def find_header(rows: Sequence[Sequence[str]]) -> Header:
    """The header of a table whose first rows these are, some 200 of them.

    It is the first row that has cells, unless rows with a single text stand above wider ones, as titles do. The next row
    belongs to it if the first has gaps or repetitions, as groups have, and the next one has words where the values are numbers.
    """
    first = next((n for n, row in enumerate(rows) if any(cell.strip() for cell in row)), 0)
    first = _below_titles(rows, first)
    titles = [_words(row) for row in rows[:first] if any(cell.strip() for cell in row)]
    row, body = list(rows[first]) if rows else [], rows[first + 1 :]
    if body and _is_second_row(row, body[0], body[1 : SAMPLE_ROWS + 1]):
        names = _joined(row, body[0])
        return Header(tuple(names), (first + 1, first + 2), tuple(titles))
    return Header(tuple(row), (first + 1,), tuple(titles))


def _below_titles(rows: Sequence[Sequence[str]], first: int) -> int:
    """The row below the titles; the first one if there are none."""
    head = rows[first : first + TITLE_ROWS_MAX]
    titles = len(list(takewhile(_is_title, head)))
    below = next((n for n in range(first + titles, len(rows)) if any(cell.strip() for cell in rows[n])), None)
    if not titles or below is None:
        return first
    # A table of one column has no titles: what follows them is wider, and goes on so.
    is_wide = [
        sum(bool(cell.strip()) for cell in row) > 1
        for row in rows[below : below + SAMPLE_ROWS]
        if any(cell.strip() for cell in row)
    ]
    return below if is_wide[0] and 2 * sum(is_wide) > len(is_wide) else first


def _is_title(row: Sequence[str]) -> bool:
    """Whether a row is empty, or has one text at its beginning; a merged title has the same one in all its cells."""
    cells = [cell.strip() for cell in row]
    texts = {cell for cell in cells if cell}
    is_words = all(YEAR.fullmatch(text) or not NUMBER.fullmatch(text) for text in texts)
    return len(texts) <= 1 and (not texts or bool(cells[0])) and is_words


def _is_second_row(row: Sequence[str], second: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    width = max(len(row), len(second))
    upper, lower = _padded(row, width), _padded(second, width)
    names = [cell for cell in upper if cell]
    has_groups = len(set(names)) < len(upper) and (len(names) > 1 or not upper[0])
    is_units = not lower[0] and all(len(cell) <= UNIT_CHARS_MAX for cell in lower)
    numeric = [n for n in range(width) if _is_numeric([_cell(line, n) for line in body])]
    if not body or not numeric or not names or not (has_groups or is_units):
        return False
    # Each column of numbers has a name in the second row that is none of its values, or one in the first row alone.
    is_named = [bool(lower[n]) and _is_name(lower[n], [_cell(line, n) for line in body]) for n in numeric]
    has_own_name = [not lower[n] and bool(upper[n]) for n in numeric]
    # Of a column without numbers the second row may repeat the first, or say nothing.
    word_columns = [n for n in range(width) if n not in numeric]
    is_label = all(
        not lower[n] or lower[n] == upper[n] or not _is_in(lower[n], body, n) for n in word_columns
    )
    return any(is_named) and all(a or b for a, b in zip(is_named, has_own_name, strict=True)) and is_label


def _joined(row: Sequence[str], second: Sequence[str]) -> list[str]:
    """One name for each column: that of the group, which goes on over the gaps to its right, and that below it."""
    width = max(len(row), len(second))
    upper, lower = _padded(row, width), _padded(second, width)
    names, group = list[str](), ""
    for above, below in zip(upper, lower, strict=True):
        group = above or (group if below else "")
        names.append(group if group == below else f"{group} {below}".strip())
    return names


def _is_name(text: str, values: Sequence[str]) -> bool:
    # Years name columns, too, below a group.
    is_word = not NUMBER.fullmatch(text) or bool(
        YEAR.fullmatch(text) and not any(map(YEAR.fullmatch, values))
    )
    return is_word and text.lower() not in NO_VALUES and text not in values


def _is_numeric(values: Sequence[str]) -> bool:
    cells = [value for value in values if value.lower() not in NO_VALUES]
    numbers = sum(bool(NUMBER.fullmatch(value)) for value in cells)
    return bool(cells) and numbers >= NUMERIC_SHARE_MIN * len(cells)


def _is_in(text: str, body: Sequence[Sequence[str]], column: int) -> bool:
    return any(_cell(line, column) == text for line in body)


def _cell(row: Sequence[str], column: int) -> str:
    return row[column].strip() if column < len(row) else ""


def _padded(row: Sequence[str], width: int) -> list[str]:
    return [cell.strip() for cell in row] + [""] * (width - len(row))


def _words(row: Sequence[str]) -> str:
    return " ".join(next(cell for cell in row if cell.strip()).split())[:TITLE_CHARS_MAX]
