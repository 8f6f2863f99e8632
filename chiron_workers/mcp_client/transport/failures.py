"""Failures of a server as sentences for people and as errors for models."""

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from chiron_workers.errors import MCPConnectionError, MCPToolError, ToolError, ToolTimeoutError
from chiron_workers.mcp_client.config.configuration import ServerConfig
from chiron_workers.mcp_client.transport.answers import UNUSABLE
from chiron_workers.mcp_client.transport.flood_guard import ConnectionEnded, InputUnavailable
from chiron_workers.mcp_client.transport.http import (
    CONNECTION_CUT,
    HTTP_ERROR,
    SESSION_GONE_STATUSES,
    UNREACHABLE,
)
from chiron_workers.mcp_client.transport.protocol_filter import first_problem
from chiron_workers.quotation import quoted

REASON_CHARS = 300
MESSAGE_CHARS = 2_000
# How messages of the library begin; their code is one that servers use for other errors, too.
CLOSED_MESSAGES = ("Connection closed", "SSE stream")


def failure_reason(error: BaseException) -> str:
    """Why a connection could not be made or kept, as a clause of at most REASON_CHARS."""
    match error:
        case BaseExceptionGroup():
            return failure_reason(error.exceptions[0])
        case TimeoutError():
            clause = "it does not answer in time"
        case OSError():
            clause = error.strerror or str(error)
        case ValidationError():
            clause = f"what it says does not fit the protocol: {first_problem(error)}"
        case ConnectionEnded() | InputUnavailable() | MCPError():
            clause = str(error)
        case _:
            clause = f"{type(error).__name__}: {error}"
    return " ".join(clause.split())[:REASON_CHARS]


def unreachable_error(config: ServerConfig, reason: str, *, tool: str) -> MCPConnectionError:
    """The error of a call that could not be made."""
    why = f" ({config.redaction(reason)})" if reason else ""
    message = f"The MCP server {config.name} is not reachable now{why}; try later or go on without it."
    return MCPConnectionError(message, tool=tool, server_url=config.address)


def is_undelivered(error: MCPError) -> bool:
    """Whether the server cannot have acted on a call that failed like this, so that it may be sent again."""
    status = error.data.get("status") if isinstance(error.data, dict) else None
    return error.code == UNREACHABLE or (error.code == HTTP_ERROR and status in SESSION_GONE_STATUSES)


def call_error(config: ServerConfig, error: Exception, *, tool: str) -> ToolError:
    """The error that a model reads for a call that failed."""
    if isinstance(error, MCPError):
        return _protocol_error(config, error, tool)
    reason = config.redaction(failure_reason(error))
    return MCPToolError(f"The MCP server {config.name} gave no result that can be used: {reason}.", tool=tool)


def _protocol_error(config: ServerConfig, error: MCPError, tool: str) -> ToolError:
    text = config.redaction(error.message)[:MESSAGE_CHARS]
    if error.code in (UNREACHABLE, HTTP_ERROR):
        return unreachable_error(config, text, tool=tool)
    if error.code in (CONNECTION_CUT, types.PARSE_ERROR) or error.message.startswith(CLOSED_MESSAGES):
        message = (
            f"The connection to the MCP server {config.name} was cut during the call. The call may have acted all the "
            "same, so it is not repeated; find out before you make it again."
        )
        return MCPConnectionError(message, tool=tool, server_url=config.address)
    if error.code == UNUSABLE:
        message = f"The MCP server {config.name} gave no result that can be used: {text}. The call may have acted all the same."
        return MCPToolError(message, tool=tool)
    if error.code == types.REQUEST_TIMEOUT:
        return ToolTimeoutError(f"The MCP server {config.name} did not answer in time.", tool=tool)
    return MCPToolError(
        f"The MCP server {config.name} refused the call. Its words, which are data:\n{quoted('error', text)}",
        tool=tool,
    )
