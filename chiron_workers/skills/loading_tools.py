"""The two tools by which an agent uses skills: `load_skill` and `read_skill_file`."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field

from chiron_workers.errors import SkillAlreadyLoadedError, SkillError
from chiron_workers.runs.loaded_skills import LoadedSkill
from chiron_workers.skills.instructions import instructions
from chiron_workers.skills.process_skills import Skills
from chiron_workers.skills.resources import read_resource
from chiron_workers.skills.skill import Skill
from chiron_workers.skills.skill_folder import FILES
from chiron_workers.toolkit import BaseTool, Tool
from chiron_workers.toolkit.arguments import Arguments
from chiron_workers.toolkit.threads import in_thread

if TYPE_CHECKING:
    from chiron_workers.store import Store

NOTE_CHARS = 200  # of the note on how to read on


class _SkillName(BaseModel):
    name: Annotated[str, Field(description="The skill.")]


class LoadSkill(Tool):
    """Loads a skill into a run; its schema names those that are offered now."""

    name = "load_skill"
    description = (
        "Load a skill: get its instructions, and the use of its files and tools. Do so before you begin the work that "
        "the skill is for, once for each skill."
    )
    needs_run = True

    def __init__(self, skills: Skills) -> None:
        self._skills = skills
        self._arguments = Arguments(self.name, _SkillName)

    @property
    def is_offered(self) -> bool:
        """Whether there are skills."""
        return bool(self._skills.catalogue().skills)

    @property
    def input_schema(self) -> dict[str, Any]:  # type: ignore[override]
        """The schema with the names of the skills that there are."""
        schema = self._arguments.schema
        name = schema["properties"]["name"] | {"enum": list(self._skills.catalogue().skills)}
        return schema | {"properties": {"name": name}}

    def validate(self, arguments: Mapping[str, Any]) -> str:
        """The name. Raises ToolValidationError."""
        return str(self._arguments.validate(arguments).model_dump()["name"]).strip()

    async def run(self, store: "Store", name: str) -> str:
        """The skill's instructions, after those of the skills it needs.

        Raises:
            SkillAlreadyLoadedError: The run has it.
            SkillNotFoundError: There is none of that name.
            SkillLoadError: Its code cannot be made ready.
            SkillError: There is no run.
        """
        run_id = store.caller.run_id
        if run_id is None:
            raise SkillError("Skills are loaded into a run, and this is no run.")
        names = await store.skills.names()
        if name in names:
            raise _already_loaded(name)
        skills = [skill for skill in self._skills.get_with_requirements(name) if skill.name not in names]
        await self._skills.activate(run_id, [skill.name for skill in skills])
        rows = [await in_thread(partial(self._row, skill), name=self.name) for skill in skills]
        for row in rows:
            # Another call of the same reply may have loaded it meanwhile.
            if not await store.skills.add(row) and row.name == name:
                raise _already_loaded(name)
        return "\n\n".join(row.body for row in rows)

    def _row(self, skill: Skill) -> LoadedSkill:
        code = self._skills.codes.get(skill.name)
        return LoadedSkill(skill.name, instructions(skill, code), code.instance.system_prompt if code else "")


class File(BaseModel):
    """Which file, and from where on."""

    skill: Annotated[str, Field(description="The skill, which you have loaded.")]
    path: Annotated[
        str, Field(description="The file, as the skill's instructions name it.", max_length=1_000)
    ]
    offset: Annotated[int, Field(ge=0, description="How many characters to skip.")] = 0


class ReadSkillFile(BaseTool):
    """Reads a file of a skill that the run has loaded."""

    name = "read_skill_file"
    description = (
        "Read a text file of a skill that you have loaded. A long file is cut, with a note on how to read on."
    )
    input_model = File
    needs_run = True

    def __init__(self, skills: Skills) -> None:
        self._skills = skills

    @property
    def is_offered(self) -> bool:
        """Whether there are skills."""
        return bool(self._skills.catalogue().skills)

    async def execute(self, store: "Store", request: File) -> str:
        """The text from the offset on.

        Raises:
            SkillError: The skill is not loaded, or there is no such text file below its folder.
            SkillNotFoundError: The skill is not there any more.
        """
        text = await self._text(store, request)
        if request.offset and request.offset >= len(text):
            raise SkillError(f"offset: the file has {len(text):,} characters (got {request.offset})")
        part = text[request.offset :]
        if limits := store.caller.shown:
            part = limits.less(NOTE_CHARS).cut(part)
        end = request.offset + len(part)
        note = f"\n[Cut here, at {end:,} of {len(text):,} characters: offset {end} reads on.]"
        return part + note if end < len(text) else part

    async def _text(self, store: "Store", request: File) -> str:
        rows = {row.name: row for row in await store.skills.all()}
        if request.skill not in rows:
            raise SkillError(f"Load the skill {request.skill} first: call load_skill with its name.")
        if request.path in FILES:  # as it was when it was loaded
            return rows[request.skill].body
        skill = self._skills.get(request.skill)
        return str(await in_thread(partial(read_resource, skill, request.path), name=self.name))


def _already_loaded(name: str) -> SkillAlreadyLoadedError:
    return SkillAlreadyLoadedError(
        f"The skill {name} is loaded already: follow the instructions that you were given. "
        f'read_skill_file with skill "{name}" and path "SKILL.md" shows them again.'
    )
