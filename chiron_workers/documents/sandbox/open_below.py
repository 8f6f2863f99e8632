"""Open files below allowed folders, so that no link, no `..` and no race leads out of them."""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from chiron_workers.documents.document import UnreadableError

READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
SPECIAL_FILES = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a link",
}


class OutsideError(UnreadableError):
    """The path is not below an allowed folder, or is hidden."""


class MissingError(UnreadableError):
    """The path lies below an allowed folder, and nothing is there."""


@dataclass(frozen=True, slots=True)
class OpenPath:
    """An open file or folder; `path` is resolved."""

    path: Path
    descriptor: int
    is_folder: bool
    size_bytes: int
    modified_at: datetime

    def read(self, *, bytes_max: int) -> bytes:
        """Read a whole file. Raises UnreadableError beyond `bytes_max`, also if the file grew since it was opened."""
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
    """A file or folder in a folder; `kind` is folder, file, link or other."""

    name: str
    kind: str
    size_bytes: int
    modified_at: datetime


class _TooLarge(UnreadableError):
    def __init__(self, bytes_max: int) -> None:
        super().__init__(f"it is larger than {bytes_max:,} bytes; CHIRON_FILE_BYTES_MAX allows more")


@contextmanager
def open_below(path: str, folders: Sequence[Path]) -> Iterator[OpenPath]:
    """Open a regular file or a folder below one of `folders`. A relative path is tried in each of them.

    The path is resolved first and then opened component by component without following links, so that a link
    created meanwhile is refused.

    Raises:
        OutsideError: It is not below one of the folders, or a name begins with a dot.
        MissingError: Nothing is there.
        UnreadableError: It is no regular file, or the system refuses.
    """
    target = _open(path, folders)
    try:
        yield target
    finally:
        os.close(target.descriptor)


def missing_file_paths(path: str, folders: Sequence[Path]) -> list[Path]:
    """The absolute paths that a missing file could have had: one below each folder that exists."""
    roots = [root for folder in folders if (root := folder.resolve()).is_dir()]
    paths = [Path(os.path.realpath(root / path)) for root in roots]
    return [candidate for root, candidate in zip(roots, paths, strict=True) if candidate.is_relative_to(root)]


def list_folder(folder: OpenPath) -> list[FolderEntry]:
    """List an open folder, folders first, then by name, without hidden entries."""
    listing = []
    with os.scandir(folder.descriptor) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # Removed meanwhile.
                if not entry.name.startswith("."):
                    listing.append(_folder_entry(entry))
    return sorted(listing, key=lambda item: (item.kind != "folder", item.name))


def _open(path: str, folders: Sequence[Path]) -> OpenPath:
    try:
        root, steps = _resolve(path, [folder.resolve() for folder in folders])
        return _open_path(root.joinpath(*steps), _open_stepwise(root, steps))
    except UnreadableError:
        raise
    except (OSError, ValueError) as error:
        raise _to_unreadable(error) from None


def _resolve(path: str, roots: Sequence[Path]) -> tuple[Path, tuple[str, ...]]:
    candidates: list[tuple[Path, tuple[str, ...]]] = []
    for root in roots:
        real = Path(os.path.realpath(root / path))
        if real.is_relative_to(root):
            candidates.append((root, real.relative_to(root).parts))
    if not candidates:
        raise OutsideError("it is not below a folder that may be read")
    root, steps = next(
        (candidate for candidate in candidates if candidate[0].joinpath(*candidate[1]).exists()),
        candidates[0],
    )
    if any(step.startswith(".") for step in steps):
        raise OutsideError("it is hidden (a name begins with a dot), and hidden files are not read")
    return root, steps


def _open_stepwise(root: Path, steps: Sequence[str]) -> int:
    descriptor = os.open(root, READ_FLAGS | os.O_DIRECTORY)
    try:
        for step in steps:
            _refuse_special(os.stat(step, dir_fd=descriptor, follow_symlinks=False).st_mode)
            child = os.open(step, READ_FLAGS, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = child
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _refuse_special(mode: int) -> None:
    """Raises UnreadableError for special files; called before opening, since opening a device has effects."""
    if (form := stat.S_IFMT(mode)) in SPECIAL_FILES:
        raise UnreadableError(f"it is {SPECIAL_FILES[form]}, no regular file")


def _open_path(path: Path, descriptor: int) -> OpenPath:
    status = os.fstat(descriptor)
    try:
        _refuse_special(status.st_mode)  # The file may have been replaced meanwhile.
    except UnreadableError:
        os.close(descriptor)
        raise
    return OpenPath(path, descriptor, stat.S_ISDIR(status.st_mode), status.st_size, _utc(status.st_mtime))


def _folder_entry(entry: os.DirEntry[str]) -> FolderEntry:
    status = entry.stat(follow_symlinks=False)
    kind = {stat.S_IFDIR: "folder", stat.S_IFREG: "file", stat.S_IFLNK: "link"}.get(
        stat.S_IFMT(status.st_mode), "other"
    )
    return FolderEntry(entry.name, kind, status.st_size if kind == "file" else 0, _utc(status.st_mtime))


def _utc(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _to_unreadable(error: OSError | ValueError) -> UnreadableError:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return MissingError("there is no such file")
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return UnreadableError("a link was put in its way while it was opened")
    if isinstance(error, OSError):
        return UnreadableError(error.strerror or str(error))
    return UnreadableError("that is no path")  # A NUL character or half of a surrogate pair.
