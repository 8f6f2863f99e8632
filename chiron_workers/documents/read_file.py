from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePath

from chiron_workers.documents.charset import decode_listed, html_charset
from chiron_workers.documents.document import TEXT_CHARS_MAX, Document, UnreadableError, author_line, clean
from chiron_workers.documents.file_types import FileType, detect_file_type
from chiron_workers.documents.omissions import Omission, of_lines
from chiron_workers.documents.tables.csv import csv_lines, detect_delimiter, iter_rows

LINE_CHARS_MAX = 2_000  # JSON with longer lines is indented, one value a line.


@dataclass(frozen=True, slots=True)
class Part:
    """A range of pages, rows or lines, counted from 1, `last` included; None is the end."""

    first: int = 1
    last: int | None = None


@dataclass(frozen=True, slots=True)
class FileContent:
    """The text of a file or of a part: `first` to `last` of its `count` pages, rows or lines (`unit`).

    `is_cut` if there is more text than is read at once. `left_out` is what concerns the part that was read. `notes` say
    what a person sees in a sheet and its text does not say.
    """

    file_type: FileType
    title: str
    text: str
    unit: str
    count: int
    first: int
    last: int
    sheet: str = ""
    sheets: tuple[str, ...] = ()
    delimiter: str = ""
    authors: tuple[str, ...] = ()
    published_at: datetime | None = None
    licence: str = ""
    is_cut: bool = False
    left_out: tuple[Omission, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def author(self) -> str:
        """The authors on one line."""
        return author_line(self.authors)


def read_file(data: bytes, name: str, part: Part, *, sheet: str = "") -> FileContent:
    """Read a file of any supported type. Call it in the sandbox: the file may be hostile.

    Args:
        name: The file's name, whose suffix tells Markdown, CSV and JSON from other text.
        sheet: The sheet of a workbook; empty for the first.

    Raises:
        UnreadableError: It is broken, of another type, has no such part or sheet, or holds no text.
    """
    content = _read(data, name, part, sheet)
    if len(content.text) <= TEXT_CHARS_MAX:
        return content
    return replace(content, text=content.text[:TEXT_CHARS_MAX], is_cut=True)


def _read(data: bytes, name: str, part: Part, sheet: str) -> FileContent:
    file_type = detect_file_type(data, name)
    if file_type is FileType.PARQUET:
        raise UnreadableError("it is a Parquet table; data_table reads it")
    if file_type is FileType.PDF:
        return _read_pdf(data, name, part)
    if file_type is FileType.SHEETS:
        return _read_workbook(data, part, sheet)
    if file_type is FileType.DOCX:
        from chiron_workers.documents.docx import read_docx

        return _document_lines(file_type, read_docx(data, name=title_from_name(name)), part)
    has_charset = file_type in (FileType.HTML, FileType.FEED)
    text, guesses = decode_listed(data, declared_charset=html_charset(data) if has_charset else "")
    content = _read_text(file_type, clean(text), name, part)
    return replace(content, left_out=content.left_out + guesses) if guesses else content


def _read_text(file_type: FileType, text: str, name: str, part: Part) -> FileContent:
    if file_type is FileType.HTML:
        from chiron_workers.documents.html import read_html

        return _document_lines(file_type, read_html(text, name=title_from_name(name)), part)
    if file_type is FileType.FEED:
        from chiron_workers.documents.feed import read_feed

        return _document_lines(file_type, read_feed(text, name=title_from_name(name)), part)
    if file_type is FileType.CSV:
        return _read_csv(text, part)
    if file_type is FileType.MARKDOWN:
        from chiron_workers.documents.markdown import with_front_matter

        return _with_metadata(
            _lines(file_type, title_from_name(name), text, part), with_front_matter(Document("", ()), text)
        )
    return _lines(
        file_type, title_from_name(name), _indent_json(text) if file_type is FileType.JSON else text, part
    )


def title_from_name(name: str) -> str:
    """Make a title of a file's name: `moons_of-mars.txt` becomes `moons of mars`."""
    return PurePath(name).stem.replace("_", " ").replace("-", " ")


def _read_pdf(data: bytes, name: str, part: Part) -> FileContent:
    from chiron_workers.documents.pdf import PAGES_MAX, page_count, read_pdf

    count = page_count(data)
    first, last = _range_within(part, count, "pages")
    last = min(last, first + PAGES_MAX - 1)
    document = read_pdf(data, name=title_from_name(name), first=first, last=last)
    return _with_metadata(
        FileContent(FileType.PDF, document.title, document.text, "pages", count, first, last), document
    )


def _read_workbook(data: bytes, part: Part, sheet: str) -> FileContent:
    from chiron_workers.documents.tables.sheet_notes import sheet_omissions, text_notes
    from chiron_workers.documents.tables.sheets import hidden_sheets, read_sheet, sheet_names, unread_sheets

    table = read_sheet(data, sheet)
    first, last = _range_within(part, len(table.rows), "rows")
    lines = csv_lines(table.shown_rows()[first - 1 : last])
    return FileContent(
        FileType.SHEETS, table.name, "\n".join(lines), "rows", len(table.rows), first, last, table.name,
        sheet_names(data), left_out=(*sheet_omissions(table), *unread_sheets(data)), notes=text_notes(table, hidden_sheets(data)),
    )  # fmt: skip


def _read_csv(text: str, part: Part) -> FileContent:
    delimiter = detect_delimiter(text)
    rows = list(iter_rows(text, delimiter))
    first, last = _range_within(part, len(rows), "rows")
    lines = csv_lines(rows[first - 1 : last])
    return FileContent(
        FileType.CSV, "", "\n".join(lines), "rows", len(rows), first, last, delimiter=delimiter
    )


def _document_lines(file_type: FileType, document: Document, part: Part) -> FileContent:
    content = _with_metadata(_lines(file_type, document.title, document.text, part), document)
    if content.last - content.first + 1 == content.count:
        return content
    left_out = of_lines(document.left_out, content.text.split("\n"), first=content.first)
    return replace(content, left_out=left_out)


def _with_metadata(content: FileContent, document: Document) -> FileContent:
    return replace(
        content,
        authors=document.authors,
        published_at=document.published_at,
        licence=document.licence,
        left_out=document.left_out,
    )


def _lines(file_type: FileType, title: str, text: str, part: Part) -> FileContent:
    lines = text.removesuffix("\n").split("\n")
    if not text.strip():
        raise UnreadableError("it holds no text")
    first, last = _range_within(part, len(lines), "lines")
    return FileContent(file_type, title, "\n".join(lines[first - 1 : last]), "lines", len(lines), first, last)


def _range_within(part: Part, count: int, unit: str) -> tuple[int, int]:
    if count == 0:
        raise UnreadableError("it holds no text")
    if part.first > count:
        raise UnreadableError(f"it has {count:,} {unit}, and none has the number {part.first:,}")
    return part.first, min(part.last or count, count)


def _indent_json(text: str) -> str:
    if max(map(len, text.split("\n"))) <= LINE_CHARS_MAX:
        return text
    from chiron_workers.documents.json_entries import indented

    try:
        return clean(indented(text))
    except (ValueError, RecursionError):  # Invalid JSON is shown unchanged.
        return text
