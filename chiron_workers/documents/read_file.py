import json
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePath

from chiron_workers.documents.charset import declared_in_html, decode
from chiron_workers.documents.document import Document, UnreadableError, clean
from chiron_workers.documents.file_types import Kind, kind_of
from chiron_workers.documents.tables.csv import delimiter_of, read_delimited, written

LINE_CHARS_MAX = 2_000  # JSON with longer lines is written anew, one value a line


@dataclass(frozen=True, slots=True)
class Part:
    """Which pages, rows or lines are wanted: the first from 1, the last included; None is the end."""

    first: int = 1
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file says, or a part of it: `first` to `last` of the `count` pages, rows or lines (`unit`) it has."""

    kind: Kind
    title: str
    text: str
    unit: str
    count: int
    first: int
    last: int
    sheet: str = ""
    sheets: tuple[str, ...] = ()
    delimiter: str = ""
    author: str = ""
    published_at: datetime | None = None
    licence: str = ""


def read_file(data: bytes, name: str, part: Part, *, sheet: str = "") -> Reading:
    """The text of a file of any kind that can be read; call it apart, since the file may be hostile.

    Args:
        name: The file's name, whose ending tells Markdown, CSV and JSON from other text.
        sheet: Which sheet of a workbook; the first without it.

    Raises:
        UnreadableError: It is broken, of another kind, has no such part, or holds no text.
    """
    kind = kind_of(data, name)
    if kind is Kind.PARQUET:
        raise UnreadableError("it is a Parquet table; data_table reads it")
    if kind is Kind.PDF:
        return _pdf(data, name, part)
    if kind is Kind.SHEETS:
        return _workbook(data, part, sheet)
    if kind is Kind.DOCX:
        from chiron_workers.documents.docx import read_docx

        return _document(kind, read_docx(data, name=stem(name)), part)
    text = clean(decode(data, declared=declared_in_html(data) if kind is Kind.HTML else ""))
    if kind is Kind.HTML:
        from chiron_workers.documents.html import read_html

        return _document(kind, read_html(text, name=stem(name)), part)
    if kind is Kind.CSV:
        return _delimited(text, part)
    if kind is Kind.MARKDOWN:
        from chiron_workers.documents.markdown import described

        return _described(_lines(kind, stem(name), text, part), described(Document("", ()), text))
    return _lines(kind, stem(name), _readable_json(text) if kind is Kind.JSON else text, part)


def stem(name: str) -> str:
    """A file's name as a title: `moons_of-mars.txt` becomes `moons of mars`."""
    return PurePath(name).stem.replace("_", " ").replace("-", " ")


def _pdf(data: bytes, name: str, part: Part) -> Reading:
    from chiron_workers.documents.pdf import PAGES_MAX, page_count, read_pdf

    count = page_count(data)
    first, last = _within(part, count, "pages")
    last = min(last, first + PAGES_MAX - 1)
    found = read_pdf(data, name=stem(name), first=first, last=last)
    return _described(Reading(Kind.PDF, found.title, found.text, "pages", count, first, last), found)


def _workbook(data: bytes, part: Part, sheet: str) -> Reading:
    from chiron_workers.documents.tables.sheets import read_sheet, sheet_names, shown

    found = read_sheet(data, sheet)
    first, last = _within(part, len(found.rows), "rows")
    lines = written([[shown(cell) for cell in row] for row in found.rows[first - 1 : last]])
    return Reading(
        Kind.SHEETS, found.name, "\n".join(lines), "rows", len(found.rows), first, last, found.name,
        sheet_names(data),
    )  # fmt: skip


def _delimited(text: str, part: Part) -> Reading:
    delimiter = delimiter_of(text)
    rows = read_delimited(text, delimiter)
    first, last = _within(part, len(rows), "rows")
    lines = written(rows[first - 1 : last])
    return Reading(Kind.CSV, "", "\n".join(lines), "rows", len(rows), first, last, delimiter=delimiter)


def _document(kind: Kind, found: Document, part: Part) -> Reading:
    return _described(_lines(kind, found.title, found.text, part), found)


def _described(reading: Reading, found: Document) -> Reading:
    return replace(reading, author=found.author, published_at=found.published_at, licence=found.licence)


def _lines(kind: Kind, title: str, text: str, part: Part) -> Reading:
    lines = text.removesuffix("\n").split("\n")
    if not text.strip():
        raise UnreadableError("it holds no text")
    first, last = _within(part, len(lines), "lines")
    return Reading(kind, title, "\n".join(lines[first - 1 : last]), "lines", len(lines), first, last)


def _within(part: Part, count: int, unit: str) -> tuple[int, int]:
    if count == 0:
        raise UnreadableError("it holds no text")
    if part.first > count:
        raise UnreadableError(f"it has {count:,} {unit}, and none has the number {part.first:,}")
    return part.first, min(part.last or count, count)


def _readable_json(text: str) -> str:
    if max(map(len, text.split("\n"))) <= LINE_CHARS_MAX:
        return text
    try:
        return clean(json.dumps(json.loads(text), indent=1, ensure_ascii=False))
    except (ValueError, RecursionError):  # it is shown as it is
        return text
