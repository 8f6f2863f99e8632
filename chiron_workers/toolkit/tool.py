import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from chiron_workers.errors import ToolRegistrationError

if TYPE_CHECKING:
    from chiron_workers.store import Store

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # what the Messages API accepts


class Tool(ABC):
    """Something a model can call: a name, a description and a JSON schema of its arguments.

    A typed function (`@tool`), a class with state (`BaseTool`) and a tool of an MCP server are each one of these.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    needs_run: bool = False  # it makes sense within a run only, so MCP does not offer it
    needs_columns: bool = False  # it is for runs that are asked for rows
    timeout_s: float | None = None  # None: what the settings say
    roles: frozenset[str] = frozenset()  # of the runs it is offered to; empty: of all

    @property
    def is_offered(self) -> bool:
        """Whether it is among the definitions now; one that is not can still be called."""
        return True

    @abstractmethod
    def validate(self, arguments: Mapping[str, Any]) -> Any:
        """Arguments as a model sent them, as `run` wants them. Raises ToolValidationError."""

    @abstractmethod
    async def run(self, store: "Store", arguments: Any) -> Any:
        """What the tool returns for validated arguments."""

    def definition(self) -> dict[str, Any]:
        """The tool in the Messages API's format."""
        return {"name": self.name, "description": self.description, "input_schema": self.input_schema}

    def openai_definition(self) -> dict[str, Any]:
        """The tool in the format of OpenAI's chat completions."""
        function = {"name": self.name, "description": self.description, "parameters": self.input_schema}
        return {"type": "function", "function": function}


def require_name(name: str) -> str:
    """The name of a tool, as it is. Raises ToolRegistrationError where the Messages API would refuse it."""
    if not NAME.fullmatch(name):
        raise ToolRegistrationError(
            f"{name}: a tool's name has 1 to 64 of A-Z, a-z, 0-9, _ and -.", tool=name
        )
    return name
