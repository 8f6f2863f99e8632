"""What the tools that read files have in common: which folders they may read, and how they say that they cannot."""

from collections.abc import Sequence
from pathlib import Path

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.sandbox.open_below import OutsideError
from chiron_workers.documents.sandbox.sandbox import Limits
from chiron_workers.errors import ToolError
from chiron_workers.settings import settings

PATH_CHARS_SHOWN = 300


def allowed_folders() -> Sequence[Path]:
    """The folders that may be read. Raises ToolError if there are none, which says how to allow one."""
    folders = settings().files
    if not folders:
        raise ToolError(
            "No folder may be read. Whoever runs Chiron can allow some with the setting CHIRON_FILES, for example "
            "CHIRON_FILES=/home/me/papers, and start the workers again."
        )
    return folders


def file_limits() -> Limits:
    """The time and memory that reading one file may take."""
    known = settings()
    return Limits(known.file_timeout_s, known.file_memory_mb * 1_000_000)


def refusal_error(path: str, error: UnreadableError, note: str = "") -> ToolError:
    """The error that tells a model why a file cannot be read, with what else is to be said of it."""
    hint = f" ({', '.join(map(str, allowed_folders()))})" if isinstance(error, OutsideError) else ""
    return ToolError(f"{printable(path)[:PATH_CHARS_SHOWN]!r} cannot be read: {error}{hint}. {note}".rstrip())


def printable(name: str) -> str:
    """A file name as text that can be stored, whatever its bytes."""
    return name.encode(errors="surrogateescape").decode(errors="replace")
