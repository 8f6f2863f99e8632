import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from uuid import UUID

from chiron_workers.errors import SkillNotFoundError
from chiron_workers.settings import settings
from chiron_workers.skills.catalogue import Catalogue, SkillRoot, skill_roots
from chiron_workers.skills.code import load_code, with_requirements
from chiron_workers.skills.lifecycle import Lifecycle
from chiron_workers.skills.skill import CODE, Rejection, Skill

REREAD_S = 1.0


class Skills:
    """The skills of a process. Folders are read again every REREAD_S, so the next run is offered a new skill; code is
    loaded once.

    Args:
        roots: The folders of skills, in order of precedence.
        trusted_folders: Folders whose skills may bring code.
    """

    def __init__(self, roots: Sequence[SkillRoot] = (), *, trusted_folders: Sequence[Path] = ()) -> None:
        self._roots = roots
        self._trusted_folders = trusted_folders
        self._lifecycle = Lifecycle()
        self._read_at = 0.0
        self._code_rejections: dict[Path, Rejection] = {}
        # Only the code of these is loaded; None: before the start.
        self._names_at_start: frozenset[str] | None = None
        self._catalogue = self._read()
        self._names_at_start = frozenset(self._catalogue.skills)
        self.codes, rejections = load_code(self._catalogue)
        self.reject(rejections)

    def catalogue(self) -> Catalogue:
        """The skills that are offered now."""
        if time.monotonic() - self._read_at > REREAD_S:
            self._catalogue = self._read()
        return self._catalogue

    def get(self, name: str) -> Skill:
        """The skill of a name. Raises SkillNotFoundError, which names those that there are."""
        skills = self.catalogue().skills
        if name not in skills:
            names = ", ".join(skills) or "none"
            raise SkillNotFoundError(f"There is no skill {name!r}. Skills: {names}.")
        return skills[name]

    def get_with_requirements(self, name: str) -> list[Skill]:
        """A skill, after all skills that it needs. Raises SkillNotFoundError."""
        return [self.get(requirement) for requirement in with_requirements(name, self.codes)]

    async def activate_with_requirements(self, run_id: UUID, name: str) -> None:
        """Make the code of a skill, and of those it needs, ready for a run that has loaded it. Raises SkillLoadError."""
        await self.activate(run_id, with_requirements(name, self.codes))

    def reject(self, rejections: Iterable[Rejection]) -> None:
        """Offer these no longer."""
        self._code_rejections |= {rejection.folder: rejection for rejection in rejections}
        self.codes = {
            name: code for name, code in self.codes.items() if code.skill.folder not in self._code_rejections
        }
        self._catalogue = self._read()

    async def activate(self, run_id: UUID, names: Iterable[str]) -> None:
        """Make the code of skills ready for a run. Raises SkillLoadError."""
        await self._lifecycle.activate(run_id, [self.codes[name] for name in names if name in self.codes])

    async def deactivate(self, run_id: UUID) -> None:
        """Deactivate the skills of a run."""
        await self._lifecycle.deactivate(run_id)

    async def close(self) -> None:
        """Unload all code."""
        await self._lifecycle.close(list(self.codes.values()))

    def _read(self) -> Catalogue:
        catalogue = Catalogue.read(self._roots, trusted_folders=self._trusted_folders)
        self._read_at = time.monotonic()
        usable = {
            name: self._with_restart_warning(skill)
            for name, skill in catalogue.skills.items()
            if skill.folder not in self._code_rejections
        }
        return replace(
            catalogue, skills=usable, rejections=(*catalogue.rejections, *self._code_rejections.values())
        )

    def _with_restart_warning(self, skill: Skill) -> Skill:
        is_late = self._names_at_start is not None and skill.name not in self._names_at_start
        if not (is_late and skill.is_trusted and skill.has_code):
            return skill
        warning = f"Its {CODE} runs once the workers are started again."
        return replace(skill, warnings=(*skill.warnings, warning))


@cache
def skills() -> Skills:
    """The skills of this process, from the folders that its settings name."""
    config = settings()
    return Skills(skill_roots(config), trusted_folders=config.trusted_skills)
