import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import mcp_types as types
import structlog
from mcp import Client
from mcp.client.session import IncomingMessage
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter

from chiron_workers.mcp_client.config.configuration import ServerConfig
from chiron_workers.mcp_client.transport.flood_guard import (
    ConnectionEnded,
    FloodGuard,
    InputUnavailable,
    guarded_transport,
)
from chiron_workers.mcp_client.transport.http import http_transport
from chiron_workers.mcp_client.transport.stdio import stdio_transport

log = structlog.get_logger()

OPEN_S = 60.0
LIST_S = 30.0
PAGES_MAX = 50
TOOLS_MAX = 200
LIST_BYTES_MAX = 2_000_000
ROUNDS_MAX = 10  # of a call that the server answers with a request for input
ROUND_PAUSE_S = 0.2
CALL_S = 3_600.0  # calls have a limit of their own; this one ends what that missed
LISTEN_RETRY_S = 30.0
CALL_RESULT: TypeAdapter[types.CallToolResult | types.InputRequiredResult] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)


@dataclass(frozen=True, slots=True)
class Listing:
    """The tools of a server as it describes them, and (name, reason) of list entries that are not usable."""

    tools: tuple[types.Tool, ...]
    rejections: tuple[tuple[str, str], ...] = ()


@asynccontextmanager
async def connect(
    config: ServerConfig, *, timeout_s: float, open_s: float | None = None
) -> AsyncIterator["Connection"]:
    """A connection to a server, in the newest version of the protocol that both sides speak.

    Args:
        timeout_s: Seconds a call of this server may take.
        open_s: Seconds that connecting may take. None: a minute, since a command may have to be downloaded first.

    Raises:
        Exception: Whatever goes wrong; `failure_reason` words it.
    """
    # These loggers print tracebacks of failures that we log in one line, and texts that servers send.
    for name in ("client", "mcp.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    guard = FloodGuard()
    transport = (
        http_transport(config, guard, timeout_s=timeout_s) if config.url else stdio_transport(config, guard)
    )

    async def handle_message(message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            guard.changed.set()

    client = Client(
        guarded_transport(transport, guard),
        mode="auto",
        cache=None,
        message_handler=handle_message,
        read_timeout_seconds=LIST_S,
        client_info=types.Implementation(name="chiron", version=version("chiron")),
    )
    try:
        async with contextlib.AsyncExitStack() as stack:
            async with asyncio.timeout(open_s or OPEN_S):
                await stack.enter_async_context(client)
            connection = Connection(client, guard)
            listener = asyncio.create_task(connection.listen())
            try:
                yield connection
            finally:
                listener.cancel()
                await asyncio.gather(listener, return_exceptions=True)
    except Exception as error:
        if guard.reason:  # it says more than that the connection is closed
            raise ConnectionEnded(guard.reason) from error
        raise


class Connection:
    """One connection to one server; `guard.changed` is set when its list of tools has changed or it has ended."""

    def __init__(self, client: Client, guard: FloodGuard) -> None:
        self._client = client
        self.guard = guard
        guard.protocol = client.protocol_version

    @property
    def protocol(self) -> str:
        """The version of the protocol that is spoken."""
        return self._client.protocol_version

    async def list_tools(self) -> Listing:
        """The server's tools: all pages, up to TOOLS_MAX tools and LIST_BYTES_MAX bytes."""
        tools: list[types.Tool] = []
        self.guard.rejections.clear()
        async with asyncio.timeout(LIST_S):
            excess = await self._read_pages(tools)
        rejections = [*self.guard.rejections, *([("(others)", excess)] if excess else [])]
        return Listing(tuple(tools), tuple(rejections))

    async def _read_pages(self, tools: list[types.Tool]) -> str:
        """Append the tools of all pages; return why some are missing, or an empty text."""
        size, cursor = 0, None
        for _ in range(PAGES_MAX):
            page = await self._client.list_tools(cursor=cursor)
            for tool in page.tools:
                size += len(json.dumps(tool.input_schema)) + len(tool.description or "")
                if len(tools) == TOOLS_MAX:
                    return f"it has more than {TOOLS_MAX} tools"
                if size > LIST_BYTES_MAX:
                    return f"its list has more than {LIST_BYTES_MAX:,} bytes"
                tools.append(tool)
            cursor = page.next_cursor
            if not cursor:
                return ""
        return f"its list has more than {PAGES_MAX} pages"

    async def call(self, tool: str, arguments: dict[str, Any]) -> types.CallToolResult:
        """What the server answers to a call; nothing is repeated.

        Raises:
            MCPError: It answered with an error of the protocol, or the connection ended.
            InputUnavailable: It asks for input that cannot be given.
            pydantic.ValidationError: Its answer does not fit the protocol.
        """
        try:
            return await self._call(tool, arguments)
        except MCPError as error:
            if error.code != types.HEADER_MISMATCH:
                raise
        await self.list_tools()  # the schema has changed, and the headers of a call follow from it
        return await self._call(tool, arguments)

    async def _call(self, tool: str, arguments: dict[str, Any]) -> types.CallToolResult:
        # The session's own `call_tool` checks results against the server's schema as it is, patterns and all.
        params = types.CallToolRequestParams(name=tool, arguments=arguments)
        for _ in range(ROUNDS_MAX):
            result = await self._client.session.send_request(
                types.CallToolRequest(params=params), CALL_RESULT, request_read_timeout_seconds=CALL_S
            )
            if isinstance(result, types.CallToolResult):
                return result
            answers = _decline(result.input_requests or {})
            state = result.request_state
            params = params.model_copy(update={"input_responses": answers, "request_state": state})
            await asyncio.sleep(ROUND_PAUSE_S)
        raise InputUnavailable("it asks again and again instead of answering")

    async def listen(self) -> None:
        """Subscribe to changes of the tool list, which a server of the stateless protocol announces on request only."""
        tools = self._client.server_capabilities.tools
        if self.protocol not in MODERN_PROTOCOL_VERSIONS or tools is None or not tools.list_changed:
            return
        while True:
            with contextlib.suppress(MCPError, SubscriptionLost, ListenNotSupportedError, TimeoutError):
                async with self._client.listen(tools_list_changed=True) as events:
                    async for _ in events:
                        self.guard.changed.set()
            await asyncio.sleep(LISTEN_RETRY_S)
            self.guard.changed.set()  # a change may have been missed


def _decline(requests: types.InputRequests) -> types.InputResponses | None:
    """Decline all questions, since no person is there. Raises InputUnavailable for any other request."""
    if not all(isinstance(request, types.ElicitRequest) for request in requests.values()):
        raise InputUnavailable("it wants more than a call has, such as a model's words")
    return {key: types.ElicitResult(action="decline") for key in requests} or None
