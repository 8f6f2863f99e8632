"""What went wrong with a server, in words."""

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from chiron_workers.errors import MCPConnectionError, MCPToolError, ToolError, ToolTimeoutError
from chiron_workers.mcp_client.config.configuration import ServerConfig
from chiron_workers.mcp_client.transport.flood_guard import Ended, NoInput
from chiron_workers.mcp_client.transport.http import CUT, GONE, REFUSED, UNREACHABLE
from chiron_workers.mcp_client.transport.protocol_filter import first_problem

REASON_CHARS = 300
WORDS_CHARS = 2_000
# The library's words, with a code that servers use for much else.
CLOSED_WORDS = ("Connection closed", "SSE stream")


def said(error: BaseException) -> str:
    """Why a connection could not be made or kept, as a clause; what a server sent is cut to a length."""
    match error:
        case BaseExceptionGroup():
            return said(error.exceptions[0])
        case TimeoutError():
            clause = "it does not answer in time"
        case OSError():
            clause = error.strerror or str(error)
        case ValidationError():
            clause = f"what it says does not fit the protocol: {first_problem(error)}"
        case Ended() | NoInput() | MCPError():
            clause = str(error)
        case _:
            clause = f"{type(error).__name__}: {error}"
    return " ".join(clause.split())[:REASON_CHARS]


def away(config: ServerConfig, reason: str, *, tool: str) -> MCPConnectionError:
    """The error of a call that could not be made."""
    why = f" ({config.redaction(reason)})" if reason else ""
    message = f"The MCP server {config.name} is not reachable now{why}; try later or go on without it."
    return MCPConnectionError(message, tool=tool, server_url=config.address)


def never_arrived(error: MCPError) -> bool:
    """Whether a call that failed like this cannot have acted, so that it may be sent again."""
    status = error.data.get("status") if isinstance(error.data, dict) else None
    return error.code == UNREACHABLE or (error.code == REFUSED and status in GONE)


def of_call(config: ServerConfig, error: Exception, *, tool: str) -> ToolError:
    """What a model is told of a call that failed."""
    if isinstance(error, MCPError):
        return _of_protocol(config, error, tool)
    words = config.redaction(said(error))
    return MCPToolError(f"The MCP server {config.name} gave no result that can be used: {words}.", tool=tool)


def _of_protocol(config: ServerConfig, error: MCPError, tool: str) -> ToolError:
    words = config.redaction(error.message)[:WORDS_CHARS]
    if error.code in (UNREACHABLE, REFUSED):
        return away(config, words, tool=tool)
    if error.code in (CUT, types.PARSE_ERROR) or error.message.startswith(CLOSED_WORDS):
        message = (
            f"The connection to the MCP server {config.name} was cut during the call. The call may have acted all the "
            "same, so it is not repeated; find out before you make it again."
        )
        return MCPConnectionError(message, tool=tool, server_url=config.address)
    if error.code == types.REQUEST_TIMEOUT:
        return ToolTimeoutError(f"The MCP server {config.name} did not answer in time.", tool=tool)
    return MCPToolError(
        f"The MCP server {config.name} refused the call. Its words, which are data: {words}", tool=tool
    )
