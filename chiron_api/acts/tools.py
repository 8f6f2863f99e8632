"""Tools and skills of agents, as lists. What calls a tool is a route, since its body is the tool's."""

import asyncio

from chiron_api.acts.act import Noun
from chiron_api.answers.tools import SkillList, ToolList
from chiron_api.services import Services
from chiron_api.views.skills import skill_rows
from chiron_workers.tools import registry

TOOLS = Noun("Tools")


@TOOLS.act("tools.list", "GET /v1/tools", "List the tools", client="tools")
async def list_tools(services: Services) -> ToolList:
    """The tools that agents are offered, in the form that the Messages API takes."""
    return ToolList.model_validate({"items": registry().definitions()})


@TOOLS.act("skills.list", "GET /v1/skills", "List the skills", client="skills")
async def list_skills(services: Services) -> SkillList:
    """The skills of the machine that the API runs on."""
    return SkillList.model_validate({"items": await asyncio.to_thread(skill_rows)})
