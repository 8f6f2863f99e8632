import csv
import io
from collections import Counter
from collections.abc import Iterator

from chiron_workers.documents.document import UnreadableError

DELIMITERS = (",", ";", "\t", "|")
SNIFFED_CHARS = 65_536
CELL_CHARS_MAX = 10_000_000


def detect_delimiter(text: str) -> str:
    """Detect the delimiter: the one that splits most rows of the head into the same number of cells."""
    sample = text[:SNIFFED_CHARS]
    if len(text) > SNIFFED_CHARS:
        sample = sample[: sample.rfind("\n") + 1] or sample
    return max(DELIMITERS, key=lambda delimiter: _evenness(sample, delimiter))


def _evenness(sample: str, delimiter: str) -> float:
    try:
        widths = Counter(len(row) for row in iter_rows(sample, delimiter) if row)
    except UnreadableError:
        return 0
    if not widths:
        return 0
    width, rows = max(widths.items(), key=lambda item: (item[1], item[0]))
    return rows / widths.total() + width / 1e6 if width > 1 else 0


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
