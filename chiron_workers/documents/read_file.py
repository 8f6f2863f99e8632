import json
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePath

from chiron_workers.documents.charset import decode, html_charset
from chiron_workers.documents.document import Document, UnreadableError, clean
from chiron_workers.documents.file_types import FileType, detect_file_type
from chiron_workers.documents.tables.csv import csv_lines, detect_delimiter, read_delimited

LINE_CHARS_MAX = 2_000  # JSON with longer lines is written anew, one value a line


@dataclass(frozen=True, slots=True)
class Part:
    """Which pages, rows or lines are wanted: the first from 1, the last included; None is the end."""

    first: int = 1
    last: int | None = None


@dataclass(frozen=True, slots=True)
class FileContent:
    """What a file says, or a part of it: `first` to `last` of the `count` pages, rows or lines (`unit`) it has."""

    kind: FileType
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


def read_file(data: bytes, name: str, part: Part, *, sheet: str = "") -> FileContent:
    """The text of a file of any kind that can be read; call it in the sandbox, since the file may be hostile.

    Args:
        name: The file's name, whose ending tells Markdown, CSV and JSON from other text.
        sheet: Which sheet of a workbook; the first without it.

    Raises:
        UnreadableError: It is broken, of another kind, has no such part, or holds no text.
    """
    kind = detect_file_type(data, name)
    if kind is FileType.PARQUET:
        raise UnreadableError("it is a Parquet table; data_table reads it")
    if kind is FileType.PDF:
        return _pdf(data, name, part)
    if kind is FileType.SHEETS:
        return _workbook(data, part, sheet)
    if kind is FileType.DOCX:
        from chiron_workers.documents.docx import read_docx

        return _document(kind, read_docx(data, name=title_from_name(name)), part)
    text = clean(decode(data, declared_charset=html_charset(data) if kind is FileType.HTML else ""))
    if kind is FileType.HTML:
        from chiron_workers.documents.html import read_html

        return _document(kind, read_html(text, name=title_from_name(name)), part)
    if kind is FileType.CSV:
        return _delimited(text, part)
    if kind is FileType.MARKDOWN:
        from chiron_workers.documents.markdown import with_front_matter

        return _described(
            _lines(kind, title_from_name(name), text, part), with_front_matter(Document("", ()), text)
        )
    return _lines(kind, title_from_name(name), _readable_json(text) if kind is FileType.JSON else text, part)


def title_from_name(name: str) -> str:
    """A file's name as a title: `moons_of-mars.txt` becomes `moons of mars`."""
    return PurePath(name).stem.replace("_", " ").replace("-", " ")


def _pdf(data: bytes, name: str, part: Part) -> FileContent:
    from chiron_workers.documents.pdf import PAGES_MAX, page_count, read_pdf

    count = page_count(data)
    first, last = _within(part, count, "pages")
    last = min(last, first + PAGES_MAX - 1)
    found = read_pdf(data, name=title_from_name(name), first=first, last=last)
    return _described(FileContent(FileType.PDF, found.title, found.text, "pages", count, first, last), found)


def _workbook(data: bytes, part: Part, sheet: str) -> FileContent:
    from chiron_workers.documents.tables.sheets import cell_text, read_sheet, sheet_names

    found = read_sheet(data, sheet)
    first, last = _within(part, len(found.rows), "rows")
    lines = csv_lines([[cell_text(cell) for cell in row] for row in found.rows[first - 1 : last]])
    return FileContent(
        FileType.SHEETS, found.name, "\n".join(lines), "rows", len(found.rows), first, last, found.name,
        sheet_names(data),
    )  # fmt: skip


def _delimited(text: str, part: Part) -> FileContent:
    delimiter = detect_delimiter(text)
    rows = read_delimited(text, delimiter)
    first, last = _within(part, len(rows), "rows")
    lines = csv_lines(rows[first - 1 : last])
    return FileContent(
        FileType.CSV, "", "\n".join(lines), "rows", len(rows), first, last, delimiter=delimiter
    )


def _document(kind: FileType, found: Document, part: Part) -> FileContent:
    return _described(_lines(kind, found.title, found.text, part), found)


def _described(reading: FileContent, found: Document) -> FileContent:
    return replace(reading, author=found.author, published_at=found.published_at, licence=found.licence)


def _lines(kind: FileType, title: str, text: str, part: Part) -> FileContent:
    lines = text.removesuffix("\n").split("\n")
    if not text.strip():
        raise UnreadableError("it holds no text")
    first, last = _within(part, len(lines), "lines")
    return FileContent(kind, title, "\n".join(lines[first - 1 : last]), "lines", len(lines), first, last)


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
