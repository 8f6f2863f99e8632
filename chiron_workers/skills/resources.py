"""The files of a skill: listed when it is loaded, read when its instructions call for them."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from chiron_workers.errors import SkillError
from chiron_workers.skills.skill import CODE, Skill
from chiron_workers.skills.skill_folder import FILES

LISTED_MAX = 100
VISITED_MAX = 2_000
BYTES_MAX = 2_000_000


@dataclass(frozen=True, slots=True)
class Resource:
    """A file of a skill."""

    path: str  # below the skill's folder, with /
    bytes: int


def resources(skill: Skill) -> tuple[list[Resource], bool]:
    """The files of a skill but its SKILL.md and its code, by path; and whether there are more than are listed."""
    files: list[Resource] = []
    visited_count = 0
    for folder, folders, names in os.walk(skill.folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
        for name in sorted(names):
            visited_count += 1
            path = Path(folder, name)
            if len(files) == LISTED_MAX or visited_count > VISITED_MAX:
                return files, True
            if _is_listed(skill, path):
                files.append(Resource(path.relative_to(skill.folder).as_posix(), path.stat().st_size))
    return files, False


def read_resource(skill: Skill, path: str) -> str:
    """The text of a file below the skill's folder.

    Raises:
        SkillError: It lies elsewhere, is no file, no text, or too large; the message names the path.
    """
    root = skill.folder.resolve()
    try:
        real = (root / path).resolve()
        if not real.is_relative_to(root) or real == root:
            raise SkillError(f"{path!r} is not below the folder of the skill {skill.name}.")
        data = _read_bytes(real)
    except (FileNotFoundError, NotADirectoryError):
        paths = ", ".join(file.path for file in resources(skill)[0]) or "none"
        raise SkillError(f"The skill {skill.name} has no file {path!r}. Its files: {paths}.") from None
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise SkillError(f"{path!r} of the skill {skill.name} cannot be read: {error}.") from None
    if data is None:
        raise SkillError(f"{path!r} of the skill {skill.name} is no plain file.")
    if len(data) > BYTES_MAX:
        raise SkillError(f"{path!r} of the skill {skill.name} has more than {BYTES_MAX:,} bytes.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\x00"
    if "\x00" in text:
        raise SkillError(f"{path!r} of the skill {skill.name} is no text in UTF-8.")
    return text


def _is_listed(skill: Skill, path: Path) -> bool:
    if path.name.startswith(".") or (path.parent == skill.folder and path.name in (*FILES, CODE)):
        return False
    return path.is_file() and path.resolve().is_relative_to(skill.folder.resolve())


def _read_bytes(file: Path) -> bytes | None:
    # A link that has replaced the file since is not followed, and a pipe is not waited for.
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as reader:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return reader.read(BYTES_MAX + 1)
