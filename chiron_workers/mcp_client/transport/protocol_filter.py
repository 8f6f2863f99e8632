"""Results of servers made to fit the protocol before the library reads them, which refuses all for one fault."""

from typing import Any

import mcp_types as types
from mcp_types import methods
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from chiron_workers.toolkit.arguments import has_values_at_most

NAME_CHARS = 100
REASON_CHARS = 200
REJECTIONS_MAX = 100
TOOLS_MAX = 1_000  # of a page, that are checked; the library takes a moment for each
PARTS_MAX = 500  # of what a tool returns
VALUES_MAX = 50_000  # of its structured content


def set_defaults(result: dict[str, Any], protocol: str) -> None:
    """Set fields that the library insists on: those of the stateless protocol with a default, and content beside data."""
    if "structuredContent" in result:
        result.setdefault("content", [])
    if protocol in MODERN_PROTOCOL_VERSIONS:
        result.setdefault("resultType", "complete")
        if "tools" in result:
            result.setdefault("ttlMs", 0)
            result.setdefault("cacheScope", "private")


def remove_invalid_tools(result: dict[str, Any], protocol: str) -> list[tuple[str, str]]:
    """Remove the tools that the protocol does not allow from a result, and return (name, reason) of each."""
    tools = result.get("tools")
    if not isinstance(tools, list):
        return []
    valid_tools, rejections = [], []
    if len(tools) > TOOLS_MAX:
        rejections.append(("(others)", f"a page of its list has more than {TOOLS_MAX:,} tools"))
    for tool in tools[:TOOLS_MAX]:
        try:
            methods.validate_server_result("tools/list", protocol, {**result, "tools": [tool]})
            types.Tool.model_validate(tool, by_name=False)
        except ValidationError as error:
            name = tool.get("name") if isinstance(tool, dict) else None
            label = name[:NAME_CHARS] if isinstance(name, str) else "(without a name)"
            rejections.append((label, first_problem(error, below="tools.0.")))
        else:
            valid_tools.append(tool)
    result["tools"] = valid_tools
    return rejections[:REJECTIONS_MAX]


def cut_result(result: dict[str, Any]) -> None:
    """Cut what a tool returned to what is read quickly; a last part says what is missing."""
    parts = result.get("content")
    if not isinstance(parts, list):
        return
    notes = []
    if len(parts) > PARTS_MAX:
        notes.append(f"[{len(parts) - PARTS_MAX:,} more parts are not shown.]")
    if not has_values_at_most(result.get("structuredContent"), VALUES_MAX):
        del result["structuredContent"]
        notes.append(f"[Structured content of more than {VALUES_MAX:,} values is not shown.]")
    if notes:
        result["content"] = [*parts[:PARTS_MAX], *({"type": "text", "text": note} for note in notes)]


def first_problem(error: ValidationError, *, below: str = "") -> str:
    """Where a message does not fit the protocol, and how; no value is repeated."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return f"{place.removeprefix(below)}: {first['msg']}"[:REASON_CHARS]
