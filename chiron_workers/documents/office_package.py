"""Where the main part of an Office file is, and of which program: by its relationships and content types, then by its folder."""

import lzma
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

HEAD_BYTES = 65_536
RELATIONS, CONTENT_TYPES = "_rels/.rels", "[content_types].xml"
ELEMENT = re.compile(rb"<(?:\w{1,20}:)?(?:Relationship|Override)\b([^>]{0,2000})>")
ATTRIBUTE = re.compile(rb"(\w+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
FLAT_PACKAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?[^>]{0,300}+>\s*+){0,4}+<(?:\w{1,20}:)?package\b[^>]{0,2000}?/office/2006/xmlPackage[\"']"
)
SNIFFED_BYTES = 4096
# What zipfile raises for an archive that is damaged, encrypted or compressed in a way that it does not know.
READ_ERRORS = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, NotImplementedError, RuntimeError, ValueError,
)  # fmt: skip
Entries = Mapping[str, zipfile.ZipInfo]


def part_path(target: str, folder: str = "") -> str:
    """Where a part is in the archive, without a slash before it."""
    target = unquote(target.replace("\\", "/"))
    path = posixpath.join("/" if target.startswith("/") else f"/{folder}", target)
    return posixpath.normpath(path).strip("/")


def entries_by_path(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The entries of an archive by where their parts are, in small letters: programs write the names in several ways."""
    return {part_path(entry.filename).lower(): entry for entry in archive.infolist()}


def main_part(archive: zipfile.ZipFile, entries: Entries) -> str:
    """The path of the main part of an Office file; empty where nothing names one that is there."""
    paths = (
        *(
            part_path(relation.get("Target", ""))
            for relation in _elements(archive, entries.get(RELATIONS))
            if relation.get("Type", "").endswith("/officeDocument")
        ),
        *(
            part_path(part.get("PartName", ""))
            for part in _elements(archive, entries.get(CONTENT_TYPES))
            if part.get("ContentType", "").endswith(".main+xml")
        ),
    )
    return next((path for path in paths if path.lower() in entries), "")


def main_type(archive: zipfile.ZipFile, entries: Entries) -> str:
    """The content type of the main part, or the beginning of that part; empty where there is none."""
    path = main_part(archive, entries)
    if not path:
        return ""
    for part in _elements(archive, entries.get(CONTENT_TYPES)):
        if part_path(part.get("PartName", "")).lower() == path.lower():
            return part.get("ContentType", "")
    return _head(archive, entries[path.lower()])[:SNIFFED_BYTES].replace(b"\0", b"").decode("latin-1")


def is_flat_package(data: bytes) -> bool:
    """Whether an Office file is one XML document instead of an archive."""
    return FLAT_PACKAGE.match(data[:SNIFFED_BYTES]) is not None


def _elements(archive: zipfile.ZipFile, entry: zipfile.ZipInfo | None) -> Iterator[dict[str, str]]:
    data = b"" if entry is None else _head(archive, entry).replace(b"\0", b"")
    for element in ELEMENT.finditer(data):
        yield {
            name.decode(): (double or single).decode("utf-8", "replace")
            for name, double, single in ATTRIBUTE.findall(element[1])
        }


def _head(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    try:
        with archive.open(entry) as file:
            return file.read(HEAD_BYTES)
    except READ_ERRORS:
        return b""  # The reader of the file says what is wrong with it.
