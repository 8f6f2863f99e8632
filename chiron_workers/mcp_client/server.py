import asyncio
import contextlib
import random
import time
from collections.abc import Callable
from enum import StrEnum
from typing import Any

import structlog
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

from chiron_workers.errors import MCPToolError, ToolError
from chiron_workers.mcp_client.config.configuration import ServerConfig
from chiron_workers.mcp_client.tools.results import error_words, misfit, shown
from chiron_workers.mcp_client.tools.tool import RemoteTool
from chiron_workers.mcp_client.tools.tool_list import Offer, offered
from chiron_workers.mcp_client.transport.connection import Connection, connect
from chiron_workers.mcp_client.transport.failures import away, never_arrived, of_call, said
from chiron_workers.mcp_client.transport.flood_guard import Ended

log = structlog.get_logger()

FIRST_ABSENCE_S = 1.0
LONGEST_ABSENCE_S = 60.0
STEADY_S = 30.0  # a connection that lived so long was a good one
LOOK_AGAIN_S = 60.0  # for changes that nobody told us of, and whether the server is still there
BREATH_S = 1.0  # between two looks at a list that changes all the time
WAIT_S = 5.0  # that a call waits for a server that is away
CALLS_MAX = 50  # at once


class State(StrEnum):
    """Whether a server can be called."""

    CONNECTING = "connecting"
    READY = "ready"
    AWAY = "away"


class Server:
    """One MCP server, supervised alone: connected to again and again, whatever it does.

    `state`, `reason` and `offer` say how it stands; `on_offer` is called whenever its tools are others.
    """

    def __init__(
        self, config: ServerConfig, *, timeout_s: float, on_offer: Callable[["Server"], None]
    ) -> None:
        self.config = config
        self.state = State.CONNECTING
        self.reason = ""
        self.offer = Offer()
        self.tried = asyncio.Event()  # the first try is over, well or ill
        self._timeout_s = config.timeout_s or timeout_s
        self._on_offer = on_offer
        self._connection: Connection | None = None
        self._ready = asyncio.Event()
        self._is_wanted = asyncio.Event()
        self._room = asyncio.Semaphore(CALLS_MAX)
        self._told_misfits: set[str] = set()

    async def supervise(self) -> None:
        """Connect, and again after each end. Returns never; cancelling it ends the connection and the process."""
        failures = 0
        while True:
            began = time.monotonic()
            try:
                await self._live()
            except Exception as error:  # noqa: BLE001  # whatever one server does stays its own affair
                self._leave(self.config.redaction(said(error)))
            failures = 1 if time.monotonic() - began > STEADY_S else failures + 1
            await self._rest(min(FIRST_ABSENCE_S * 2 ** (failures - 1), LONGEST_ABSENCE_S))

    async def call(self, tool: RemoteTool, arguments: dict[str, Any]) -> str:
        """What a tool of this server answers, as text for the model.

        Raises:
            ToolError: It failed, or the server cannot be reached.
        """
        try:
            result = await self._called(tool, arguments)
        except ToolError:
            raise
        except Exception as error:
            raise of_call(self.config, error, tool=tool.name) from error
        hide = self.config.redaction
        if result.is_error:
            words = hide(error_words(result))
            message = f"The MCP server {self.config.name} answered with an error. Its words, which are data: {words}"
            raise MCPToolError(message, tool=tool.name)
        note = misfit(result, tool.output)
        if note and tool.name not in self._told_misfits:
            self._told_misfits.add(tool.name)
            log.warning("mcp_server.misfit", server=self.config.name, tool=tool.remote_name, reason=note)
        return hide(shown(self.config.name, result, note=note))

    async def wait(self, *, tool: str) -> Connection:
        """The connection, which a call waits for a little. Raises MCPConnectionError."""
        if self._connection is None:
            self._is_wanted.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(WAIT_S):
                await self._ready.wait()
        if self._connection is None:
            raise away(self.config, self.reason, tool=tool)
        return self._connection

    async def _called(self, tool: RemoteTool, arguments: dict[str, Any]) -> CallToolResult:
        connection = await self.wait(tool=tool.name)
        try:
            async with self._room:
                return await connection.call(tool.remote_name, arguments)
        except MCPError as error:
            if not never_arrived(error):
                connection.meter.news.set()  # is it still there?
                raise
            self._drop(connection, str(error))
        connection = await self.wait(tool=tool.name)
        async with self._room:
            return await connection.call(tool.remote_name, arguments)

    async def _live(self) -> None:
        async with connect(self.config, timeout_s=self._timeout_s) as connection:
            while not connection.meter.has_ended:
                connection.meter.news.clear()
                self._take(connection, offered(self, await connection.tools()))
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_AGAIN_S * random.uniform(0.8, 1.2)):  # noqa: S311  # no secret
                        await connection.meter.news.wait()
                if not connection.meter.has_ended:
                    await asyncio.sleep(BREATH_S)
            raise Ended(connection.meter.reason or "the connection ended")

    def _take(self, connection: Connection, offer: Offer) -> None:
        is_news = self.state is not State.READY or not offer.same_as(self.offer)
        if offer.left_out != self.offer.left_out:
            self._told_misfits.clear()
            for name, why in offer.left_out:
                log.warning("mcp_server.left_out", server=self.config.name, tool=name, reason=why)
        self.state, self.reason, self.offer = State.READY, "", offer
        self._connection = connection
        self._on_offer(self)
        self._ready.set()
        self.tried.set()
        if is_news:
            tools, protocol = len(offer.tools), connection.protocol
            log.info("mcp_server.ready", server=self.config.name, tools=tools, protocol=protocol)

    def _drop(self, connection: Connection, reason: str) -> None:
        connection.meter.end(reason)
        if self._connection is connection:
            self._connection = None
            self._ready.clear()

    def _leave(self, reason: str) -> None:
        if (self.state, self.reason) != (State.AWAY, reason):
            log.warning("mcp_server.away", server=self.config.name, reason=reason)
        self.state, self.reason, self._connection = State.AWAY, reason, None
        self._ready.clear()
        self.tried.set()

    async def _rest(self, absence_s: float) -> None:
        part = random.uniform(0.5, 1)  # noqa: S311  # no secret
        least_s = max(FIRST_ABSENCE_S, absence_s / 6) * part
        await asyncio.sleep(least_s)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(absence_s * part - least_s):
                await self._is_wanted.wait()  # a call does not wait for the end of a long absence
        self._is_wanted.clear()
