import hashlib
import importlib
import os
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

from chiron_workers.documents.charset import decode_listed, html_charset
from chiron_workers.documents.document import Document, UnreadableError, with_omissions
from chiron_workers.documents.file_types import ZIP_SIGNATURE, FileType, detect_file_type
from chiron_workers.documents.read_file import title_from_name
from chiron_workers.documents.sandbox.sandbox import Limits, run_sandboxed_sync
from chiron_workers.errors import UsageError

FILE_BYTES_MAX = 10_000_000


@dataclass(frozen=True, slots=True)
class Format:
    """How files with one suffix are read: from decoded text, or from bytes."""

    content_type: str
    parser: str  # the module `<parser>` of this package, and its function `read_<parser>`
    is_text: bool = True

    def read(self, data: bytes, *, name: str) -> Document:
        """Parse a file. Call it in the sandbox: the file may be hostile.

        The parser is imported here: every command imports this module, and few read a file.
        """
        module = importlib.import_module(f"chiron_workers.documents.{self.parser}")
        charset = html_charset(data) if self.parser in ("html", "feed") else ""
        content, guesses = decode_listed(data, declared_charset=charset) if self.is_text else (data, ())
        document: Document = getattr(module, f"read_{self.parser}")(content, name=name)
        return with_omissions(document, guesses)


MARKDOWN = Format("text/markdown", "markdown")
HTML = Format("text/html", "html")
FEED = Format("application/xml", "feed")
PDF = Format("application/pdf", "pdf", is_text=False)
WORD = Format(
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx", is_text=False
)
FORMATS = {
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".txt": Format("text/plain", "plain"),
    ".rst": Format("text/x-rst", "rst"),
    ".html": HTML,
    ".htm": HTML,
    ".pdf": PDF,
    **dict.fromkeys((".docx", ".docm", ".dotx", ".dotm"), WORD),
}
FORMATS_BY_CONTENT = {FileType.PDF: PDF, FileType.DOCX: WORD, FileType.HTML: HTML, FileType.FEED: FEED}


@dataclass(frozen=True, slots=True)
class FileDocument:
    """A file's document; `path` is relative to the folder that was read, `raw_hash` the sha256 of its bytes in hex.

    `file` is where it is, as an absolute path, empty where that is no file.
    """

    path: str
    content_type: str
    document: Document
    raw_hash: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that was not read, with the reason."""

    path: str
    reason: str


def read_folder(path: Path) -> Iterator[FileDocument | SkippedFile]:
    """Read each file of a folder, recursively, or a single file. Hidden files are skipped without a notice.

    Raises:
        UsageError: There is nothing at the path.
    """
    if not path.exists():
        raise UsageError(f"{path} does not exist.")
    return _walk(path)


def read_document(file: Path, path: str) -> FileDocument | SkippedFile:
    """Read one file, as `read_folder` does, under a path within its folder that is known."""
    return _read(file, path, root=file.parent)


def _walk(path: Path) -> Iterator[FileDocument | SkippedFile]:
    if not path.is_dir():
        yield _read(path, path.name, root=path.parent)
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                file = Path(folder, name)
                yield _read(file, file.relative_to(path).as_posix(), root=path)


def _read(file: Path, path: str, *, root: Path) -> FileDocument | SkippedFile:
    if file.suffix.lower() not in FORMATS:
        return SkippedFile(path, f"its format is none of {', '.join(FORMATS)}")
    try:
        title = title_from_name(os.fsencode(file.name).decode(errors="replace"))
        data = _read_bytes(file, root)
        file_format = _format_of_content(data, file.suffix.lower())
        job = partial(file_format.read, data, name=title)
        document = run_sandboxed_sync(job, limits=Limits())
    except OSError as error:
        return SkippedFile(path, error.strerror or str(error))
    except UnreadableError as error:
        return SkippedFile(path, str(error))
    if not document.blocks:
        return SkippedFile(path, "it holds no text")
    return FileDocument(
        path, file_format.content_type, document, hashlib.sha256(data).hexdigest(), file=str(file.absolute())
    )


def _format_of_content(data: bytes, suffix: str) -> Format:
    """The format of a file. Its content decides, and its ending only which kind of text it is."""
    if FORMATS[suffix] is WORD and data.startswith(ZIP_SIGNATURE) and not zipfile.is_zipfile(BytesIO(data)):
        return WORD  # Its reader has the better sentence for a file that was cut.
    file_type = detect_file_type(data, f"file{suffix}")
    if file_type in FORMATS_BY_CONTENT:
        return FORMATS_BY_CONTENT[file_type]
    if not FORMATS[suffix].is_text:
        raise UnreadableError(f"it is called {suffix}, but its content is of another kind")
    if file_type in (FileType.SHEETS, FileType.PARQUET):
        raise UnreadableError("it is a table; data_table reads it")
    return FORMATS[suffix]


def _read_bytes(file: Path, root: Path) -> bytes:
    status = file.stat()  # Follows links; a broken or circular link raises OSError.
    if not file.resolve().is_relative_to(root.resolve()) and file.is_symlink():
        raise UnreadableError("it is a link that leads out of the folder")
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableError("it is no regular file")
    if status.st_size > FILE_BYTES_MAX:
        raise UnreadableError(f"it is larger than {FILE_BYTES_MAX // 1_000_000} MB")
    return file.read_bytes()
