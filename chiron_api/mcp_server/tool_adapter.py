import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import psycopg
from fastmcp.exceptions import ToolError as ToolErrorForClient
from fastmcp.tools import Tool as FastMCPTool
from fastmcp.tools import ToolResult
from mcp_types import TextContent
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from chiron_api.mcp_server.instructions import HINTS
from chiron_api.mcp_server.lazy_services import AWAY, LateServices
from chiron_workers.errors import ChironError, ToolExecutionError
from chiron_workers.runs.entries import storable
from chiron_workers.toolkit import Registry

CUT_CHARS = 200  # for the words at the cut of a result
UNSTORABLE = "A text holds a character that cannot be stored (NUL), or a number is too large."

Call = Callable[[Mapping[str, Any]], Awaitable[ToolResult]]


class OfferedTool(FastMCPTool):
    """A tool of ours as fastmcp serves it: with the schema as it is, and called with the arguments as they came."""

    call: Annotated[SkipJsonSchema[Call], Field(exclude=True)]

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """What `call` returns for these arguments."""
        return await self.call(arguments)


@dataclass(frozen=True, slots=True)
class Counter:
    """Where calls come in: each is executed as everywhere else, and every error that a caller can mend is told."""

    registry: Registry
    services: LateServices

    def tools(self) -> list[OfferedTool]:
        """Every tool of the registry, by name."""
        return [
            OfferedTool(
                name=tool.name,
                description=tool.description,
                parameters=tool.input_schema,
                annotations=HINTS.get(tool.name),
                call=self._caller(tool.name),
            )
            for tool in self.registry.all()
        ]

    def _caller(self, name: str) -> Call:
        async def call(arguments: Mapping[str, Any]) -> ToolResult:
            try:
                return await self.execute(name, arguments)
            except (ChironError, psycopg.Error) as error:
                raise ToolErrorForClient(await self._told(error), log_level=logging.DEBUG) from error

        return call

    async def execute(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Run a tool and commit what it wrote. Raises what the tool and the services raise."""
        found = await self.services.get()
        async with found.store() as store:
            limit_s = found.settings.tool_timeout_s
            data = await self.registry.execute(name, store, arguments, timeout_s=limit_s)
        return shown(data, chars_max=found.settings.tool_result_chars)

    async def _told(self, error: Exception) -> str:
        cause = error.__cause__ if isinstance(error, ToolExecutionError) else error
        if await self.services.are_away(cause):
            return AWAY
        if isinstance(cause, psycopg.DataError):
            return UNSTORABLE
        if isinstance(cause, ChironError):
            return str(cause)
        raise error  # fastmcp logs it and tells the caller no more than that there was an error


def shown(data: Any, *, chars_max: int) -> ToolResult:
    """JSON data as a result: as text, cut where it is too long, and an object that is whole as structured content too."""
    text = storable(data if isinstance(data, str) else json.dumps(data, ensure_ascii=False))
    if len(text) > chars_max:
        note = (
            f"\n[Cut here, at {chars_max - CUT_CHARS:,} of {len(text):,} characters. Ask for less at a time.]"
        )
        return ToolResult([TextContent(type="text", text=text[: chars_max - CUT_CHARS] + note)])
    structured = json.loads(text) if isinstance(data, dict) else None
    return ToolResult([TextContent(type="text", text=text)], structured_content=structured)
