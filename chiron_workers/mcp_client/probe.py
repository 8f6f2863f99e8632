"""One look at the servers, for people: nothing is supervised, and every connection is ended again."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chiron_workers.mcp_client.config.configuration import ServerConfig

if TYPE_CHECKING:
    from chiron_workers.mcp_client.tools.tool import RemoteTool
    from chiron_workers.mcp_client.tools.tool_list import ToolList


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """How a server answered: `state` is `ready` with its tools, or `away` with the reason."""

    config: ServerConfig
    state: str
    tool_list: "ToolList"
    protocol: str = ""
    reason: str = ""


async def probe(servers: Iterable[ServerConfig], *, timeout_s: float) -> list[ServerStatus]:
    """Connect to all servers side by side and list their tools, each within `timeout_s`."""
    return list(await asyncio.gather(*(_probe_server(config, timeout_s) for config in servers)))


async def _probe_server(config: ServerConfig, timeout_s: float) -> ServerStatus:
    from chiron_workers.mcp_client.tools.tool_list import ToolList, build_tool_list
    from chiron_workers.mcp_client.transport.connection import connect
    from chiron_workers.mcp_client.transport.failures import failure_reason, unreachable_error

    async def refuse_call(tool: "RemoteTool", _: dict[str, Any]) -> str:
        raise unreachable_error(config, "", tool=tool.name)

    try:
        async with (
            asyncio.timeout(timeout_s),
            connect(config, timeout_s=timeout_s, open_s=timeout_s) as connection,
        ):
            tool_list = build_tool_list(await connection.list_tools(), config, refuse_call)
            return ServerStatus(config, "ready", tool_list, connection.protocol)
    except Exception as error:  # noqa: BLE001  # a fault of one server must not hide the others
        return ServerStatus(config, "away", ToolList(), reason=config.redaction(failure_reason(error)))
