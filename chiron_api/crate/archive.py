"""The files of a crate, in a folder or a ZIP file of whoever made it: nothing is extracted, and all reading is bounded."""

import hashlib
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

from chiron_api.crate.layout import FILES_MAX, NAME_CHARS_MAX, TEXT_BYTES_MAX, TOTAL_BYTES_MAX
from chiron_api.text import one_line
from chiron_workers.errors import ChironError, NotFound

CHUNK_BYTES = 1024**2
DIRECTORY_BYTES_MAX = 32 * 1024**2  # of a ZIP file's list of files, which is read into memory
END, END_BYTES, COMMENT_BYTES_MAX = b"PK\x05\x06", 22, 65_535  # the record that ends a ZIP file
ZIP64, ZIP64_BYTES = b"PK\x06\x07", 20
METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
ENCRYPTED = 0x1


class CrateRefused(ChironError):
    """What somebody handed over as a crate cannot be read, or not safely; nothing more is looked at."""


class Archive(Protocol):
    """Files by their names within the crate, with `/`."""

    @property
    def sizes(self) -> dict[str, int]:
        """How many bytes each file has, as the folder or the header says."""

    def open(self, name: str) -> IO[bytes]:
        """The bytes of a file."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A crate in a folder."""

    home: Path
    sizes: dict[str, int]

    def open(self, name: str) -> IO[bytes]:
        """The bytes of a file."""
        return (self.home / name).open("rb")


@dataclass(frozen=True, slots=True)
class Zip:
    """A crate in a ZIP file."""

    file: zipfile.ZipFile
    sizes: dict[str, int]

    def open(self, name: str) -> IO[bytes]:
        """The bytes of a file."""
        return self.file.open(name)


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """The files of a crate.

    Raises:
        NotFound: Nothing is there.
        CrateRefused: It is no folder and no ZIP file, or has files that lead out of it, or too many or too large ones.
    """
    if not path.exists():
        raise NotFound(f"{path} cannot be read: No such file or directory.")
    if path.is_dir():
        sizes = _bounded(_files(path))
        yield Folder(path, sizes)
        return
    try:
        _require_short_directory(path)
        with zipfile.ZipFile(path) as file:
            yield Zip(file, _bounded(_members(file)))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeDecodeError) as error:
        raise CrateRefused(f"{path} is no sound ZIP file: {one_line(str(error))}.") from None


def read(archive: Archive, name: str, *, bytes_max: int) -> bytes:
    """The bytes of a file. Raises CrateRefused where there are more, whatever its header says."""
    with archive.open(name) as file:
        content = file.read(bytes_max + 1)
    if len(content) > bytes_max:
        raise CrateRefused(f"{one_line(name)} has more than {bytes_max:,} bytes.")
    return content


def digest(archive: Archive, name: str) -> str:
    """The sha256 of a file, read piece by piece. Raises CrateRefused where it is longer than its header says."""
    sha256, size = hashlib.sha256(), 0
    with archive.open(name) as file:
        while chunk := file.read(CHUNK_BYTES):
            size += len(chunk)
            if size > archive.sizes[name]:
                raise CrateRefused(f"{one_line(name)} is longer than it says.")
            sha256.update(chunk)
    return sha256.hexdigest()


def _files(home: Path) -> Iterator[tuple[str, int]]:
    folders = [home]
    while folders:
        for entry in sorted(folders.pop().iterdir()):
            name = entry.relative_to(home).as_posix()
            mode = entry.lstat().st_mode
            if stat.S_ISDIR(mode):
                if len(PurePosixPath(name).parts) > 2:
                    raise CrateRefused(f"{one_line(name)} is nested deeper than a crate is.")
                folders.append(entry)
            elif stat.S_ISREG(mode):
                yield name, entry.lstat().st_size
            else:
                raise CrateRefused(f"{one_line(name)} is a link or no file, and may lead out of the crate.")


def _require_short_directory(path: Path) -> None:
    """Refuse a ZIP file whose list of files would fill the memory; `zipfile` reads it whole."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - END_BYTES - COMMENT_BYTES_MAX - ZIP64_BYTES))
        tail = file.read()
    has_no_comment = tail[-END_BYTES:].startswith(END) and tail.endswith(b"\0\0")
    at = len(tail) - END_BYTES if has_no_comment else tail.rfind(END)
    directory_bytes = int.from_bytes(tail[at + 12 : at + 16], "little")
    if at < 0 or directory_bytes > DIRECTORY_BYTES_MAX or tail[:at][-ZIP64_BYTES:].startswith(ZIP64):
        raise CrateRefused(f"{path} is no ZIP file of a crate, or lists too many files.")


def _members(file: zipfile.ZipFile) -> Iterator[tuple[str, int]]:
    for member in file.infolist():
        name = member.orig_filename  # `filename` is what zipfile makes of it
        mode = member.external_attr >> 16
        if mode and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_IFMT(mode) == 0):
            raise CrateRefused(f"{one_line(name)} is a link or no file, and may lead out of the crate.")
        if member.flag_bits & ENCRYPTED or member.compress_type not in METHODS:
            raise CrateRefused(f"{one_line(name)} is encrypted or packed in a way that is not read.")
        if member.is_dir() and not member.file_size:
            _require_inside(name.rstrip("/"))
            continue
        yield name, member.file_size


def _bounded(files: Iterator[tuple[str, int]]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    spellings, total = set[str](), 0
    for name, size in files:
        _require_inside(name)
        if name.casefold() in spellings:
            raise CrateRefused(f"{one_line(name)} is there twice.")
        if size > TEXT_BYTES_MAX or (total := total + size) > TOTAL_BYTES_MAX:
            raise CrateRefused(f"{one_line(name)} makes it too large: {size:,} bytes, {total:,} in all.")
        if len(sizes) >= FILES_MAX:
            raise CrateRefused(f"It has more than {FILES_MAX:,} files.")
        spellings.add(name.casefold())
        sizes[name] = size
    return sizes


def _require_inside(name: str) -> None:
    parts = name.split("/")
    is_odd = any(letter < " " or letter in '\\:*?"<>|' for letter in name) or len(name) > NAME_CHARS_MAX
    if is_odd or not name or any(part in {"", ".", ".."} for part in parts):
        raise CrateRefused(f"{one_line(name) or 'A file'} is no name of a file within a crate.")
