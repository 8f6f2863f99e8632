"""Where the files of a crate are written: a folder or a ZIP file, which is there whole or not at all."""

import os
import secrets
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from chiron_api.atomic_file import atomic_write, errors_of_target, refuse_to_overwrite
from chiron_api.crate.layout import DOCUMENTS, METADATA, SIGNING_FILES, SNAPSHOT
from chiron_workers.errors import UsageError

Sink = Callable[[str, bytes], None]


def is_zip(target: Path) -> bool:
    """Whether a crate of that name is one file."""
    return target.suffix.lower() == ".zip"


def refuse_target(target: Path, *, force: bool) -> None:
    """Raises UsageError if something is there that would be lost, or there is no place for a crate."""
    if is_zip(target):
        refuse_to_overwrite(target, force=force)
        return
    if not target.parent.is_dir():
        raise UsageError(f"There is no folder {target.parent}.")
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise UsageError(
            f"{target} is no folder. Name one that is not there yet, or a file that ends with .zip."
        )
    if not target.exists() or not any(target.iterdir()):
        return
    if not force:
        raise UsageError(f"{target} exists. Choose another name, or overwrite the crate there with --force.")
    if not (target / METADATA).is_file() or not all(_is_ours(target, place) for place in target.rglob("*")):
        raise UsageError(f"{target} holds files that are no crate of Chiron's. Name another folder.")


def _is_ours(home: Path, place: Path) -> bool:
    name = place.relative_to(home).as_posix()
    return name in {METADATA, *DOCUMENTS, *SIGNING_FILES, "snapshots"} or SNAPSHOT.fullmatch(name) is not None


@contextmanager
def open_sink(target: Path, *, made_at: datetime) -> Iterator[Sink]:
    """Takes files by name and content; the crate gets its name when the block ends without an error."""
    if is_zip(target):
        with atomic_write(target) as place, zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as file:
            yield lambda name, content: file.writestr(_member(name, made_at), content)
        return
    # Nobody who may write in the folder too can make them beforehand, as links that lead elsewhere.
    mark = f".{target.name}.{os.getpid()}.{secrets.token_hex(8)}"
    partial, former = target.with_name(f"{mark}.unfinished"), target.with_name(f"{mark}.former")
    try:
        with errors_of_target(target, partial):
            (partial / "snapshots").mkdir(parents=True)
            yield lambda name, content: _write(partial / name, content)
            if not any((partial / "snapshots").iterdir()):
                (partial / "snapshots").rmdir()
            if target.exists():
                target.rename(former)
            partial.rename(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        if target.exists():
            shutil.rmtree(former, ignore_errors=True)


def _member(name: str, made_at: datetime) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, made_at.timetuple()[:6])
    member.compress_type = zipfile.ZIP_DEFLATED
    member.external_attr = 0o100644 << 16
    return member


def _write(place: Path, content: bytes) -> None:
    place.write_bytes(content)
