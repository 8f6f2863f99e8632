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
from chiron_workers.mcp_client.transport.flood_guard import Ended, Meter, NoInput, metered
from chiron_workers.mcp_client.transport.http import http_transport
from chiron_workers.mcp_client.transport.stdio import stdio_transport

log = structlog.get_logger()

OPEN_S = 60.0
LIST_S = 30.0
PAGES_MAX = 50
TOOLS_MAX = 200
LIST_BYTES_MAX = 2_000_000
ROUNDS_MAX = 10  # of a call that the server answers with a state to come back with
STATE_S = 0.2
CALL_S = 3_600.0  # the call itself has a limit of its own; this one only ends what that missed
LISTEN_AGAIN_S = 30.0
CALL_RESULT: TypeAdapter[types.CallToolResult | types.InputRequiredResult] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)


@dataclass(frozen=True, slots=True)
class Listing:
    """The tools that a server has now, as it describes them, and (name, reason) of what else is in its list."""

    tools: tuple[types.Tool, ...]
    left_out: tuple[tuple[str, str], ...] = ()


@asynccontextmanager
async def connect(
    config: ServerConfig, *, timeout_s: float, open_s: float | None = None
) -> AsyncIterator["Connection"]:
    """A connection to a server, in the newest version of the protocol that both sides speak.

    Args:
        timeout_s: Seconds a call of this server may take.
        open_s: Seconds that connecting may take. None: a minute, since a command may have to be downloaded first.

    Raises:
        Exception: Whatever goes wrong; `said` words it.
    """
    _hush()
    meter = Meter()
    transport = (
        http_transport(config, meter, timeout_s=timeout_s) if config.url else stdio_transport(config, meter)
    )

    async def heed(message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            meter.news.set()

    client = Client(
        metered(transport, meter),
        mode="auto",
        cache=None,
        message_handler=heed,
        read_timeout_seconds=LIST_S,
        client_info=types.Implementation(name="chiron", version=version("chiron")),
    )
    try:
        async with contextlib.AsyncExitStack() as stack:
            async with asyncio.timeout(open_s or OPEN_S):
                await stack.enter_async_context(client)
            connection = Connection(client, meter)
            listening = asyncio.create_task(connection.listen())
            try:
                yield connection
            finally:
                listening.cancel()
                await asyncio.gather(listening, return_exceptions=True)
    except Exception as error:
        if meter.reason:  # which says more than that the connection is closed
            raise Ended(meter.reason) from error
        raise


def _hush() -> None:
    for name in ("client", "mcp.client"):  # they log with tracebacks what we say once, and what servers send
        logging.getLogger(name).setLevel(logging.CRITICAL)


class Connection:
    """One connection to one server; `meter.news` is set when its list of tools has changed, or when it has ended."""

    def __init__(self, client: Client, meter: Meter) -> None:
        self._client = client
        self.meter = meter
        meter.protocol = client.protocol_version

    @property
    def protocol(self) -> str:
        """The version of the protocol that is spoken."""
        return self._client.protocol_version

    async def tools(self) -> Listing:
        """The server's tools, as many as may be: all pages, up to a number and a size."""
        found: list[types.Tool] = []
        self.meter.left_out.clear()
        async with asyncio.timeout(LIST_S):
            cut = await self._read_list(found)
        others = [("(others)", cut)] if cut else []
        return Listing(tuple(found), (*self.meter.left_out, *others))

    async def _read_list(self, found: list[types.Tool]) -> str:
        size, cursor = 0, None
        for _ in range(PAGES_MAX):
            page = await self._client.list_tools(cursor=cursor)
            for tool in page.tools:
                size += len(json.dumps(tool.input_schema)) + len(tool.description or "")
                if len(found) == TOOLS_MAX:
                    return f"it has more than {TOOLS_MAX} tools"
                if size > LIST_BYTES_MAX:
                    return f"its list has more than {LIST_BYTES_MAX:,} bytes"
                found.append(tool)
            cursor = page.next_cursor
            if not cursor:
                return ""
        return f"its list has more than {PAGES_MAX} pages"

    async def call(self, tool: str, arguments: dict[str, Any]) -> types.CallToolResult:
        """What the server answers to a call; nothing is repeated.

        Raises:
            MCPError: It answered with an error of the protocol, or the connection ended.
            NoInput: It wants something first that cannot be given.
            pydantic.ValidationError: Its answer is none.
        """
        try:
            return await self._call(tool, arguments)
        except MCPError as error:
            if error.code != types.HEADER_MISMATCH:
                raise
        await self.tools()  # it refused since the schema is another by now
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
            answers = _declined(result.input_requests or {})
            state = result.request_state
            params = params.model_copy(update={"input_responses": answers, "request_state": state})
            await asyncio.sleep(STATE_S)
        raise NoInput("it asks again and again instead of answering")

    async def listen(self) -> None:
        """Heed what a server of the stateless protocol says of changes; older ones say so by themselves."""
        tools = self._client.server_capabilities.tools
        if self.protocol not in MODERN_PROTOCOL_VERSIONS or tools is None or not tools.list_changed:
            return
        while True:
            with contextlib.suppress(MCPError, SubscriptionLost, ListenNotSupportedError, TimeoutError):
                async with self._client.listen(tools_list_changed=True) as events:
                    async for _ in events:
                        self.meter.news.set()
            await asyncio.sleep(LISTEN_AGAIN_S)
            self.meter.news.set()  # something may have been missed


def _declined(asked: types.InputRequests) -> types.InputResponses | None:
    """The answers of somebody who is not there: a question may be declined, anything else cannot be answered."""
    if not all(isinstance(request, types.ElicitRequest) for request in asked.values()):
        raise NoInput("it wants more than a call has, such as a model's words")
    return {key: types.ElicitResult(action="decline") for key in asked} or None
