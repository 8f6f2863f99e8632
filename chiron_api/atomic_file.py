import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from chiron_workers.errors import UsageError

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # such an error names no file


@contextmanager
def atomic_write(target: Path) -> Iterator[Path]:
    """A temporary path to write to, which replaces `target` when the block ends without an error.

    A symbolic link stays one: the file that it leads to is replaced. What cannot be replaced, such as a device, is
    written to directly.

    Raises:
        OSError: It cannot be written; the error names the target.
    """
    if target.exists() and not target.is_file():
        yield target
        return
    final = target.resolve()
    # Nobody who may write in the folder too can make it beforehand, as a file of theirs or a link.
    partial = final.with_name(f".{final.name}.{os.getpid()}.{secrets.token_hex(8)}.unfinished")
    try:
        with errors_of_target(target, partial):
            yield partial
            partial.replace(final)
    finally:
        with suppress(OSError):  # a file system that is read-only says so also of what is not there
            partial.unlink()


@contextmanager
def errors_of_target(target: Path, partial: Path) -> Iterator[None]:
    """Let an OSError of a temporary file or folder, or of a full disk, name the target that it is written for."""
    try:
        yield
    except OSError as error:
        is_partial = isinstance(error.filename, str) and Path(error.filename).is_relative_to(partial)
        if is_partial or (error.filename is None and error.errno in FULL):
            raise OSError(error.errno, error.strerror, str(target)) from error
        raise


def refuse_to_overwrite(target: Path, *, force: bool) -> None:
    """Raises UsageError if a file is there and `force` is not set, or if there is no place for it."""
    if target.is_dir():
        raise UsageError(f"{target} is a folder. Name a file in it.")
    if target.exists() and not force:
        raise UsageError(f"{target} exists. Choose another name, or overwrite it with --force.")
    folder = target.resolve().parent if target.is_symlink() else target.parent
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}.")
