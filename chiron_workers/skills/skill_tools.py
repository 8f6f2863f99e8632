"""The tools that a skill's code brings: always defined, and usable once a run has loaded the skill."""

from collections.abc import Mapping
from string import Template
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from chiron_workers.errors import SkillError
from chiron_workers.skills.live import Skills
from chiron_workers.toolkit import BaseTool, Tool
from chiron_workers.toolkit.tool import require_name

if TYPE_CHECKING:
    from chiron_workers.store import Store


class SkillTool(Tool):
    """A tool of a skill, under a name that begins with the skill's.

    Raises:
        ToolRegistrationError: The name is none that the Messages API takes.
    """

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
        """As the tool itself does."""
        return self._inner.validate(arguments)

    async def run(self, store: "Store", given: Any) -> Any:
        """What the tool returns. Raises SkillError where the run has not loaded the skill."""
        run_id = store.caller.run_id
        if run_id is None or self._skill not in await store.skills.names():
            raise SkillError(
                f"Load the skill {self._skill} first: call load_skill with its name.", tool=self.name
            )
        await self._skills.get_ready(self._skill, run_id=run_id)  # another worker may have loaded it
        return await self._inner.run(store, given)


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
        described = [
            f"- {name}: {', '.join(template.get_identifiers()) or 'no values'}"
            for name, template in self._templates.items()
        ]
        self.description = "\n".join(
            [f"{self.description} The templates, with the values each takes:", *described]
        )

    async def execute(self, store: "Store", given: Filling) -> str:
        """The template with its values."""
        template = self._templates.get(given.name)
        if template is None:
            raise SkillError(f"name: must be one of {'|'.join(self._templates)} (got {given.name!r})")
        missing = [place for place in template.get_identifiers() if place not in given.values]
        if missing:
            raise SkillError(f"values: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
        return template.safe_substitute(given.values)
