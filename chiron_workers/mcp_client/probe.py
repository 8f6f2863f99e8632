"""A single look at the servers, for people: no supervision, and everything is ended again."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chiron_workers.mcp_client.config.configuration import ServerConfig

if TYPE_CHECKING:
    from chiron_workers.mcp_client.tools.tool_list import Offer


@dataclass(frozen=True, slots=True)
class Standing:
    """How a server answered: `state` is `ready` with what it offers, or `away` with the reason."""

    config: ServerConfig
    state: str
    offer: "Offer"
    protocol: str = ""
    reason: str = ""


async def inspect(servers: Iterable[ServerConfig], *, timeout_s: float) -> list[Standing]:
    """Connect to all servers side by side and list their tools, each within so many seconds."""
    return list(await asyncio.gather(*(_inspect(config, timeout_s) for config in servers)))


async def _inspect(config: ServerConfig, timeout_s: float) -> Standing:
    from chiron_workers.mcp_client.server import Server
    from chiron_workers.mcp_client.tools.tool_list import Offer, offered
    from chiron_workers.mcp_client.transport.connection import connect
    from chiron_workers.mcp_client.transport.failures import said

    server = Server(config, timeout_s=timeout_s, on_offer=lambda _: None)
    try:
        async with (
            asyncio.timeout(timeout_s),
            connect(config, timeout_s=timeout_s, open_s=timeout_s) as connection,
        ):
            offer = offered(server, await connection.tools())
            return Standing(config, "ready", offer, connection.protocol)
    except Exception as error:  # noqa: BLE001  # whatever one server does stays its own affair
        return Standing(config, "away", Offer(), reason=config.redaction(said(error)))
