import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.tables.header import TITLE_ROWS_MAX

DELIMITERS = (",", ";", "\t", "|")
SNIFFED_CHARS = 65_536
CELL_CHARS_MAX = 10_000_000
# Rows by which the delimiter of a table may be less even than another one, as long as half of all are even.
UNEVEN_ROWS, UNEVEN_SHARE, SHARE_MIN = 2, 0.05, 0.5
DECIMAL_LINE = re.compile(r"[+-]?[0-9.]{1,20}(?:,[0-9]{1,9})?")
# Numbers of any country, dates and marks of missing values: a wrong delimiter cuts them, or leaves two in a cell.
VALUE = re.compile(
    r"\s*(?:[+-]?[0-9][0-9.,' \u00a0\u202f]*(?:[eE][+-]?[0-9]+)?\s?[%€$£]?|[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}.*|)\s*"
)


@dataclass(frozen=True, slots=True)
class _Split:
    """How a delimiter splits the head of a text: `rows` of `all_rows` have the usual `width`, below some `titles`."""

    width: int = 0
    rows: int = 0
    all_rows: int = 0
    titles: int = 0
    has_wide_header: bool = False

    @property
    def share(self) -> float:
        return self.rows / self.all_rows if self.width > 1 else 0


def detect_delimiter(text: str) -> str:
    """Detect the delimiter: the one that splits most rows of the head into the same number of cells.

    Of several that do so nearly alike, it is the one that leaves the most whole numbers, dates and words: `1,5;2,5` has two
    cells. Titles above the table do not count.
    """
    sample = text[:SNIFFED_CHARS]
    if len(text) > SNIFFED_CHARS:
        sample = sample[: sample.rfind("\n") + 1] or sample
    splits = {delimiter: _split(sample, delimiter) for delimiter in DELIMITERS}
    best = max(splits.values(), key=lambda split: split.share)
    if not best.share:
        # Without any delimiter, a semicolon leaves commas before decimals where they are.
        return ";" if _has_decimal_commas(sample) else DELIMITERS[0]
    slack = max(UNEVEN_ROWS, int(UNEVEN_SHARE * best.all_rows))
    rivals = [
        delimiter
        for delimiter, split in splits.items()
        if split.share == best.share
        or (split.has_wide_header and split.share >= SHARE_MIN and split.all_rows - split.rows <= slack)
    ]
    return max(rivals, key=lambda delimiter: _rank(sample, delimiter, splits[delimiter], rivals))


def _rank(sample: str, delimiter: str, split: _Split, rivals: Sequence[str]) -> tuple[float, float, int, int]:
    wholeness = _wholeness(sample, delimiter, rivals, titles=split.titles) if len(rivals) > 1 else 0
    return wholeness, split.share, -split.titles, split.width


def _split(sample: str, delimiter: str) -> _Split:
    try:
        rows = list(iter_rows(sample, delimiter))
    except UnreadableError:
        return _Split()
    if delimiter == "," and _has_decimal_commas(sample):
        return _Split()
    widths = Counter(len(row) for row in rows if row)
    if not widths:
        return _Split()
    width = max(widths, key=lambda width: (widths[width], width))
    titles = _title_rows(rows, width, delimiter)
    body = [len(row) for row in rows[titles:] if row]
    return _Split(width, body.count(width), len(body), titles, body[0] == width)


def _has_decimal_commas(sample: str) -> bool:
    """Whether a text is one column of numbers with commas before their decimals, below a name without one."""
    name, *lines = [line.strip() for line in sample.splitlines() if line.strip()] or [""]
    return (
        "," not in name and bool(lines) and all(map(DECIMAL_LINE.fullmatch, lines)) and "," in "".join(lines)
    )


def _title_rows(rows: Sequence[Sequence[str]], width: int, delimiter: str) -> int:
    """How many rows stand above the table: narrower ones with an empty row behind them, or without another delimiter."""
    first = next((n for n, row in enumerate(rows[:TITLE_ROWS_MAX]) if len(row) == width), 0)
    is_apart = first > 0 and not rows[first - 1]
    rivals = [rival for rival in DELIMITERS if rival != delimiter]
    has_rival = any(
        rival in cell.replace(f"{rival} ", "") for row in rows[:first] for cell in row for rival in rivals
    )
    return first if is_apart or not has_rival else 0


def _wholeness(sample: str, delimiter: str, delimiters: Sequence[str], *, titles: int) -> float:
    """The share of the cells below the first row that are a value, or words without another delimiter in them."""
    rivals = [rival for rival in delimiters if rival != delimiter]
    cells = whole = 0.0
    for row in islice(iter_rows(sample, delimiter), titles + 1, None):
        for cell in row:
            cells += 1
            if VALUE.fullmatch(cell) and ";" not in cell:
                whole += 1
            elif not any(rival in cell for rival in rivals):
                whole += 0.5
            elif not any(rival in cell.replace(f"{rival} ", " ") for rival in rivals):
                whole += 0.4  # a comma with a space behind it belongs to the words: "Smith, Ann"
    return whole / cells if cells else 0


def csv_lines(rows: list[list[str]]) -> list[str]:
    """Format rows as lines of comma-separated values; a line break inside a cell becomes a space."""
    lines = []
    for row in rows:
        out = io.StringIO()
        csv.writer(out, lineterminator="").writerow(" ".join(cell.splitlines()) for cell in row)
        lines.append(out.getvalue())
    return lines


def iter_rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """Iterate over the rows of delimited text, quoted as in RFC 4180. Raises UnreadableError for an endless cell."""
    csv.field_size_limit(CELL_CHARS_MAX)
    try:
        yield from csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    except csv.Error as error:
        raise UnreadableError(f"its rows cannot be told apart ({error})") from None
