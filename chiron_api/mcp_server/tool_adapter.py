import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Annotated, Any

import psycopg
from fastmcp.exceptions import ToolError as ToolErrorForClient
from fastmcp.tools import Tool as FastMCPTool
from fastmcp.tools import ToolResult
from mcp_types import TextContent
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from chiron_api.mcp_server.act_tools import calling
from chiron_api.mcp_server.callers import (
    act_of_call,
    current_principal,
    made_by,
    require_scope_for,
    with_remedies,
)
from chiron_api.mcp_server.instructions import hints_of
from chiron_api.mcp_server.lazy_services import DATABASE_AWAY, LazyServices
from chiron_workers.access.audit import acting, record
from chiron_workers.errors import ChironError, ToolExecutionError
from chiron_workers.runs.entries import storable
from chiron_workers.toolkit import Registry

CUT_NOTE_CHARS = 200  # for the note at the end of a cut result
UNSTORABLE = "A text holds a character that cannot be stored (NUL), or a number is too large."

Call = Callable[[Mapping[str, Any]], Awaitable[ToolResult]]


class AdaptedTool(FastMCPTool):
    """A tool of ours for fastmcp: with its own schema, and called with the arguments unchanged."""

    call: Annotated[SkipJsonSchema[Call], Field(exclude=True)]

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """What `call` returns for these arguments."""
        return await self.call(arguments)


@dataclass(frozen=True, slots=True)
class ToolAdapter:
    """Makes tools of a registry callable by MCP clients, and errors that a caller can mend readable for them."""

    registry: Registry
    services: LazyServices

    def tools(self) -> list[AdaptedTool]:
        """Every tool of the registry, by name."""
        return [
            AdaptedTool(
                name=tool.name,
                description=tool.description,
                parameters=tool.input_schema,
                annotations=hints_of(tool.name),
                call=self._caller(tool.name),
            )
            for tool in self.registry.all()
        ]

    def _caller(self, name: str) -> Call:
        async def call(arguments: Mapping[str, Any]) -> ToolResult:
            try:
                return await self.execute(name, arguments)
            except (ChironError, psycopg.Error) as error:
                raise ToolErrorForClient(
                    await self._client_message(error), log_level=logging.DEBUG
                ) from error

        return call

    async def execute(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Run a tool and commit what it wrote. Raises what the tool and the services raise."""
        principal = current_principal()
        require_scope_for(name, principal)
        services = (await self.services.get()).of(principal)
        timeout_s = services.settings.tool_timeout_s
        act = act_of_call(name, arguments, principal)
        with acting(act) if act is not None else nullcontext(), calling(services):
            async with services.store() as store:
                data = await self.registry.execute(name, store, arguments, timeout_s=timeout_s)
                note = store.search.words_only
        if act is not None:
            await record(services.pool, act, **made_by(name, data))
        return tool_result(data, chars_max=services.settings.tool_result_chars, note=note)

    async def _client_message(self, error: Exception) -> str:
        cause = error.__cause__ if isinstance(error, ToolExecutionError) else error
        if await self.services.check_outage(cause):
            return DATABASE_AWAY
        if isinstance(cause, psycopg.DataError):
            return UNSTORABLE
        if isinstance(cause, ChironError):
            return with_remedies(cause)
        raise error  # fastmcp logs it, and the caller learns only that there was an error


def tool_result(data: Any, *, chars_max: int, note: str = "") -> ToolResult:
    """JSON data as text, cut where it is too long; an object that is not cut is structured content, too.

    Args:
        note: Why a search went by words alone; it follows as a text of its own, and stands in `_meta` as `words_only`.
    """
    text = storable(data if isinstance(data, str) else json.dumps(data, ensure_ascii=False))
    notes = [TextContent(type="text", text=note)] if note else []
    meta = {"words_only": note} if note else None
    if len(text) > chars_max:
        cut_note = f"\n[Cut here, at {chars_max - CUT_NOTE_CHARS:,} of {len(text):,} characters. Ask for less at a time.]"
        excerpt = text[: chars_max - CUT_NOTE_CHARS] + cut_note
        return ToolResult([TextContent(type="text", text=excerpt), *notes], meta=meta)
    structured_content = json.loads(text) if isinstance(data, dict) else None
    content = [TextContent(type="text", text=text), *notes]
    return ToolResult(content, structured_content=structured_content, meta=meta)
