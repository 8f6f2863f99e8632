"""Where skills lie, and which of them are offered: the first of a name wins."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from chiron_workers.settings import Settings
from chiron_workers.skills.reading import read_skill, skill_file
from chiron_workers.skills.skill import LeftOut, Skill, Source

SHIPPED = Path(__file__).parent / "shipped"
DEPTH_MAX = 4
FOLDERS_MAX = 2_000  # looked at below one place
SKILLS_MAX = 100


@dataclass(frozen=True, slots=True)
class Place:
    """A folder that holds skills."""

    folder: Path
    source: Source


def places(settings: Settings) -> list[Place]:
    """The folders of skills, in order of precedence: the project's, those of the settings, the user's, the shipped."""
    project = [settings.project / ".chiron" / "skills", settings.project / ".agents" / "skills"]
    by_source = {
        Source.PROJECT: project,
        Source.SETTING: settings.skills,
        Source.USER: [settings.home / "skills"],
        Source.SHIPPED: [SHIPPED],
    }
    return [Place(folder, source) for source in Source for folder in by_source[source]]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The skills that are offered, by name, and what is not."""

    skills: Mapping[str, Skill] = field(default_factory=dict)
    shadowed: tuple[Skill, ...] = ()  # by one of the same name
    left_out: tuple[LeftOut, ...] = ()

    @classmethod
    def read(cls, places: Sequence[Place], *, trusted: Sequence[Path] = ()) -> Self:
        """All skills of some places. Shipped ones are trusted, and those below the folders `trusted`."""
        offered: dict[str, Skill] = {}
        shadowed: list[Skill] = []
        left_out: list[LeftOut] = []
        for place in places:
            for folder in _skill_folders(place, left_out):
                skill = read_skill(folder, place.source, trusted=(SHIPPED, *trusted))
                if isinstance(skill, LeftOut):
                    left_out.append(skill)
                elif skill.name in offered:
                    shadowed.append(skill)
                elif len(offered) == SKILLS_MAX:
                    left_out.append(LeftOut(folder, f"There are {SKILLS_MAX} skills already."))
                else:
                    offered[skill.name] = skill
        return cls(dict(sorted(offered.items())), tuple(shadowed), tuple(left_out))


def _skill_folders(place: Place, left_out: list[LeftOut]) -> Iterator[Path]:
    """The folders with a SKILL.md, the place itself or such as lie below it; none within another."""
    waiting = [(place.folder, 0)]
    seen = 0
    while waiting:
        folder, depth = waiting.pop(0)
        seen += 1
        if seen > FOLDERS_MAX:
            left_out.append(LeftOut(place.folder, f"It has more than {FOLDERS_MAX:,} folders."))
            return
        if skill_file(folder) is not None:
            yield folder
        elif depth < DEPTH_MAX:
            waiting += [(inner, depth + 1) for inner in _inner(folder, left_out)]


def _inner(folder: Path, left_out: list[LeftOut]) -> list[Path]:
    try:
        with os.scandir(folder) as found:
            names = [entry.name for entry in found if entry.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        left_out.append(LeftOut(folder, f"It cannot be read: {error.strerror or error}."))
        return []
    return [
        folder / name for name in sorted(names) if not name.startswith((".", "_")) and name != "node_modules"
    ]
