import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from chiron_workers.documents.document import UnreadableError

DELIMITERS = (",", ";", "\t", "|")
SNIFFED_CHARS = 65_536
CELL_CHARS_MAX = 10_000_000
# Numbers of any country, dates, and what stands for a missing one: a wrong delimiter cuts them, or leaves two in a cell.
VALUE = re.compile(
    r"\s*(?:[+-]?[0-9][0-9.,' \u00a0\u202f]*(?:[eE][+-]?[0-9]+)?\s?[%€$£]?|[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}.*|)\s*"
)


def detect_delimiter(text: str) -> str:
    """Detect the delimiter: the one that splits most rows of the head into the same number of cells.

    Of several that do so alike, it is the one that leaves the most whole numbers, dates and words: `1,5;2,5` has two cells.
    """
    sample = text[:SNIFFED_CHARS]
    if len(text) > SNIFFED_CHARS:
        sample = sample[: sample.rfind("\n") + 1] or sample
    shares = {delimiter: _evenness(sample, delimiter) for delimiter in DELIMITERS}
    best = max(share for share, _ in shares.values())
    ties = [delimiter for delimiter, (share, _) in shares.items() if share == best]
    if len(ties) == 1 or best == 0:
        return ties[0]
    return max(ties, key=lambda delimiter: (_wholeness(sample, delimiter, ties), shares[delimiter][1]))


def _evenness(sample: str, delimiter: str) -> tuple[float, int]:
    """The share of the rows that have the usual number of cells, and that number."""
    try:
        widths = Counter(len(row) for row in iter_rows(sample, delimiter) if row)
    except UnreadableError:
        return 0, 0
    if not widths:
        return 0, 0
    width, rows = max(widths.items(), key=lambda item: (item[1], item[0]))
    return (rows / widths.total(), width) if width > 1 else (0, width)


def _wholeness(sample: str, delimiter: str, delimiters: Sequence[str]) -> float:
    """The share of the cells below the first row that are a value, or words without another delimiter in them."""
    rivals = [rival for rival in delimiters if rival != delimiter]
    rows = iter_rows(sample, delimiter)
    next(rows, None)
    cells = whole = 0.0
    for row in rows:
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
