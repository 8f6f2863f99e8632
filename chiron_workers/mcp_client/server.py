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
from chiron_workers.mcp_client.tools.results import error_text, render_result, schema_mismatch
from chiron_workers.mcp_client.tools.tool import RemoteTool
from chiron_workers.mcp_client.tools.tool_list import ToolList, build_tool_list
from chiron_workers.mcp_client.transport.connection import Connection, connect
from chiron_workers.mcp_client.transport.failures import (
    call_error,
    failure_reason,
    is_undelivered,
    unreachable_error,
)
from chiron_workers.mcp_client.transport.flood_guard import ConnectionEnded
from chiron_workers.quotation import quoted

log = structlog.get_logger()

BACKOFF_MIN_S = 1.0
BACKOFF_MAX_S = 60.0
STABLE_AFTER_S = 30.0  # a connection that lived so long resets the backoff
RELIST_S = 60.0  # finds changes that were not announced, and servers that went away silently
RELIST_MIN_S = 1.0  # between two looks at a list that changes all the time
CALL_WAIT_S = 5.0  # that a call waits for a server that is away
CALLS_MAX = 50  # at once


class State(StrEnum):
    """Whether a server can be called."""

    CONNECTING = "connecting"
    READY = "ready"
    AWAY = "away"


class Server:
    """One MCP server, supervised alone: connected to again and again, whatever it does.

    `state`, `reason` and `tool_list` are its status; `on_tool_list` is called whenever its tools have changed.
    """

    def __init__(
        self, config: ServerConfig, *, timeout_s: float, on_tool_list: Callable[["Server"], None]
    ) -> None:
        self.config = config
        self.state = State.CONNECTING
        self.reason = ""
        self.tool_list = ToolList()
        self.first_attempt = asyncio.Event()  # set when it has succeeded or failed
        self._timeout_s = config.timeout_s or timeout_s
        self._on_tool_list = on_tool_list
        self._connection: Connection | None = None
        self._ready = asyncio.Event()
        self._call_is_waiting = asyncio.Event()
        self._call_slots = asyncio.Semaphore(CALLS_MAX)
        self._logged_mismatches: set[str] = set()

    async def supervise(self) -> None:
        """Connect, and again after each end. Returns never; cancelling it ends the connection and the process."""
        failures = 0
        while True:
            started_at = time.monotonic()
            try:
                await self._run_connection()
            except Exception as error:  # a fault of one server must not end the others
                # The library may raise an error of its own in place of a cancellation that meets it while it connects.
                if (task := asyncio.current_task()) is not None and task.cancelling():
                    raise asyncio.CancelledError from error
                self._mark_away(self.config.redaction(failure_reason(error)))
            failures = 1 if time.monotonic() - started_at > STABLE_AFTER_S else failures + 1
            await self._back_off(min(BACKOFF_MIN_S * 2 ** (failures - 1), BACKOFF_MAX_S))

    async def call(self, tool: RemoteTool, arguments: dict[str, Any]) -> str:
        """What a tool of this server answers, as text for the model.

        Raises:
            ToolError: It failed, or the server cannot be reached.
        """
        try:
            result = await self._send_call(tool, arguments)
        except ToolError:
            raise
        except Exception as error:
            raise call_error(self.config, error, tool=tool.name) from error
        redact = self.config.redaction
        if result.is_error:
            words = quoted("error", redact(error_text(result)))
            message = f"The MCP server {self.config.name} answered with an error. Its words, which are data:\n{words}"
            raise MCPToolError(message, tool=tool.name)
        note = schema_mismatch(result, tool.output_validator)
        if note and tool.name not in self._logged_mismatches:
            self._logged_mismatches.add(tool.name)
            log.warning("mcp_server.misfit", server=self.config.name, tool=tool.remote_name, reason=note)
        return redact(render_result(self.config.name, result, note=note))

    async def wait_for_connection(self, *, tool: str) -> Connection:
        """The connection, for which a call waits a few seconds. Raises MCPConnectionError."""
        if self._connection is None:
            self._call_is_waiting.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CALL_WAIT_S):
                await self._ready.wait()
        if self._connection is None:
            raise unreachable_error(self.config, self.reason, tool=tool)
        return self._connection

    async def _send_call(self, tool: RemoteTool, arguments: dict[str, Any]) -> CallToolResult:
        connection = await self.wait_for_connection(tool=tool.name)
        try:
            async with self._call_slots:
                return await connection.call(tool.remote_name, arguments)
        except MCPError as error:
            if not is_undelivered(error):
                connection.guard.changed.set()  # listing the tools shows whether the server is still there
                raise
            self._drop(connection, str(error))
        connection = await self.wait_for_connection(tool=tool.name)
        async with self._call_slots:
            return await connection.call(tool.remote_name, arguments)

    async def _run_connection(self) -> None:
        async with connect(self.config, timeout_s=self._timeout_s) as connection:
            guard = connection.guard
            while not guard.has_ended:
                guard.changed.clear()
                tool_list = build_tool_list(await connection.list_tools(), self.config, self.call)
                self._mark_ready(connection, tool_list)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(RELIST_S * random.uniform(0.8, 1.2)):  # noqa: S311  # no secret
                        await guard.changed.wait()
                if not guard.has_ended:
                    await asyncio.sleep(RELIST_MIN_S)
            raise ConnectionEnded(guard.reason or "the connection ended")

    def _mark_ready(self, connection: Connection, tool_list: ToolList) -> None:
        is_change = self.state is not State.READY or not tool_list.is_same_as(self.tool_list)
        if tool_list.rejections != self.tool_list.rejections:
            self._logged_mismatches.clear()
            for name, reason in tool_list.rejections:
                log.warning("mcp_server.left_out", server=self.config.name, tool=name, reason=reason)
        self.state, self.reason, self.tool_list = State.READY, "", tool_list
        self._connection = connection
        self._on_tool_list(self)
        self._ready.set()
        self.first_attempt.set()
        if is_change:
            tools, protocol = len(tool_list.tools), connection.protocol
            log.info("mcp_server.ready", server=self.config.name, tools=tools, protocol=protocol)

    def _drop(self, connection: Connection, reason: str) -> None:
        connection.guard.end(reason)
        if self._connection is connection:
            self._connection = None
            self._ready.clear()

    def _mark_away(self, reason: str) -> None:
        if (self.state, self.reason) != (State.AWAY, reason):
            log.warning("mcp_server.away", server=self.config.name, reason=reason)
        self.state, self.reason, self._connection = State.AWAY, reason, None
        self._ready.clear()
        self.first_attempt.set()

    async def _back_off(self, delay_s: float) -> None:
        jitter = random.uniform(0.5, 1)  # noqa: S311  # no secret
        delay_min_s = max(BACKOFF_MIN_S, delay_s / 6) * jitter
        await asyncio.sleep(delay_min_s)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay_s * jitter - delay_min_s):
                await self._call_is_waiting.wait()  # a call shortens a long backoff
        self._call_is_waiting.clear()
