import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar
from uuid import UUID

from chiron_workers.skills.skill import Skill
from chiron_workers.toolkit import Tool
from chiron_workers.toolkit.loading import tools_of


class BaseSkill:
    """The code of a skill: a class in a `skill.py` beside its SKILL.md. Every method may be left as it is.

        class Statistics(BaseSkill):
            packages = ("scipy",)
            system_prompt = "Recompute every test you cite."

    A worker goes through `load` when it starts, dependencies first; `initialize` before the first run uses the skill;
    `activate` when a run loads it, and again when another worker goes on with that run; `deactivate` when the worker
    lets go of the run; and `unload` when it stops. What a hook raises is reported: from `load` on the skill is left
    out, later the call that needed it fails.
    """

    requires: ClassVar[Sequence[str]] = ()  # names of skills that are loaded with this one, before it
    packages: ClassVar[Sequence[str]] = ()  # names on PyPI, with versions where they matter
    templates: ClassVar[Mapping[str, str]] = {}  # prompt templates by name, with $places to fill in
    # Joins the system prompt of a run that has loaded the skill, from the next epoch on.
    system_prompt: ClassVar[str] = ""

    def __init__(self, skill: Skill) -> None:
        self.skill = skill

    def tools(self) -> Sequence[Tool | Callable[..., Any]]:
        """The skill's own tools; without a method of one's own, all that its module defines."""
        return tools_of(sys.modules[type(self).__module__])

    def load(self) -> None:
        """Look whether everything is there. Raise where it is not."""

    async def initialize(self) -> None:
        """Open what all runs of a worker share."""

    async def activate(self, run_id: UUID) -> None:
        """Prepare for one run."""

    async def deactivate(self, run_id: UUID) -> None:
        """Let go of what was prepared for a run."""

    async def unload(self) -> None:
        """Close what `initialize` opened; it may not have been called."""
