import re
import zipfile
from enum import StrEnum
from io import BytesIO
from pathlib import PurePath

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.office_package import (
    READ_ERRORS,
    entries_by_path,
    is_flat_package,
    main_part,
    main_type,
)

SNIFFED_BYTES = 4096
PDF_SIGNATURE_WITHIN = 1024  # bytes


class FileType(StrEnum):
    """The format of a file, which decides how it is read."""

    PDF = "pdf"
    DOCX = "docx"
    SHEETS = "spreadsheet"
    PARQUET = "parquet"
    HTML = "html"
    FEED = "feed"
    MARKDOWN = "markdown"
    CSV = "csv"
    JSON = "json"
    JSON_LINES = "jsonl"
    TEXT = "text"


# Possessive quantifiers prevent backtracking: a hostile run of comments would take exponential time.
LOOKS_LIKE_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]{0,200}+>\s*+)?(?:<!--(?:(?!-->).){0,500}+-->\s*+)*+"
    rb"<(?:!doctype html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
LOOKS_LIKE_FEED = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?[^>]{0,300}+>\s*+|<!--(?:(?!-->).){0,500}+-->\s*+"
    rb"|<!DOCTYPE[^\[>]{0,300}+(?:\[[^\]]{0,1000}+\])?+[^>]{0,50}+>\s*+){0,8}+"
    rb"<(?:rss\b|(?:\w{1,20}:)?feed\b[^>]{0,2000}+>|rdf:RDF\b[^>]{0,2000}?purl\.org/rss/)",
    re.DOTALL,
)
WIDE_BEGINNINGS = ((b"\xff\xfe", b"<\0", "utf-16-le"), (b"\xfe\xff", b"\0<", "utf-16-be"))
ATOM = b"Atom"  # in the name space of the root
TYPES_BY_SUFFIX = {
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
# The first bytes of files that cannot be read, and how the error describes them.
UNREADABLE_SIGNATURES = {
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
ZIP_SIGNATURE = b"PK\x03\x04"
OLE_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
OLE_WORKBOOK_STREAMS = ("Workbook".encode("utf-16-le"), "Book".encode("utf-16-le"))
OLE_REASONS = {
    "EncryptedPackage": "it is encrypted and needs a password",
    "WordDocument": "it is a document of an old Word; save it as docx",
}
TYPES_BY_ZIP_FOLDER = {"word/": FileType.DOCX, "xl/": FileType.SHEETS}
# By words in the content type of the main part, or in its name space.
TYPES_BY_CONTENT = {
    "wordprocessingml": FileType.DOCX,
    "ms-word": FileType.DOCX,
    "spreadsheetml": FileType.SHEETS,
    "ms-excel": FileType.SHEETS,
}
FLAT_DOCUMENT = b"wordprocessingml"
OPEN_DOCUMENT_SHEETS = b"application/vnd.oasis.opendocument.spreadsheet"


def detect_file_type(data: bytes, name: str) -> FileType:
    """Detect the format by content; text formats, which content does not tell apart, by the suffix of the name.

    Raises:
        UnreadableError: No reader takes this format; the message says what the file seems to be.
    """
    if looks_like_pdf(data):
        return FileType.PDF
    if data.startswith(ZIP_SIGNATURE):
        return _detect_zip(data)
    if data.startswith(OLE_SIGNATURE):
        if any(word in data for word in OLE_WORKBOOK_STREAMS):
            return FileType.SHEETS
        raise UnreadableError(_ole_reason(data))
    if data.startswith(b"PAR1"):
        return FileType.PARQUET
    for signature, description in UNREADABLE_SIGNATURES.items():
        # Some signatures are words that a text may begin with.
        if data.startswith(signature) and (not signature.isalnum() or b"\0" in data[:SNIFFED_BYTES]):
            raise UnreadableError(f"it is {description}")
    if is_flat_package(data) and FLAT_DOCUMENT in data:
        return FileType.DOCX
    if looks_like_html(data):
        return FileType.HTML
    if looks_like_feed(data):
        return FileType.FEED
    return TYPES_BY_SUFFIX.get(PurePath(name).suffix.lower(), FileType.TEXT)


def _ole_reason(data: bytes) -> str:
    for stream, reason in OLE_REASONS.items():
        if stream.encode("utf-16-le") in data:
            return reason
    return "it is a document of an old Office program, or encrypted; save it as docx or xlsx"


def looks_like_pdf(data: bytes) -> bool:
    """Whether a file is a PDF. Other bytes may stand before its signature, but a text that speaks of it is none."""
    before, signature, _ = data[:PDF_SIGNATURE_WITHIN].partition(b"%PDF-")
    return bool(signature) and (not before.strip() or b"endobj" in data)


def looks_like_html(data: bytes) -> bool:
    """Whether the first bytes are those of an HTML page."""
    return LOOKS_LIKE_HTML.match(_beginning(data)) is not None


def looks_like_feed(data: bytes) -> bool:
    """Whether the first bytes are those of a feed, RSS or Atom."""
    match = LOOKS_LIKE_FEED.match(_beginning(data))
    return match is not None and (b"rss" in match[0] or ATOM.lower() in match[0].lower())


def _beginning(data: bytes) -> bytes:
    """The first bytes; those of UTF-16 as they would be in UTF-8."""
    beginning = data[:SNIFFED_BYTES]
    for mark, tag, charset in WIDE_BEGINNINGS:
        if beginning.startswith((mark, tag)):
            return beginning.decode(charset, errors="ignore").removeprefix("\ufeff").encode(errors="ignore")
    return beginning


def _detect_zip(data: bytes) -> FileType:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            entries = entries_by_path(archive)
            if "mimetype" in entries:
                with archive.open(entries["mimetype"]) as file:
                    if file.read(len(OPEN_DOCUMENT_SHEETS)) == OPEN_DOCUMENT_SHEETS:
                        return FileType.SHEETS
            content_type = main_type(archive, entries)
            folder = f"{main_part(archive, entries).lower().partition('/')[0]}/"
    except READ_ERRORS:
        raise UnreadableError("it is a broken ZIP archive") from None
    for words, kind in TYPES_BY_CONTENT.items():
        if words in content_type:
            return kind
    if folder in TYPES_BY_ZIP_FOLDER:
        return TYPES_BY_ZIP_FOLDER[folder]
    for folder, kind in TYPES_BY_ZIP_FOLDER.items():
        if any(path.startswith(folder) for path in entries):
            return kind
    raise UnreadableError("it is a ZIP archive; of those only docx, xlsx and ods can be read")
