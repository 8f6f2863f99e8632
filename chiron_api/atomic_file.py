import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(target: Path) -> Iterator[Path]:
    """A temporary path to write to, which replaces `target` when the block ends without an error.

    A symbolic link stays one: the file that it leads to is replaced. What cannot be replaced, such as a device, is
    written to directly.
    """
    if target.exists() and not target.is_file():
        yield target
        return
    final = target.resolve()
    # Nobody who may write in the folder too can make it beforehand, as a file of theirs or a link.
    partial = final.with_name(f".{final.name}.{os.getpid()}.{secrets.token_hex(8)}.unfinished")
    try:
        yield partial
        partial.replace(final)
    finally:
        partial.unlink(missing_ok=True)
