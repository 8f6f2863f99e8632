import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from chiron_workers.evidence.disclosures.rare_words import plain_text
from chiron_workers.mcp_client.config.configuration import ServerConfig
from chiron_workers.mcp_client.config.names import tool_name
from chiron_workers.mcp_client.tools.arguments import validate_arguments
from chiron_workers.mcp_client.tools.schemas import clean_output_schema, clean_schema, without_patterns
from chiron_workers.mcp_client.tools.validator import SchemaValidator
from chiron_workers.toolkit.tool import Tool

if TYPE_CHECKING:
    from mcp_types import Tool as ToolDescription

    from chiron_workers.store import Store

DESCRIPTION_CHARS_MAX = 2_000

ToolCall = Callable[["RemoteTool", dict[str, Any]], Awaitable[str]]


@dataclass(eq=False)
class RemoteTool(Tool):
    """A tool of an MCP server. It is offered to runs only: their worker holds the connection."""

    server_slug: str
    server_name: str
    remote_name: str
    name: str
    description: str
    input_schema: dict[str, Any]
    call: ToolCall
    output_schema: dict[str, Any] | None = None
    timeout_s: float | None = None
    is_private: bool = False  # the server may be sent words of private files
    needs_run: bool = field(default=True, init=False)

    @classmethod
    def from_description(
        cls, description: "ToolDescription", config: ServerConfig, call: ToolCall
    ) -> "RemoteTool":
        """The tool as its server describes it. Raises UnusableSchema where it cannot be offered like that."""
        text = (description.description or description.title or "").strip()
        if len(text) > DESCRIPTION_CHARS_MAX:
            text = text[:DESCRIPTION_CHARS_MAX] + "…"
        text = f"{text}\n\n(A tool of the MCP server {config.name}; the description is the server's.)"
        return cls(
            server_slug=config.slug,
            server_name=config.name,
            remote_name=description.name,
            name=tool_name(config.slug, description.name),
            description=config.redaction(text.lstrip()),
            input_schema=clean_schema(description.input_schema),
            call=call,
            output_schema=clean_output_schema(description.output_schema),
            timeout_s=config.timeout_s,
            is_private=config.is_private,
        )

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a model, converted to what the server takes. Raises ToolValidationError."""
        return validate_arguments(self.name, self._input_validator, arguments)

    async def run(self, store: "Store", arguments: dict[str, Any]) -> str:
        """What the server answers.

        Raises:
            MCPToolError: It answered with an error.
            MCPConnectionError: It cannot be reached, or the connection was cut.
            ToolError: The arguments hold words of private files, which the server may not be sent.
        """
        if not self.is_private:
            message = json.dumps(arguments, ensure_ascii=False)
            await store.egress.check_words(plain_text(message), receiver=f"the MCP server {self.server_name}")
        return await self.call(self, arguments)

    def is_same_as(self, tool: Tool) -> bool:
        """Whether a model would see no difference."""
        return isinstance(tool, RemoteTool) and self._visible_parts() == tool._visible_parts()

    def _visible_parts(self) -> tuple[object, ...]:
        return self.remote_name, self.definition(), self.output_schema

    @cached_property
    def _input_validator(self) -> SchemaValidator:
        return SchemaValidator.for_schema(without_patterns(self.input_schema))

    @cached_property
    def output_validator(self) -> SchemaValidator | None:
        """The validator of results, where the server promises anything of them."""
        return None if self.output_schema is None else SchemaValidator.for_schema(self.output_schema)
