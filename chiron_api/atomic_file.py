import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """A place to write to, which takes the name of `target` when all is written; before that, what was there stays.

    A symbolic link stays one: the file that it leads to is replaced. What cannot be replaced, such as a device, is
    written to directly.
    """
    if target.exists() and not target.is_file():
        yield target
        return
    whole = target.resolve()
    unfinished = whole.with_name(f".{whole.name}.{os.getpid()}.unfinished")
    try:
        yield unfinished
        unfinished.replace(whole)
    finally:
        unfinished.unlink(missing_ok=True)
