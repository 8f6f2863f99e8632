"""Files below folders that may be read, opened so that no link, no `..` and no race leads out of them."""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from chiron_workers.documents.document import UnreadableError

READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
SPECIAL = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a link",
}


class OutsideError(UnreadableError):
    """The path is not below a folder that may be read."""


class MissingError(UnreadableError):
    """There is nothing at the path, which lies below a folder that may be read."""


@dataclass(frozen=True, slots=True)
class OpenPath:
    """An open file or folder; `path` has no links in it."""

    path: Path
    descriptor: int
    is_folder: bool
    size_bytes: int
    modified_at: datetime

    def read(self, *, bytes_max: int) -> bytes:
        """All of a file. Raises UnreadableError if it has more bytes than that, whatever its size is said to be."""
        if self.is_folder:
            raise UnreadableError("it is a folder, no file")
        if self.size_bytes > bytes_max:
            raise _TooLarge(bytes_max)
        with open(self.descriptor, "rb", closefd=False) as file:
            data = file.read(bytes_max + 1)
        if len(data) > bytes_max:
            raise _TooLarge(bytes_max)
        return data


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """What is in a folder: `kind` is folder, file, link or other."""

    name: str
    kind: str
    size_bytes: int
    modified_at: datetime


class _TooLarge(UnreadableError):
    def __init__(self, bytes_max: int) -> None:
        super().__init__(f"it is larger than {bytes_max:,} bytes; CHIRON_FILE_BYTES_MAX allows more")


@contextmanager
def open_below(path: str, folders: Sequence[Path]) -> Iterator[OpenPath]:
    """Open a regular file or a folder below one of the folders. A relative path is looked for in each of them.

    Links are resolved first, and the result is opened step by step without following any: a link that is put
    there meanwhile is refused. Names that begin with a dot are refused, too.

    Raises:
        OutsideError: It is not below a folder.
        UnreadableError: There is nothing, it is no regular file, or the system refuses.
    """
    found = _opened(path, folders)
    try:
        yield found
    finally:
        os.close(found.descriptor)


def missing_file_paths(path: str, folders: Sequence[Path]) -> list[Path]:
    """Where a file would lie that is missing: below each of the folders that are there themselves."""
    roots = [root for folder in folders if (root := folder.resolve()).is_dir()]
    places = [Path(os.path.realpath(root / path)) for root in roots]
    return [place for root, place in zip(roots, places, strict=True) if place.is_relative_to(root)]


def list_folder(folder: OpenPath) -> list[FolderEntry]:
    """What is in an open folder, by name, without what is hidden."""
    found = []
    with os.scandir(folder.descriptor) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # removed meanwhile
                if not entry.name.startswith("."):
                    found.append(_listed(entry))
    return sorted(found, key=lambda one: (one.kind != "folder", one.name))


def _opened(path: str, folders: Sequence[Path]) -> OpenPath:
    try:
        root, steps = _resolved(path, [folder.resolve() for folder in folders])
        return _described(root.joinpath(*steps), _descend(root, steps))
    except UnreadableError:
        raise
    except (OSError, ValueError) as error:
        raise _refusal(error) from None


def _resolved(path: str, roots: Sequence[Path]) -> tuple[Path, tuple[str, ...]]:
    found: list[tuple[Path, tuple[str, ...]]] = []
    for root in roots:
        real = Path(os.path.realpath(root / path))
        if real.is_relative_to(root):
            found.append((root, real.relative_to(root).parts))
    if not found:
        raise OutsideError("it is not below a folder that may be read")
    root, steps = next((one for one in found if one[0].joinpath(*one[1]).exists()), found[0])
    if any(step.startswith(".") for step in steps):
        raise OutsideError("it is hidden (a name begins with a dot), and hidden files are not read")
    return root, steps


def _descend(root: Path, steps: Sequence[str]) -> int:
    at = os.open(root, READ | os.O_DIRECTORY)
    try:
        for step in steps:
            _refuse_special(os.stat(step, dir_fd=at, follow_symlinks=False).st_mode)
            below = os.open(step, READ, dir_fd=at)
            os.close(at)
            at = below
    except BaseException:
        os.close(at)
        raise
    return at


def _refuse_special(mode: int) -> None:
    """Before it is opened, since opening a device may do something."""
    if (form := stat.S_IFMT(mode)) in SPECIAL:
        raise UnreadableError(f"it is {SPECIAL[form]}, no regular file")


def _described(path: Path, descriptor: int) -> OpenPath:
    found = os.fstat(descriptor)
    _refuse_special(found.st_mode)  # it may have become one meanwhile
    return OpenPath(path, descriptor, stat.S_ISDIR(found.st_mode), found.st_size, _moment(found.st_mtime))


def _listed(entry: os.DirEntry[str]) -> FolderEntry:
    found = entry.stat(follow_symlinks=False)
    kind = {stat.S_IFDIR: "folder", stat.S_IFREG: "file", stat.S_IFLNK: "link"}.get(
        stat.S_IFMT(found.st_mode), "other"
    )
    return FolderEntry(entry.name, kind, found.st_size if kind == "file" else 0, _moment(found.st_mtime))


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _refusal(error: OSError | ValueError) -> UnreadableError:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return MissingError("there is no such file")
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return UnreadableError("a link was put in its way while it was opened")
    if isinstance(error, OSError):
        return UnreadableError(error.strerror or str(error))
    return UnreadableError("that is no path")  # NUL characters, halves of surrogate pairs
