"""Tools and skills."""

from typing import Any

from pydantic import Field

from chiron_api.answers.basics import Answer


class Tool(Answer):
    """A tool as the Messages API takes it; `input_schema` is a JSON Schema of its arguments."""

    name: str
    description: str
    input_schema: dict[str, Any]


class ToolList(Answer):
    """The tools that agents are offered, by name."""

    items: list[Tool]


class ToolResult(Answer):
    """What a tool gave back. `note` says why a search went by words alone, if nobody could pay for embedding its query."""

    result: Any
    note: str = ""


class Skill(Answer):
    """A skill: offered, shadowed by one of the same name, or left out with the reason. Of one left out, little is known."""

    name: str
    state: str
    folder: str
    description: str = ""
    source: str = ""
    trusted: bool = False
    tools: list[str] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    reason: str = ""


class SkillList(Answer):
    """The skills of the machine that the API runs on."""

    items: list[Skill]
