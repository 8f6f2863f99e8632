"""The folders that tools may read, their listings, and the errors for files that cannot be read."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.sandbox.open_below import OpenPath, OutsideError, list_folder
from chiron_workers.documents.sandbox.sandbox import Limits
from chiron_workers.errors import ToolError
from chiron_workers.settings import settings

PATH_CHARS_SHOWN = 300
ENTRIES_MAX = 500


class Entry(TypedDict):
    """A file or folder as its folder lists it; `kind` is folder, file, link or other."""

    name: str
    kind: str
    bytes: int | None
    modified_at: str | None


class FolderList(TypedDict):
    """What is in a folder; `next_offset` is None where the list ends."""

    path: str
    kind: str
    entries: list[Entry]
    count: int
    next_offset: int | None


@dataclass(frozen=True, slots=True)
class Folder:
    """The entries of one folder, or of all allowed folders if `path` is empty."""

    path: str
    entries: list[Entry]


def allowed_folders() -> Sequence[Path]:
    """The folders of CHIRON_FILES. Raises ToolError, which says how to allow one, if there are none."""
    folders = settings().files
    if not folders:
        raise ToolError(
            "No folder may be read. Whoever runs Chiron can allow some with the setting CHIRON_FILES, for example "
            "CHIRON_FILES=/home/me/papers, and start the workers again."
        )
    return folders


def file_limits() -> Limits:
    """The sandbox limits for reading one file, from the settings."""
    config = settings()
    return Limits(config.file_timeout_s, config.file_memory_mb * 1_000_000)


def list_allowed_folders() -> Folder:
    """The allowed folders themselves, as the entries of a folder without a path."""
    names = [printable(str(folder)) for folder in allowed_folders()]
    return Folder("", [Entry(name=name, kind="folder", bytes=None, modified_at=None) for name in names])


def to_folder(target: OpenPath) -> Folder:
    """List an open folder."""
    entries = [
        Entry(
            name=printable(entry.name),
            kind=entry.kind,
            bytes=entry.size_bytes if entry.kind == "file" else None,
            modified_at=entry.modified_at.isoformat(timespec="seconds"),
        )
        for entry in list_folder(target)
    ]
    return Folder(printable(str(target.path)), entries)


def folder_window(folder: Folder, offset: int) -> FolderList:
    """At most 500 entries from `offset` on. Raises ToolError past the end."""
    count = len(folder.entries)
    if offset and offset >= count:
        raise ToolError(f"offset: {offset} is past the end of the folder, which has {count:,} entries.")
    end = offset + ENTRIES_MAX
    return FolderList(
        path=folder.path,
        kind="folder",
        entries=folder.entries[offset:end],
        count=count,
        next_offset=end if end < count else None,
    )


def refusal_error(path: str, error: UnreadableError, note: str = "") -> ToolError:
    """Make the error that tells the model why a file cannot be read; `note` is added to it."""
    hint = f" ({', '.join(map(str, allowed_folders()))})" if isinstance(error, OutsideError) else ""
    return ToolError(f"{printable(path)[:PATH_CHARS_SHOWN]!r} cannot be read: {error}{hint}. {note}".rstrip())


def printable(name: str) -> str:
    """Make a file name storable as text, whatever its bytes."""
    return name.encode(errors="surrogateescape").decode(errors="replace")
