import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from uuid import UUID

from chiron_workers.errors import SkillNotFoundError
from chiron_workers.settings import settings
from chiron_workers.skills.catalogue import Catalogue, Place, places
from chiron_workers.skills.code import closure, load_code
from chiron_workers.skills.lifecycle import Lifecycle
from chiron_workers.skills.skill import CODE, LeftOut, Skill

REREAD_S = 1.0


class Skills:
    """The skills of a process. Folders are looked at again and again, so a new skill is offered to the next run;
    code is loaded once.

    Args:
        places: Where skills lie, in order of precedence.
        trusted: Folders whose skills may bring code.
    """

    def __init__(self, places: Sequence[Place] = (), *, trusted: Sequence[Path] = ()) -> None:
        self._places = places
        self._trusted = trusted
        self._lifecycle = Lifecycle()
        self._read_at = 0.0
        self._broken: dict[Path, LeftOut] = {}
        self._coded: frozenset[str] | None = None  # names whose code was looked at; None: not yet
        self._catalogue = self._read()
        self._coded = frozenset(self._catalogue.skills)
        self.codes, broken = load_code(self._catalogue)
        self.leave_out(broken)

    def catalogue(self) -> Catalogue:
        """What is offered now."""
        if time.monotonic() - self._read_at > REREAD_S:
            self._catalogue = self._read()
        return self._catalogue

    def get(self, name: str) -> Skill:
        """The skill of a name. Raises SkillNotFoundError, which names those that there are."""
        offered = self.catalogue().skills
        if name not in offered:
            known = ", ".join(offered) or "none"
            raise SkillNotFoundError(f"There is no skill {name!r}. Skills: {known}.")
        return offered[name]

    def with_needed(self, name: str) -> list[Skill]:
        """A skill after all that it needs. Raises SkillNotFoundError."""
        return [self.get(each) for each in closure(name, self.codes)]

    async def get_ready(self, name: str, *, run_id: UUID) -> None:
        """Make the code of a skill, and of those it needs, ready for a run that has loaded it. Raises SkillLoadError."""
        await self.activate(run_id, closure(name, self.codes))

    def leave_out(self, broken: Iterable[LeftOut]) -> None:
        """Offer these no longer."""
        self._broken |= {each.folder: each for each in broken}
        self.codes = {
            name: code for name, code in self.codes.items() if code.skill.folder not in self._broken
        }
        self._catalogue = self._read()

    async def activate(self, run_id: UUID, names: Iterable[str]) -> None:
        """Make the code of skills ready for a run. Raises SkillLoadError."""
        await self._lifecycle.activate(run_id, [self.codes[name] for name in names if name in self.codes])

    async def leave(self, run_id: UUID) -> None:
        """Let go of a run."""
        await self._lifecycle.leave(run_id)

    async def close(self) -> None:
        """Unload all code."""
        await self._lifecycle.close(list(self.codes.values()))

    def _read(self) -> Catalogue:
        found = Catalogue.read(self._places, trusted=self._trusted)
        self._read_at = time.monotonic()
        usable = {
            name: self._marked(skill)
            for name, skill in found.skills.items()
            if skill.folder not in self._broken
        }
        return replace(found, skills=usable, left_out=(*found.left_out, *self._broken.values()))

    def _marked(self, skill: Skill) -> Skill:
        if self._coded is None or skill.name in self._coded or not (skill.is_trusted and skill.has_code):
            return skill
        return replace(
            skill, warnings=(*skill.warnings, f"Its {CODE} runs once the workers are started again.")
        )


@cache
def skills() -> Skills:
    """The skills of this process, from the folders that its settings name."""
    found = settings()
    return Skills(places(found), trusted=found.trusted_skills)
