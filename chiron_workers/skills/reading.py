"""A skill's folder, read."""

import os
from functools import lru_cache
from pathlib import Path

from chiron_workers.errors import SkillLoadError
from chiron_workers.skills.format import parsed
from chiron_workers.skills.skill import CODE, LeftOut, Skill, Source

FILES = ("SKILL.md", "skill.md")
BYTES_MAX = 262_144  # of a SKILL.md

Stamp = tuple[int, int, int] | None  # what changes when a file does; None: there is none


def skill_file(folder: Path) -> Path | None:
    """The SKILL.md of a folder, if it has one."""
    return next((folder / name for name in FILES if os.path.isfile(folder / name)), None)  # noqa: PTH113  # no raise


def read_skill(folder: Path, source: Source, *, trusted: tuple[Path, ...]) -> Skill | LeftOut:
    """The skill in a folder, or why it cannot be used. It is parsed again only when its files have changed, since the
    loop that plays the runs waits for it.

    Args:
        trusted: Folders whose skills may bring code.
    """
    file = skill_file(folder)
    if file is None:
        return LeftOut(folder, f"It has no {FILES[0]} any more.")
    return _read(file, source, trusted, _stamp(file), _stamp(folder / CODE))


def _stamp(file: Path) -> Stamp:
    try:
        found = os.stat(file)  # noqa: PTH116  # a hundred of them are a moment
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


@lru_cache(maxsize=2_000)
def _read(
    file: Path, source: Source, trusted: tuple[Path, ...], _text_stamp: Stamp, _code_stamp: Stamp
) -> Skill | LeftOut:
    folder, warnings = file.parent, []
    try:
        text = _text(file)
        written = parsed(text, folder_name=folder.name)
    except SkillLoadError as error:
        return LeftOut(folder, str(error))
    if "\ufffd" in text:
        warnings.append(f"Its {file.name} is not UTF-8.")
    is_trusted = _is_below(folder, trusted)
    if (folder / CODE).is_file() and not is_trusted:
        warnings.append(f"Its {CODE} is not run: name its folder in CHIRON_TRUSTED_SKILLS if you trust it.")
    told = (*written.warnings, *warnings)
    said = written.name, written.description, written.body
    return Skill(*said, folder, source, is_trusted, told, written.fields)


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            data = opened.read(BYTES_MAX + 1)
    except OSError as error:
        raise SkillLoadError(f"Its {file.name} cannot be read: {error.strerror or error}.") from None
    if len(data) > BYTES_MAX:
        raise SkillLoadError(f"Its {file.name} has more than {BYTES_MAX:,} bytes.")
    if b"\x00" in data:
        raise SkillLoadError(f"Its {file.name} is no text.")
    return data.decode(errors="replace")


def _is_below(folder: Path, trusted: tuple[Path, ...]) -> bool:
    # Where links lead counts, for the folder and for its code: a trusted folder vouches for what is in it.
    real = [folder.resolve(), (folder / CODE).resolve()]
    return any(all(path.is_relative_to(root.resolve()) for path in real) for root in trusted)
