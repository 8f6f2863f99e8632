"""The folders of skills, and which skills are offered: the first of a name wins."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from chiron_workers.settings import Settings
from chiron_workers.skills.skill import Rejection, Skill, Source
from chiron_workers.skills.skill_folder import read_skill, skill_file

SHIPPED = Path(__file__).parent / "shipped"
DEPTH_MAX = 4
FOLDERS_MAX = 2_000  # looked at below one root
SKILLS_MAX = 100


@dataclass(frozen=True, slots=True)
class SkillRoot:
    """A folder that holds skills."""

    folder: Path
    source: Source


def skill_roots(settings: Settings) -> list[SkillRoot]:
    """The folders of skills, in order of precedence: the project's, those of the settings, the user's, the shipped."""
    project = [settings.project / ".chiron" / "skills", settings.project / ".agents" / "skills"]
    by_source = {
        Source.PROJECT: project,
        Source.SETTING: settings.skills,
        Source.USER: [settings.home / "skills"],
        Source.SHIPPED: [SHIPPED],
    }
    return [SkillRoot(folder, source) for source in Source for folder in by_source[source]]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The skills that are offered, by name, and what is not."""

    skills: Mapping[str, Skill] = field(default_factory=dict)
    shadowed_skills: tuple[Skill, ...] = ()  # an earlier folder has one of the same name
    rejections: tuple[Rejection, ...] = ()

    @classmethod
    def read(cls, roots: Sequence[SkillRoot], *, trusted_folders: Sequence[Path] = ()) -> Self:
        """All skills below some folders. Shipped ones are trusted, and those below `trusted_folders`."""
        skills: dict[str, Skill] = {}
        shadowed_skills: list[Skill] = []
        rejections: list[Rejection] = []
        for root in roots:
            for folder in _skill_folders(root, rejections):
                skill = read_skill(folder, root.source, trusted_folders=(SHIPPED, *trusted_folders))
                if isinstance(skill, Rejection):
                    rejections.append(skill)
                elif skill.name in skills:
                    shadowed_skills.append(skill)
                elif len(skills) == SKILLS_MAX:
                    rejections.append(Rejection(folder, f"There are {SKILLS_MAX} skills already."))
                else:
                    skills[skill.name] = skill
        return cls(dict(sorted(skills.items())), tuple(shadowed_skills), tuple(rejections))


def _skill_folders(root: SkillRoot, rejections: list[Rejection]) -> Iterator[Path]:
    """The folders with a SKILL.md, the root itself or those below it; none within another."""
    queue = [(root.folder, 0)]
    count = 0
    while queue:
        folder, depth = queue.pop(0)
        count += 1
        if count > FOLDERS_MAX:
            rejections.append(Rejection(root.folder, f"It has more than {FOLDERS_MAX:,} folders."))
            return
        if skill_file(folder) is not None:
            yield folder
        elif depth < DEPTH_MAX:
            queue += [(child, depth + 1) for child in _child_folders(folder, rejections)]


def _child_folders(folder: Path, rejections: list[Rejection]) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        rejections.append(Rejection(folder, f"It cannot be read: {error.strerror or error}."))
        return []
    return [
        folder / name for name in sorted(names) if not name.startswith((".", "_")) and name != "node_modules"
    ]
