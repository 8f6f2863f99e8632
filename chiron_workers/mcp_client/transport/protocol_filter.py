from typing import Any

import mcp_types as types
from mcp_types import methods
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

NAME_CHARS = 100
REASON_CHARS = 200
LEFT_OUT_MAX = 100


def complete(result: dict[str, Any], protocol: str) -> None:
    """Put in what the stateless protocol wants of each result and has a default for: the library insists on it."""
    if protocol in MODERN_PROTOCOL_VERSIONS:
        result.setdefault("resultType", "complete")
        if "tools" in result:
            result.setdefault("ttlMs", 0)
            result.setdefault("cacheScope", "private")


def keep_allowed(result: dict[str, Any], protocol: str) -> list[tuple[str, str]]:
    """Take those tools out of a list that the protocol does not allow: the library refuses all for one.

    Returns: Their names, and why.
    """
    tools = result.get("tools")
    if not isinstance(tools, list):
        return []
    kept, left_out = [], []
    for tool in tools:
        try:
            methods.validate_server_result("tools/list", protocol, {**result, "tools": [tool]})
            types.Tool.model_validate(tool, by_name=False)
        except ValidationError as error:
            name = tool.get("name") if isinstance(tool, dict) else None
            shown = name[:NAME_CHARS] if isinstance(name, str) else "(without a name)"
            left_out.append((shown, first_problem(error, below="tools.0.")))
        else:
            kept.append(tool)
    result["tools"] = kept
    return left_out[:LEFT_OUT_MAX]


def first_problem(error: ValidationError, *, below: str = "") -> str:
    """Where something does not fit the protocol, and how; no value is repeated."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return f"{place.removeprefix(below)}: {first['msg']}"[:REASON_CHARS]
