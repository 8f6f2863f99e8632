import re
import zipfile
import zlib
from enum import StrEnum
from io import BytesIO
from pathlib import PurePath

from chiron_workers.documents.document import UnreadableError

SNIFFED_BYTES = 4096


class FileType(StrEnum):
    """What a file is, and so how it is read."""

    PDF = "pdf"
    DOCX = "docx"
    SHEETS = "spreadsheet"
    PARQUET = "parquet"
    HTML = "html"
    MARKDOWN = "markdown"
    CSV = "csv"
    JSON = "json"
    JSON_LINES = "jsonl"
    TEXT = "text"


# Nothing in it is tried twice: comments could be made to be divided in more ways than there is time for.
LOOKS_LIKE_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]{0,200}+>\s*+)?(?:<!--(?:(?!-->).){0,500}+-->\s*+)*+"
    rb"<(?:!doctype html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
ENDINGS = {
    ".html": FileType.HTML,
    ".htm": FileType.HTML,
    ".xhtml": FileType.HTML,
    ".md": FileType.MARKDOWN,
    ".markdown": FileType.MARKDOWN,
    ".csv": FileType.CSV,
    ".tsv": FileType.CSV,
    ".tab": FileType.CSV,
    ".json": FileType.JSON,
    ".geojson": FileType.JSON,
    ".ipynb": FileType.JSON,
    ".jsonl": FileType.JSON_LINES,
    ".ndjson": FileType.JSON_LINES,
}
# What cannot be read, by how it begins, in words for the error.
FOREIGN = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"II*\0": "a TIFF picture",
    b"MM\0*": "a TIFF picture",
    b"RIFF": "a WebP picture, a sound or a film",
    b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"SQLite format 3": "an SQLite database",
    b"\x7fELF": "a program",
    b"{\\rtf": "a rich text document; save it as docx",
}
OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
OLD_WORKBOOKS = ("Workbook".encode("utf-16-le"), "Book".encode("utf-16-le"))
IN_ZIP = {"word/": FileType.DOCX, "xl/": FileType.SHEETS}
OPEN_DOCUMENT_SHEETS = b"application/vnd.oasis.opendocument.spreadsheet"


def detect_file_type(data: bytes, name: str) -> FileType:
    """What a file is: by its content, and where text does not tell, by how its name ends.

    Raises:
        UnreadableError: It is nothing that can be read; the message says what it seems to be.
    """
    if b"%PDF-" in data[:1024]:
        return FileType.PDF
    if data.startswith(b"PK\x03\x04"):
        return _in_zip(data)
    if data.startswith(OLD_OFFICE):
        if any(word in data for word in OLD_WORKBOOKS):
            return FileType.SHEETS
        raise UnreadableError(
            "it is a document of an old Office program, or encrypted; save it as docx or xlsx"
        )
    if data.startswith(b"PAR1"):
        return FileType.PARQUET
    for beginning, what in FOREIGN.items():
        if data.startswith(beginning):
            raise UnreadableError(f"it is {what}")
    if looks_like_html(data):
        return FileType.HTML
    return ENDINGS.get(PurePath(name).suffix.lower(), FileType.TEXT)


def looks_like_html(data: bytes) -> bool:
    """Whether the first bytes are those of an HTML page, whatever it is called."""
    return LOOKS_LIKE_HTML.match(data[:SNIFFED_BYTES]) is not None


def _in_zip(data: bytes) -> FileType:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            names = archive.namelist()
            if "mimetype" in names and _beginning(archive).startswith(OPEN_DOCUMENT_SHEETS):
                return FileType.SHEETS
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError, RuntimeError, OSError, zlib.error):
        raise UnreadableError("it is a broken ZIP archive") from None
    for folder, kind in IN_ZIP.items():
        if any(name.startswith(folder) for name in names):
            return kind
    raise UnreadableError("it is a ZIP archive; of those only docx, xlsx and ods can be read")


def _beginning(archive: zipfile.ZipFile) -> bytes:
    with archive.open("mimetype") as file:
        return file.read(len(OPEN_DOCUMENT_SHEETS))
