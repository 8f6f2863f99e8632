"""Reads a skill from its folder."""

import os
from functools import lru_cache
from pathlib import Path

from chiron_workers.errors import SkillLoadError
from chiron_workers.skills.format import parse_skill
from chiron_workers.skills.skill import CODE, Rejection, Skill, Source

FILES = ("SKILL.md", "skill.md")
BYTES_MAX = 262_144  # of a SKILL.md

Stamp = tuple[int, int, int] | None  # (mtime, size, inode) of a file; None: there is none


def skill_file(folder: Path) -> Path | None:
    """The SKILL.md of a folder, if it has one."""
    return next((folder / name for name in FILES if os.path.isfile(folder / name)), None)  # noqa: PTH113  # Path.is_file raises on odd names


def read_skill(folder: Path, source: Source, *, trusted_folders: tuple[Path, ...]) -> Skill | Rejection:
    """The skill in a folder, or why it cannot be used. It is parsed again only when its files have changed, since the
    loop that plays the runs waits for it.
    """
    file = skill_file(folder)
    if file is None:
        return Rejection(folder, f"It has no {FILES[0]} any more.")
    return _read(file, source, trusted_folders, _stamp(file), _stamp(folder / CODE))


def _stamp(file: Path) -> Stamp:
    try:
        status = os.stat(file)  # noqa: PTH116  # quicker for a hundred files
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


@lru_cache(maxsize=2_000)
def _read(
    file: Path, source: Source, trusted_folders: tuple[Path, ...], _text_stamp: Stamp, _code_stamp: Stamp
) -> Skill | Rejection:
    folder, warnings = file.parent, []
    try:
        text = _read_text(file)
        document = parse_skill(text, folder_name=folder.name)
    except SkillLoadError as error:
        return Rejection(folder, str(error))
    if "\ufffd" in text:
        warnings.append(f"Its {file.name} is not UTF-8.")
    is_trusted = _is_trusted(folder, trusted_folders)
    if (folder / CODE).is_file() and not is_trusted:
        warnings.append(f"Its {CODE} is not run: name its folder in CHIRON_TRUSTED_SKILLS if you trust it.")
    warnings = [*document.warnings, *warnings]
    return Skill(
        document.name,
        document.description,
        document.body,
        document.fields,
        tuple(warnings),
        folder,
        source,
        is_trusted,
    )


def _read_text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            data = stream.read(BYTES_MAX + 1)
    except OSError as error:
        raise SkillLoadError(f"Its {file.name} cannot be read: {error.strerror or error}.") from None
    if len(data) > BYTES_MAX:
        raise SkillLoadError(f"Its {file.name} has more than {BYTES_MAX:,} bytes.")
    if b"\x00" in data:
        raise SkillLoadError(f"Its {file.name} is no text.")
    return data.decode(errors="replace")


def _is_trusted(folder: Path, trusted_folders: tuple[Path, ...]) -> bool:
    # Links are followed, for the folder and for its code: a trusted folder vouches only for what lies in it.
    paths = [folder.resolve(), (folder / CODE).resolve()]
    return any(all(path.is_relative_to(root.resolve()) for path in paths) for root in trusted_folders)
