"""The folder that notes are written to: nothing outside of it is touched, and nothing in it that we did not write."""

import json
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from chiron_api.atomic_file import atomic_write
from chiron_workers.errors import UsageError

MANIFEST = ".chiron-report.json"  # names the notes that we wrote, so that a later report can take their place


def write_notes(folder: Path, notes: Iterable[tuple[str, str]], *, force: bool = False) -> int:
    """Write notes into a folder, over those of an earlier report; how many.

    Files of other people in a folder that we made stay; one that has the name of a note is in the way.

    Args:
        folder: Made if it is not there, but not the folders above it.
        notes: Each as (name within the folder, with `/`, and text).
        force: Write even into a folder with files that we did not make.

    Raises:
        UsageError: It is no folder, has files that we did not make, or a folder in it leads elsewhere.
    """
    before = _previous_notes(folder, force=force)
    folder.mkdir(exist_ok=True)
    home = folder.resolve()
    texts = dict(notes)
    if not force:
        for name in sorted(set(texts) - set(before)):
            if _resolve(home, name).exists():
                raise UsageError(
                    f"{home / name} was not written by Chiron. Move it, name another folder, or say --force."
                )
    # First what is ours: a report that is cut is a report of ours all the same.
    _write(home, MANIFEST, json.dumps({"notes": sorted({*before, *texts})}))
    for name, text in texts.items():
        _write(home, name, text)
    # Where case does not count, Ice.md is ice.md.
    inodes = {_resolve(home, name).stat().st_ino for name in texts}
    for name in set(before) - set(texts):
        old = _resolve(home, name)
        if old.is_symlink() or (old.exists() and old.stat().st_ino not in inodes):
            old.unlink()
    _write(home, MANIFEST, json.dumps({"notes": list(texts)}))
    return len(texts)


def _previous_notes(folder: Path, *, force: bool) -> list[str]:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is no folder. Name one for the notes, or one that is not there yet.")
    if not folder.parent.is_dir():
        raise UsageError(f"There is no folder {folder.parent}.")
    if not folder.exists() or not any(folder.iterdir()):
        return []
    try:
        names = json.loads((folder / MANIFEST).read_text())["notes"]
    except (OSError, ValueError, KeyError, TypeError):
        names = None
    if isinstance(names, list):
        return [name for name in names if isinstance(name, str) and _is_inside(name)]
    if not force:
        raise UsageError(
            f"{folder} holds files that are no report of Chiron's. Name another folder, or say --force."
        )
    return []


def _is_inside(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return 0 < len(parts) <= 2 and ".." not in parts and not name.startswith("/") and name.endswith(".md")


def _write(home: Path, name: str, text: str) -> None:
    place = _resolve(home, name)
    place.parent.mkdir(exist_ok=True)
    # A link of that name would lead the text elsewhere.
    if place.is_symlink():
        place.unlink()
    # A write that is cut leaves the older note, and a list of ours that can be read.
    with atomic_write(place) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")


def _resolve(home: Path, name: str) -> Path:
    place = home / name
    if not place.parent.resolve().is_relative_to(home):
        raise UsageError(f"{place.parent} leads out of the folder. Remove it, or name another folder.")
    return place
