"""Calls of tools, and the health of the server."""

from typing import Any

from chiron_api.answers.basics import Health
from chiron_api.answers.tools import ToolResult
from chiron_api.client.call import Call, get


def call_tool(name: str, arguments: dict[str, Any]) -> Call[Any]:
    """Run a tool and commit what it wrote; what it gave back."""
    return Call("POST", "/v1/tools/{name}", ToolResult, target=name, part="result", body=arguments)


def health() -> Call[Health]:
    """Whether the server is alive."""
    return get("/healthz", Health)


def readiness() -> Call[Health]:
    """Whether Postgres answers and its schema is up to date. Raises Unavailable otherwise, after its patience."""
    return get("/readyz", Health)
