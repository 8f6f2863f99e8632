from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from chiron_workers.skills.format import SkillDocument

CODE = "skill.py"


class Source(StrEnum):
    """Where a skill was found, in order of precedence."""

    PROJECT = "project"
    SETTING = "setting"
    USER = "user"
    SHIPPED = "shipped"


@dataclass(frozen=True, slots=True)
class Skill(SkillDocument):
    """A folder with a SKILL.md, as it was read."""

    folder: Path
    source: Source
    is_trusted: bool  # its code may run

    @property
    def has_code(self) -> bool:
        """Whether a `skill.py` lies beside its SKILL.md."""
        return (self.folder / CODE).is_file()


@dataclass(frozen=True, slots=True)
class Rejection:
    """A folder that is not offered as a skill, and why."""

    folder: Path
    reason: str
