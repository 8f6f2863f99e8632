"""Skills as tools of a registry: what loads them, and the tools of their code, which work once a run has loaded them."""

from collections.abc import Mapping
from dataclasses import replace
from string import Template
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from chiron_workers.errors import SkillError, ToolError
from chiron_workers.skills.code import SkillCode
from chiron_workers.skills.loading_tools import LoadSkill, ReadSkillFile
from chiron_workers.skills.process_skills import Skills
from chiron_workers.skills.skill import CODE, Rejection
from chiron_workers.toolkit import BaseTool, Registry, Tool
from chiron_workers.toolkit.tool import require_name

if TYPE_CHECKING:
    from chiron_workers.store import Store


def register_skills(registry: Registry, skills: Skills) -> None:
    """Register `load_skill`, `read_skill_file`, and the tools of each skill's code under names that begin with the
    skill's; a skill whose tools cannot be registered is left out."""
    registry.register(LoadSkill(skills))
    registry.register(ReadSkillFile(skills))
    for code in list(skills.codes.values()):
        tools: list[Tool] = []
        try:
            for tool in _skill_tools(code, skills):
                tools.append(registry.register(tool))
        except (Exception, SystemExit) as error:  # noqa: BLE001  # a fault in foreign code is reported
            for registered_tool in tools:
                registry.unregister(registered_tool.name)
            reason = str(error) if isinstance(error, ToolError) else f"{type(error).__name__}: {error}"
            skills.reject([Rejection(code.skill.folder, f"Its {CODE}: {reason}")])
        else:
            skills.codes[code.name] = replace(code, tools=tuple(tools))


def _skill_tools(code: SkillCode, skills: Skills) -> "list[SkillTool]":
    tools = list(code.tools)
    if code.instance.templates:
        tools.append(FillTemplate(code.instance.templates))
    return [SkillTool(code.name, tool, skills) for tool in tools]


class SkillTool(Tool):
    """A tool of a skill, under a name that begins with the skill's."""

    needs_run = True

    def __init__(self, skill: str, inner: Tool, skills: Skills) -> None:
        self._skill = skill
        self._inner = inner
        self._skills = skills
        self.name = require_name(f"{skill}__{inner.name}")
        self.description = f"{inner.description}\n\nIt works once you have loaded the skill {skill}."
        self.input_schema = inner.input_schema
        self.timeout_s = inner.timeout_s

    def validate(self, arguments: Mapping[str, Any]) -> Any:
        """The arguments as the tool itself wants them. Raises ToolValidationError."""
        return self._inner.validate(arguments)

    async def run(self, store: "Store", arguments: Any) -> Any:
        """What the tool returns. Raises SkillError where the run has not loaded the skill."""
        run_id = store.caller.run_id
        if run_id is None or self._skill not in await store.skills.names():
            raise SkillError(
                f"Load the skill {self._skill} first: call load_skill with its name.", tool=self.name
            )
        # Another worker may have loaded it.
        await self._skills.activate_with_requirements(run_id, self._skill)
        return await self._inner.run(store, arguments)


class Filling(BaseModel):
    """Which template, and what stands in its places."""

    name: str
    values: dict[str, str] = Field(default_factory=dict)


class FillTemplate(BaseTool):
    """Fills in a skill's prompt templates."""

    name = "prompt"
    description = "Fill in a prompt template."
    input_model = Filling

    def __init__(self, templates: Mapping[str, str]) -> None:
        self._templates = {name: Template(text) for name, text in templates.items()}
        lines = [
            f"- {name}: {', '.join(template.get_identifiers()) or 'no values'}"
            for name, template in self._templates.items()
        ]
        head = f"{self.description} The templates, with the values each takes:"
        self.description = "\n".join([head, *lines])

    async def execute(self, store: "Store", request: Filling) -> str:
        """The template with its values."""
        template = self._templates.get(request.name)
        if template is None:
            raise SkillError(f"name: must be one of {'|'.join(self._templates)} (got {request.name!r})")
        absent = [place for place in template.get_identifiers() if place not in request.values]
        if absent:
            raise SkillError(f"values: {', '.join(absent)} {'is' if len(absent) == 1 else 'are'} missing")
        return template.safe_substitute(request.values)
