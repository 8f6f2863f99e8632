from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from chiron_workers.mcp_client.config.names import tool_name
from chiron_workers.mcp_client.tools.arguments import checked
from chiron_workers.mcp_client.tools.schemas import checkable, usable, usable_output
from chiron_workers.mcp_client.tools.validator import Check
from chiron_workers.toolkit.tool import Tool

if TYPE_CHECKING:
    from mcp_types import Tool as Described

    from chiron_workers.mcp_client.server import Server
    from chiron_workers.store import Store

DESCRIPTION_CHARS_MAX = 2_000


@dataclass(eq=False)
class RemoteTool(Tool):
    """A tool of an MCP server. It is offered to runs only: their worker holds the connection."""

    server: "Server"
    remote_name: str
    name: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    timeout_s: float | None = None
    needs_run: bool = field(default=True, init=False)

    @classmethod
    def of(cls, server: "Server", described: "Described") -> "RemoteTool":
        """The tool as a server describes it. Raises UnusableSchema where it cannot be offered like that."""
        config = server.config
        words = " ".join(filter(None, [described.description or described.title])).strip()
        said = words if len(words) <= DESCRIPTION_CHARS_MAX else words[:DESCRIPTION_CHARS_MAX] + "…"
        description = f"{said}\n\n(A tool of the MCP server {config.name}; the description is the server's.)"
        return cls(
            server,
            described.name,
            tool_name(config.slug, described.name),
            config.redaction(description.lstrip()),
            usable(described.input_schema),
            usable_output(described.output_schema),
            config.timeout_s,
        )

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments as a model sent them, as the server wants them. Raises ToolValidationError."""
        return checked(self.name, self._input, arguments)

    async def run(self, store: "Store", given: dict[str, Any]) -> str:
        """What the server answers.

        Raises:
            MCPToolError: It answered with an error.
            MCPConnectionError: It cannot be reached, or the connection was cut.
        """
        return await self.server.call(self, given)

    def same_as(self, other: Tool) -> bool:
        """Whether a model would see no difference."""
        return isinstance(other, RemoteTool) and self._seen() == other._seen()

    def _seen(self) -> tuple[object, ...]:
        return self.remote_name, self.definition(), self.output_schema

    @cached_property
    def _input(self) -> Check:
        return Check.of(checkable(self.input_schema))

    @cached_property
    def output(self) -> Check | None:
        """The check of results, where the server promises anything of them."""
        return None if self.output_schema is None else Check.of(self.output_schema)
