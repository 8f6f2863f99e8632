from dataclasses import dataclass
from uuid import UUID

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.errors import SkillError
from chiron_workers.runs.session import Session

SQL = load(__file__)


@dataclass(frozen=True, slots=True)
class LoadedSkill:
    """A skill as it was when a run loaded it."""

    name: str
    body: str  # the instructions that the agent was given
    system_text: str = ""  # what it adds to the system prompt of later epochs


async def loaded_skills_of(pool: Pool, run_id: UUID) -> list[LoadedSkill]:
    """The skills that a run has loaded, in that order."""
    rows = await fetch_all(pool, SQL["read"], {"run_id": run_id})
    return [LoadedSkill(**row) for row in rows]


class LoadedSkills:
    """The skills of the run on whose behalf a store is used."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def all(self) -> list[LoadedSkill]:
        """Every skill that the run has loaded, in that order. Raises SkillError outside of a run."""
        return [
            LoadedSkill(**row) for row in await self._session.rows(SQL["read"], {"run_id": self._run_id()})
        ]

    async def names(self) -> set[str]:
        """The names of all that the run has loaded. Raises SkillError outside of a run."""
        rows = await self._session.rows(SQL["names"], {"run_id": self._run_id()})
        return {row["name"] for row in rows}

    async def add(self, skill: LoadedSkill) -> bool:
        """Keep a skill with the run; False if another call was quicker. Raises SkillError outside of a run."""
        args = {
            "run_id": self._run_id(),
            "name": skill.name,
            "body": skill.body,
            "system_text": skill.system_text,
        }
        return bool(await self._session.write(SQL["add"], args))

    def _run_id(self) -> UUID:
        run_id = self._session.caller.run_id
        if run_id is None:
            raise SkillError("Skills are loaded into a run, and this is no run.")
        return run_id
