"""Which rows of a table name its columns: titles may stand above them, and they may be two."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

SAMPLE_ROWS = 200  # of the body, whose cells tell what a header is
TITLE_ROWS_MAX = 20
TITLE_CHARS_MAX = 200
NAME_CHARS_MAX = 60  # of a name in a second row
TITLE_WORDS_MIN = 3
NUMBER = re.compile(r"[+-]?[0-9][0-9.,  ']*%?|[0-9]{4}-[0-9]{2}-[0-9]{2}.*")
YEAR = re.compile(r"(?:1[5-9]|20|21)[0-9]{2}(?:[-/–](?:[0-9]{2}){1,2})?")
NO_VALUE = r"|[-–—.*x:?]|\.\.\.?|n/a|nan?|null|none|unknown|nil|nd|n/d|n\.a\.|n\.d\.|k\.a\.|s\.d\.|missing"
NO_VALUES = re.compile(NO_VALUE, re.IGNORECASE)
# What stands in place of a number where none was measured, or only its kind: a value, and no name of a column.
VALUE_WORDS = re.compile(
    rf"{NO_VALUE}|tr\.?|traces?|neg\.?|negative|pos\.?|positive|b[dl][ld]|lo[dq]|n\.?[qs]\.?|absent|present|yes|no|true|false|ja|nein"
    r"|oui|non|low|high|ok|fail|pass|zero|\++",
    re.IGNORECASE,
)
# Digits belong to a name behind a letter: Q1, m2, 10^3 do not begin with one.
NAME = re.compile(r"(?:[^0-9<>≤≥~≈±=]*[^\W\d_]\^?-?[0-9]{1,2}(?![0-9]))*[^0-9<>≤≥~≈±=]*")
# Units that may stand in a row of their own below the names. A row with anything else in it is one of values.
UNIT = (
    r"(?:da|[YZEPTGMkhdcmµμunpf])?(?:m|g|s|A|K|mol|cd|Hz|N|Pa|J|W|C|V|F|Ω|S|T|lm|lx|Bq|Gy|Sv|l|L|t|eV|bar|cal|Wh|B|bit|ha|M|Da|VA|Ah)"
    r"|%|‰|°|[°º][CF]|deg|sec|min|h|hr|hrs|d|a|y|yr|yrs|(?:second|minute|hour|day|week|month|year)s?|Jahre?|Tage?|in|inch|ft|yd|mi|lbs?|oz|gal"
    r"|kn|kt|mph|rpm|pH|ppm|ppb|ppt|psu|PSU|NTU|dBA?|[€$£¥]|EUR|USD|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CAD|AUD"
    r"|Mio\.?|Mrd\.?|Tsd\.?|millions?|billions?|thousands?|persons|people|inhabitants|Einwohner|Personen|pcs|pieces|St(?:ü|ue)ck|Stk\.?|1"
)
UNITS = re.compile(
    rf"(?P<open>[\[(])?(?:{UNIT})(?:\^?[-−]?[123]|[²³])?(?:\s?[/·* ]\s?(?:{UNIT})(?:\^?[-−]?[123]|⁻?[¹²³])?){{0,3}}(?(open)[\])])"
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

    It is the first row that has cells, unless rows stand above wider ones as titles do: with a single text, or with fewer cells
    than the table has columns. The next row belongs to it if it names the columns of groups in the first, or has units.
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
    usual = _usual_width(rows[first : first + TITLE_ROWS_MAX + SAMPLE_ROWS])
    head = rows[first : first + TITLE_ROWS_MAX]
    titles = len(list(takewhile(_is_title, head)))
    below = _next_filled(rows, first + titles)
    # A title may have a comma in it, and so be cut into cells.
    while below is not None and below < first + TITLE_ROWS_MAX and _is_narrow(rows, below, usual):
        below = _next_filled(rows, below + 1)
    if below is None or below == first:
        return first
    # A table of one column has no titles: the rows after a title are wider.
    is_wide = [_filled(row) > 1 for row in rows[below : below + SAMPLE_ROWS] if _filled(row)]
    is_table = is_wide[0] and 2 * sum(is_wide) > len(is_wide)
    return below if is_table and _has_names(rows, first, below) else first


def _has_names(rows: Sequence[Sequence[str]], first: int, below: int) -> bool:
    """Whether the row below titles has names, and no values: else it is one of the table, and what stands above it a name."""
    names, body = _padded(rows[below], 0), rows[below + 1 : below + 1 + SAMPLE_ROWS]
    words = [name for name in names if name and not NUMBER.fullmatch(name)]
    if below > first + 1 and not _filled(rows[below - 1]):  # an empty row tells titles from the table
        return bool(words)
    numeric = [n for n in range(len(names)) if names[n] and _is_numeric([_cell(row, n) for row in body])]
    if numeric:
        return all(_is_name(names[n], [_cell(row, n) for row in body]) for n in numeric)
    # Without numbers nothing tells names from values but a title that is a sentence.
    return bool(words) and len(_words(rows[first]).split()) >= TITLE_WORDS_MIN


def _is_title(row: Sequence[str]) -> bool:
    """Whether a row is empty, or has one text at its beginning; a merged title has the same one in all its cells."""
    cells = [cell.strip() for cell in row]
    texts = {cell for cell in cells if cell}
    is_words = all(YEAR.fullmatch(text) or not NUMBER.fullmatch(text) for text in texts)
    return len(texts) <= 1 and (not texts or bool(cells[0])) and is_words


def _is_narrow(rows: Sequence[Sequence[str]], place: int, usual: int) -> bool:
    """Whether a row has fewer cells than the table has columns, or has gaps at its end and an empty row behind it."""
    row = rows[place]
    filled = [bool(cell.strip()) for cell in row]
    if len(row) < usual:
        return True
    is_apart = place + 1 < len(rows) and not _filled(rows[place + 1])
    return is_apart and sum(filled) < usual and all(filled[: sum(filled)])


def _usual_width(rows: Sequence[Sequence[str]]) -> int:
    widths = Counter(len(row) for row in rows if _filled(row))
    return max(widths, key=lambda width: (widths[width], width), default=0)


def _next_filled(rows: Sequence[Sequence[str]], start: int) -> int | None:
    return next((n for n in range(start, len(rows)) if _filled(rows[n])), None)


def _filled(row: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)


def _is_second_row(row: Sequence[str], second: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    if not body or not row or len(row) < len(second):
        return False
    upper, lower = _padded(row, 0), _padded(second, len(row))
    columns = range(len(upper))
    numeric = [n for n in columns if _is_numeric([_cell(line, n) for line in body])]
    is_units = not lower[0] and all(not cell or UNITS.fullmatch(cell) for cell in lower)
    groups = _named_groups(upper, lower)
    if not numeric or not any(upper) or not (is_units or groups):
        return False
    # Each column of numbers has a name in the second row that is none of its values, or one in the first row alone.
    is_named = [bool(lower[n]) and _is_name(lower[n], [_cell(line, n) for line in body]) for n in numeric]
    has_own_name = [not lower[n] and bool(upper[n]) for n in numeric]
    # Of a column without numbers the second row may repeat the first, or name what has no name or belongs to a group. It may say
    # anything where groups have the same names below them: a first row of values would not repeat itself.
    is_label = (len(groups) > 1 and groups.count(groups[0]) == len(groups)) or all(
        not lower[n] or lower[n] == upper[n] or (_is_label(upper, n) and not _is_in(lower[n], body, n))
        for n in columns
        if n not in numeric
    )
    return any(is_named) and all(a or b for a, b in zip(is_named, has_own_name, strict=True)) and is_label


def _named_groups(upper: Sequence[str], lower: Sequence[str]) -> list[list[str]]:
    """The names below each group name (one that spans gaps or repetitions); none if a group has a name twice."""
    groups, group = dict[int, list[str]](), -1
    for n, (above, below) in enumerate(zip(upper, lower, strict=True)):
        if above and (group < 0 or above != upper[group]):
            group = n
        if group >= 0 and below:
            groups.setdefault(group, []).append(below)
    wide = [names for names in groups.values() if len(names) > 1]
    return wide if all(len(set(names)) == len(names) for names in wide) else []


def _is_label(upper: Sequence[str], column: int) -> bool:
    return not upper[column] or upper.count(upper[column]) > 1 or upper[column + 1 : column + 2] == [""]


def _joined(row: Sequence[str], second: Sequence[str]) -> list[str]:
    """One name for each column: that of its group, which spans the gaps to its right, and its own."""
    width = max(len(row), len(second))
    upper, lower = _padded(row, width), _padded(second, width)
    names, group = list[str](), ""
    for above, below in zip(upper, lower, strict=True):
        group = above or (group if below else "")
        names.append(group if group == below else f"{group} {below}".strip())
    return names


def _is_name(text: str, values: Sequence[str]) -> bool:
    # Years name columns, too, below a group.
    if YEAR.fullmatch(text):
        return not any(map(YEAR.fullmatch, values))
    is_name = len(text) <= NAME_CHARS_MAX and bool(NAME.fullmatch(text) or UNITS.fullmatch(text))
    return is_name and not VALUE_WORDS.fullmatch(text) and text not in values


def _is_numeric(values: Sequence[str]) -> bool:
    cells = [value for value in values if not NO_VALUES.fullmatch(value)]
    numbers = sum(bool(NUMBER.fullmatch(value)) for value in cells)
    return bool(cells) and numbers >= NUMERIC_SHARE_MIN * len(cells)


def _is_in(text: str, body: Sequence[Sequence[str]], column: int) -> bool:
    return any(_cell(line, column) == text for line in body)


def _cell(row: Sequence[str], column: int) -> str:
    return row[column].strip() if column < len(row) else ""


def _padded(row: Sequence[str], width: int) -> list[str]:
    return [cell.strip() for cell in row] + [""] * (width - len(row))


def _words(row: Sequence[str]) -> str:
    """The words of a title, once where its cells are merged."""
    cells = dict.fromkeys(" ".join(cell.split()) for cell in row if cell.strip())
    return ", ".join(cells)[:TITLE_CHARS_MAX]
